"""Gathers the texts the injection head is fitted on.

    injection_texts.py fetch TEXT          packages with harmless text in many languages, by name
    injection_texts.py gather DATA TEXT     all rows as JSONL on standard output: text, label, lang, source, group, span

DATA holds `injection/{train.jsonl,dev-indirect.jsonl.xz}` and `retrieval/*/{queries,tools}.jsonl`. Only the former two
have attacks; everything else is harmless, and there because a head that has seen harmless text of few kinds takes every
new kind, and every language it knows from attacks alone, for an attack. The documents of this machine (manuals, READMEs,
changelogs, HTML pages) are added by package: half of the packages to fit on, a quarter to set the bounds (group `doc_b`),
a quarter to measure (`doc_c`). The committed examples are added as the source `own`, what the scripts beside this one
write as `own_…`, and the prose that ships with the program as `own_files`. Skills of other people and `injection_play.py`
are only measured.
"""

import glob
import gzip
import hashlib
import html
import json
import lzma
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import yaml

import injection_direct
import injection_languages
import injection_play
import injection_written

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SHIPPED = ["examples/**/*.md", "examples/**/*.toml", "crates/*/src/**/*.md"]
SHORT, AUTHORS = HERE / "injection_short.jsonl", HERE / "injection_authors.jsonl"
EXAMPLES = HERE / "../../crates/foreword-guard/src/scan/examples.jsonl"
LANGUAGES = ("ar de es fr it ja ko nl pl pt pt_BR ru th tr zh_CN zh_TW da sv cs fi hu uk vi id hi bn ro el en").split()
DEBIAN = ["gnome-user-docs", "fortunes", "fortunes-br", "fortunes-de", "fortunes-es", "fortunes-it", "fortunes-pl",
          "fortunes-ru"]
PIP = ["lm-eval==0.4.13", "deepeval==4.3.1"]
# agent frameworks: their prompts and docstrings are orders to models and words about them
FRAMEWORKS = ["langchain-classic==1.0.8", "llama-index-core==0.14.25", "crewai==1.15.30", "ragas==0.4.3",
              "smolagents==1.26.0", "haystack-ai==3.4.1"]
# as in injection_head.py: prompts, rules and skills of agents
PROMPTS = ("awesome_copilot", "awesome_cursorrules", "claude_skills_ar", "gh_aw_workflows", "wshobson_agents")
RULE = re.compile(r"\b(you are|your role|never|always|must|do not|don't|only|avoid|refuse|ignore)\b", re.I)
# as in injection_head.py: sources that are left out together
TWINS = {"dvmcp": "mcp", "mastermcp": "mcp", "atlas_poc": "mcp", "agentshield_bench": "mcp", "skillscan_corpus": "mcp",
         "greshake": "email_agent", "promptshield": "email_agent"}
# documents as they lie on a machine: folder, whose parts below it are packages
ROOTS = ["/usr/share/doc", "/usr/share/vim", "/usr/share/perl", "/usr/lib/node_modules/npm", "/usr/share/man/man1", "/usr/share/man/man5",
         "/usr/share/man/man8", "~/.cargo/registry/src/*", "~/.pyenv/versions/3.11.*/lib/python3.11/site-packages",
         "~/.rustup/toolchains/stable-*/share/doc/rust/html", "/usr/lib/google-cloud-sdk"]
NAMES = re.compile(r"(readme|change|news|license|copying|copyright|notice|contribut|history|authors|security|faq|install)"
                   r"|\.(md|rst|html?|txt|[1-8])$", re.I)
LONGEST = 12_000  # of a document, when fitting
MOST = {"doc_a": 1300, "doc_b": 900, "doc_c": 1500}  # documents of this machine, of each part
# marks that the collections of jailbreaks put around each text: they tell the source, not the attack
SCAFFOLD = re.compile(r"\{%-? ?(raw|endraw) ?-?%\}|\{\{ ?prompt ?\}\}|\{generator\.name\}")


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Passes over the tags of the harness's own."""


Loader.add_multi_constructor("!", lambda loader, suffix, node: None)


def fetch(root):
    root = Path(root).resolve()
    for folder in ("apt/state/lists/partial", "apt/cache/archives/partial", "deb", "pip"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    apt = ["-o", f"Dir::State={root}/apt/state", "-o", "Dir::State::status=/var/lib/dpkg/status",
           "-o", f"Dir::Cache={root}/apt/cache", "-o", "Acquire::Languages=" + ",".join(LANGUAGES)]
    subprocess.run(["apt-get", *apt, "update"], check=True)
    subprocess.run(["apt-get", *apt, "download", *DEBIAN], check=True, cwd=root)
    subprocess.run([sys.executable, "-m", "pip", "download", "--no-deps", *PIP, *FRAMEWORKS], check=True, cwd=root)
    for path in root.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", path, root / "deb"], check=True)
    for path in root.glob("*.whl"):
        subprocess.run(["unzip", "-qo", path, "-d", root / "pip"], check=True)


def lines(path):
    return [json.loads(line) for line in open(path, encoding="utf-8")]


def documents(rng):
    """Documents of this machine as (package, kind, text), a few of each package and kind."""
    found = {}
    for root in ROOTS:
        for base in sorted(glob.glob(os.path.expanduser(root))):
            paths = []
            for folder, folders, names in os.walk(base):
                folders.sort()
                paths += [os.path.join(folder, n) for n in sorted(names) if NAMES.search(n.removesuffix(".gz"))]
                if len(paths) > 60_000:
                    break
            for path in paths:
                package = "/".join(os.path.relpath(path, base).split("/")[:1 if "/doc" in base or "registry" in base else 2])
                kind = "doc_html" if path.endswith((".html", ".htm")) else "doc_text"
                found.setdefault((package, kind), []).append(path)
    for (package, kind), paths in sorted(found.items()):
        most = 40 if kind == "doc_html" else 2
        for path in rng.sample(paths, min(most, len(paths))):
            try:
                raw = gzip.open(path).read() if path.endswith(".gz") else open(path, "rb").read()
                content = raw.decode("utf-8")
            except (OSError, UnicodeDecodeError, EOFError):
                continue
            if 200 <= len(content):
                yield package, kind, content


def indirect(data):
    """Attacks inside documents, their place in bytes, and whose payload a mixed one carries."""
    rows = [json.loads(line) for line in lzma.open(f"{data}/injection/dev-indirect.jsonl.xz", "rt", encoding="utf-8")]
    payloads = {}
    for row in rows:
        if row["label"] == 1 and row["source"] != "mix_dev":
            span = row.get("span")
            payload = row["text"][span[0] : span[1]] if span else row["text"] if row["form"] == "bare" else ""
            if len(payload) > 30:
                payloads[payload.strip()[-60:]] = row["source"]
    for row in rows:
        text, span = row["text"], row.get("span")
        if row["source"] == "mix_dev":
            payload = text[span[0] : span[1]]
            source = next((s for p, s in payloads.items() if p in payload), "mix_dev")
            row["group"] = TWINS.get(source, source)
        if len(text) > LONGEST:  # around the attack, if there is one
            start = max(0, min(len(text) - LONGEST, (span[0] - LONGEST // 2) if span else 0))
            text, span = text[start : start + LONGEST], span and [span[0] - start, span[1] - start]
        if span:
            span = [len(text[: span[0]].encode()), len(text[: span[1]].encode())]
        yield {k: v for k, v in row.items() if v is not None} | {"text": text} | ({"span": span} if span else {})


def foreign(rows):
    """Documents by language to plant orders in: help pages, taken out of the harmless texts."""
    found = {}
    for row in [r for r in rows if r["source"] == "d_help"]:
        lang = row["lang"].split("_")[0]
        if lang in injection_languages.LANGUAGES and len(found.setdefault(lang, [])) < 20:
            found[lang].append(row["text"])
            rows.remove(row)
    return {lang: ["\n\n".join(texts[i : i + n]) for n in (3, 8) for i in range(0, len(texts), n)] for lang, texts in found.items()}


def shipped():
    """Prose that ships with the program: files that `init` writes, prompts, capability packs. Whole and by section, in groups
    that are measured with a head that has not seen them: each example workspace, each crate."""
    for path in sorted(p for pattern in SHIPPED for p in ROOT.glob(pattern)):
        content = path.read_text(encoding="utf-8")
        at = r"\n(?=\[)" if path.suffix == ".toml" else r"\n(?=#+ )"
        sections = [s.strip() for s in re.split(at, content)]
        group = "own_files_" + path.relative_to(ROOT).parts[1]
        for piece in sorted({content.strip(), *sections}):
            if len(piece) >= 20:
                yield {"text": piece, "label": 0, "lang": "en", "source": "own_files", "group": group}


def sections(rows):
    """Lists of rules as people write them: sections of prompts, rules and skills of agents, left out with their collection."""
    rng, found = random.Random(13), {}
    for row in rows:
        if row["source"] in PROMPTS and row["label"] == 0:
            for piece in re.split(r"\n(?=#+ )", row["text"]):
                piece = piece.strip()
                if 80 <= len(piece) <= 1500 and len(RULE.findall(piece)) >= 3:
                    found.setdefault(row["source"], set()).add(piece)
    for source, pieces in sorted(found.items()):
        for piece in rng.sample(sorted(pieces), min(200, len(pieces))):
            yield {"text": piece, "label": 0, "lang": "en", "source": f"l_{source}", "group": source}


def gather(data, text):
    rng = random.Random(7)
    rows = []

    def add(texts, lang, source, most):
        texts = sorted({t for t in texts if 20 <= len(t) <= 1500})
        rng.shuffle(texts)
        rows.extend({"text": t, "label": 0, "lang": lang, "source": source} for t in texts[:most])

    for row in lines(f"{data}/injection/train.jsonl"):
        rows.append(row | {"text": SCAFFOLD.sub(" ", row["text"])})

    for folder in sorted(glob.glob(f"{data}/retrieval/*")):
        name = os.path.basename(folder)
        if name == "xsid":  # its queries are a source of the training data already
            continue
        by_lang = {}
        for query in lines(f"{folder}/queries.jsonl"):
            by_lang.setdefault(query.get("lang", "en"), []).append(query["text"])
        for lang, texts in sorted(by_lang.items()):
            add(texts, lang, "q_" + name, max(8, 250 // len(by_lang)))
        add([f"{t['name']}: {t['description']}" for t in lines(f"{folder}/tools.jsonl")], "en", "t_" + name, 100)

    # descriptions of Debian packages, in translation
    for path in sorted(glob.glob(f"{text}/apt/state/lists/*_main_i18n_Translation-*")):
        if "bookworm_main" not in path:
            continue
        lang = path.split("Translation-")[1].split(".")[0].replace("%5f", "_")
        raw = subprocess.run(["/usr/lib/apt/apt-helper", "cat-file", path], capture_output=True, check=True).stdout
        paragraphs = []
        for entry in raw.decode("utf-8", "replace").split("\n\n"):
            found = re.search(r"^Description-\w+: (.*(?:\n .*)*)", entry, re.M)
            if found:
                parts = re.split(r"\n \.\n", found.group(1))
                paragraphs += [" ".join(part.split()) for part in parts[1:] or parts]
        add(paragraphs, lang, "d_desc", 200 if lang == "en" else 60)

    # help pages: orders to a reader, in translation
    for folder in sorted(glob.glob(f"{text}/deb/usr/share/help/*")):
        paragraphs = []
        for path in sorted(glob.glob(f"{folder}/**/*.page", recursive=True)):
            for found in re.findall(r"<p>(.*?)</p>", open(path, encoding="utf-8").read(), re.S):
                paragraphs.append(html.unescape(" ".join(re.sub(r"<[^>]+>", "", found).split())))
        joined = [" ".join(paragraphs[i : i + rng.choice([1, 1, 2, 3])]) for i in range(0, len(paragraphs), 2)]
        lang = os.path.basename(folder)
        add(joined, "en" if lang == "C" else lang, "d_help", 200 if lang == "C" else 40)

    # sayings, jokes, quotations
    for path in sorted(glob.glob(f"{text}/deb/usr/share/games/fortunes/**/*", recursive=True)):
        if os.path.isdir(path) or path.endswith((".dat", ".u8")):
            continue
        parts = path.split("/fortunes/")[1].split("/")
        lang = "pt" if parts[0] == "brasil" else parts[0] if len(parts) > 1 and len(parts[0]) <= 3 else "en"
        try:
            content = open(path, encoding="utf-8").read()
        except UnicodeDecodeError:
            continue
        add([" ".join(t.split()) for t in re.split(r"\n%+\n", content)], lang, "d_fort", 10 if lang == "en" else 3)

    # questions of examinations, in eight languages, and instructions to a judging model
    tasks = f"{text}/pip/lm_eval/tasks"
    for lang in ("de", "es", "fr", "hi", "it", "pt", "th"):
        questions = []
        for path in sorted(glob.glob(f"{tasks}/llama3/instruct/mmlu_{lang}/*.yaml")):
            found = yaml.load(open(path, encoding="utf-8"), Loader)
            samples = (found or {}).get("fewshot_config", {}).get("samples", [])
            for sample in samples if isinstance(samples, list) else []:
                choices = sample.get("input_choice_list", {})
                shown = "\n".join(f"{k}. {v}" for k, v in choices.items()) if rng.random() < 0.3 else ""
                questions.append(f"{sample['input_question']}\n{shown}".strip())
        add(questions, lang, "p_exam", 90)
    english = json.load(open(f"{tasks}/mmlu/flan_cot_fewshot/_cot_prompts.json", encoding="utf-8"))
    add([q.strip() for t in english.values() for q in re.split(r"\n\n?Q: |\nA: ", t)], "en", "p_exam", 200)
    templates = json.load(open(f"{text}/pip/deepeval/templates/metrics/templates.json", encoding="utf-8"))
    prompts = [p for group in templates.values() for v in group.values() if isinstance(v, str) for p in v.split("\n\n")]
    add([re.sub(r"\{[%{].*?[%}]\}", " ", p, flags=re.S).strip() for p in prompts], "en", "p_judge", 250)

    # reasoning puzzles of a benchmark
    puzzles = []
    for path in sorted(glob.glob(f"{tasks}/bbh/cot_fewshot/*.yaml")):
        found = yaml.load(open(path, encoding="utf-8"), Loader) or {}
        samples = (found.get("fewshot_config") or {}).get("samples") or []
        puzzles += [s["input"] for s in samples if isinstance(s, dict) and "input" in s]
    add(puzzles, "en", "p_exam", 100)

    # what agent frameworks say to models, and about themselves
    for folder, source in (("langchain_classic", "p_chain"), ("llama_index", "p_index"), ("crewai", "p_crew"),
                           ("ragas", "p_ragas"), ("smolagents", "p_smol"), ("haystack", "p_hay")):
        texts = []
        for path in sorted(glob.glob(f"{text}/pip/{folder}/**/*", recursive=True)):
            if path.endswith((".py", ".yaml", ".json", ".md")):
                content = open(path, encoding="utf-8", errors="replace").read()
                quoted = re.findall(r'"""(.*?)"""', content, re.S) if path.endswith(".py") else [content]
                for piece in (p for q in quoted for p in q.split("\n\n")):
                    if len(piece.split()) >= 12:
                        texts.append(" ".join(piece.split()))
        add(texts, "en", source, 120)

    for row in lines(EXAMPLES):
        rows.append({"text": row["text"], "label": int(row["injection"]), "lang": row["lang"], "source": "own"})

    rows.extend(shipped())
    rows.extend(injection_play.rows())
    for path in sorted(glob.glob(f"{data}/skills/community/*/SKILL.md")):
        content = open(path, encoding="utf-8", errors="replace").read()[:LONGEST]
        rows.append({"text": content, "label": 0, "lang": "en", "source": "m_skill", "group": "measured"})
    rows.extend(indirect(data))
    rows.extend(sections(rows))
    carriers, taken = [], {}
    found = list(documents(rng))
    rng.shuffle(found)
    for package, kind, content in found:
        part = hashlib.blake2b(package.encode(), digest_size=2).digest()[0] % 4
        start = rng.randrange(max(1, len(content) - LONGEST))
        content = content[start : start + LONGEST] if kind == "doc_text" else content[:LONGEST]
        group = ("doc_a", "doc_a", "doc_b", "doc_c")[part]
        taken[group] = taken.get(group, 0) + 1
        if taken[group] > MOST[group]:
            continue
        rows.append({"text": content, "label": 0, "lang": "en", "source": kind, "group": group})
        if group == "doc_a" and kind == "doc_text":
            carriers.append(content)
    rows.extend(injection_written.rows(carriers, foreign(rows), rng))
    rows.extend(injection_direct.rows(random.Random(11)))
    # short messages by another author; every kind is a source of its own, so that none of them is drowned
    rows.extend({k: row[k] for k in ("text", "label", "lang")} | {"source": f"own_short_{row['kind']}"} for row in lines(SHORT))
    # three more authors, each left out in turn; what they wrote as attacks is often close to a request, and counts as one kind
    for row in lines(AUTHORS):
        group = f"own_author{row['author']}"
        rows.append({k: row[k] for k in ("text", "label", "lang")} | {"source": f"{group}_{'attack' if row['label'] else row['kind']}", "group": group})
    for row in rows:
        print(json.dumps(row, ensure_ascii=False))


if __name__ == "__main__":
    {"fetch": fetch, "gather": gather}[sys.argv[1]](*sys.argv[2:])
