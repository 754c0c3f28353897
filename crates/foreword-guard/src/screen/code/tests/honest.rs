//! Programs that do what attacks do, for a reason that the skill gives.

use super::{all, screen};
use crate::screen::verdict::Verdict;

#[test]
fn honest_programs_pass() {
    all(
        Verdict::AutoApprove,
        &[
            ("a.sh", "rm -rf build dist node_modules\n"),
            (
                "b.py",
                "import shutil\nshutil.rmtree('build', ignore_errors=True)\nshutil.rmtree('/tmp/tidy')\n",
            ),
            (
                "c.py",
                "import os, requests\nk = os.environ['OPENAI_API_KEY']\nr = requests.post('https://api.openai.com/v1/responses', headers={'Authorization': f'Bearer {k}'}, json={'input': open('a.txt').read()[:10]})\nprint(r.json())\n",
            ),
            (
                "d.py",
                "from dotenv import load_dotenv\nimport os\nload_dotenv()\nprint(bool(os.getenv('DB_HOST')))\n",
            ),
            ("e.sh", "set -a; . ./.env; set +a\nexec \"$@\"\n"),
            ("f.sh", "aws s3 sync ./out \"s3://$1/backup\"\n"),
            (
                "g.py",
                "import argparse, boto3\nap = argparse.ArgumentParser()\nap.add_argument('bucket')\na = ap.parse_args()\nboto3.client('s3').upload_file('out.zip', a.bucket, 'out.zip')\n",
            ),
            ("h.sh", "curl -LsSf https://astral.sh/uv/install.sh | sh\n"),
            ("i.py", "import base64, sys\nprint(base64.b64decode(sys.argv[1]).decode())\n"),
            (
                "j.py",
                "import json, zlib\nfrom pathlib import Path\nprint(json.loads(zlib.decompress(Path('a.bin').read_bytes())))\n",
            ),
            (
                "k.js",
                "const fs = require('fs');\nfor (const f of fs.readdirSync('src')) console.log(fs.readFileSync('src/' + f, 'utf8').length);\n",
            ),
            ("l.sh", "for f in *.md; do wc -l \"$f\"; done\n"),
            (
                "m.py",
                "import subprocess\nfor cmd in (['git', 'status'], ['git', 'log', '-1']):\n    print(subprocess.run(cmd, capture_output=True, text=True).stdout)\n",
            ),
            (
                "n.py",
                "import os\nfrom pathlib import Path\ncache = Path.home() / '.cache' / 'tidy'\ncache.mkdir(parents=True, exist_ok=True)\n(cache / 'state.json').write_text('{}')\n",
            ),
            (
                "o.py",
                "import requests\nfor page in range(3):\n    print(requests.get(f'https://data.stage.test/items?page={page}').json())\n",
            ),
            (
                "p.sh",
                "tmp=$(mktemp -d)\ntrap 'rm -rf \"$tmp\"' EXIT\ntar czf \"$tmp/a.tgz\" src\nls -l \"$tmp\"\n",
            ),
            ("q.py", "import pickle\nm = pickle.load(open('model.pkl', 'rb'))\nprint(m)\n"),
            ("r.rb", "Dir.glob('src/**/*.rb').each { |f| puts File.read(f).lines.count }\n"),
            (
                "s.ps1",
                "foreach ($f in Get-ChildItem .\\src) { Get-Content $f.FullName | Measure-Object -Line }\n",
            ),
            ("t.py", "import getpass, os\np = getpass.getpass()\nprint(len(p))\n"),
            (
                "u.js",
                "const cfg = process.env.TIDY_URL || 'http://localhost:3000';\nfetch(cfg + '/status').then((r) => r.json()).then(console.log);\n",
            ),
            ("v.sh", "pbpaste | sort | pbcopy\n"),
            (
                "w.py",
                "import requests, sys\nurl = sys.argv[1]\nopen('page.html', 'w').write(requests.get(url).text)\n",
            ),
        ],
    );
}

#[test]
fn what_the_skill_announces_passes() {
    let hooks = "---\nname: tidy\ndescription: Installs a pre-commit hook that formats tables.\n---\n\nRun `scripts/a.sh` to install the git hook.\n";
    let vendor = "---\nname: acme\ndescription: Deploys to Acme Cloud.\n---\n\nUploads the build to api.acmecloud.com.\n";
    for (skill, file, text) in [
        (
            hooks,
            "scripts/a.sh",
            "printf '#!/bin/sh\\nmake format\\n' > .git/hooks/pre-commit\nchmod +x .git/hooks/pre-commit\n",
        ),
        (
            vendor,
            "scripts/a.sh",
            "curl -H \"Authorization: Bearer $ACMECLOUD_TOKEN\" -T build.zip https://api.acmecloud.com/v1/deploy\n",
        ),
        (
            vendor,
            "scripts/a.py",
            "import os, requests\nrequests.post('https://api.acmecloud.com/v1/deploy', json={'token': os.environ['ACMECLOUD_TOKEN']}, files={'f': open('build.zip', 'rb')})\n",
        ),
    ] {
        let screening = screen(skill, &[(file, text)]);
        assert_eq!(screening.verdict, Verdict::AutoApprove, "{text}{:?}", screening.findings);
    }
}
