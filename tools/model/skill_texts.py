"""Gathers what the head for skills is fitted on; SKILLS.md says how and why.

    skill_texts.py DATA > rows.jsonl

DATA is the folder with `skills/`, `skill-folders/` and `injection/`. Each row has a text, its label, the source it counts with,
the group it is left out with, the skill it belongs to, the bytes of all documents of a real skill, and the place of the attack where
that is known.
"""

import json
import lzma
import os
import pathlib
import random
import re
import sys

HERE = pathlib.Path(__file__).parent
LONGEST = 24000  # characters of a document that is fitted on
# prompts, rules and skills of agents among the clean documents of the injection data; other documents
PROMPTS = ("awesome_copilot", "awesome_cursorrules", "claude_skills_ar", "gh_aw_workflows", "wshobson_agents")
OTHERS = 250
AUTHORS = range(2, 12)  # of the sentences in files of their own
PLANTED = 1  # times each written sentence stands in a document
ENDINGS = ("com", "io", "dev", "net", "app", "co", "org", "cloud", "ai")
DOCUMENTS = (".md", ".mdx", ".markdown", ".txt", ".rst")
# what shares texts or makers is left out together
TWINS = {"skill-inject": "skillinject", "skillinject_contextual": "skillinject", "skillinject_obvious": "skillinject",
         "clawhub-community": "clawhub", "clawhub-wild": "wild"}


# a comment by which one collection marks all of its skills, honest or not
MARKER = re.compile(r"<!-- SKILLFORTIFYBENCH.*?-->\s*", re.S)


def group(source):
    return TWINS.get(source, source.split("-")[0] if source.startswith(("fx-", "pj-")) else source)


def size(text):
    """Bytes without blanks in a row, as `documents_size` in `folder.rs` counts them."""
    return sum(len(word.encode()) + 1 for word in text.split())


def documents(files):
    return {path: text for path, text in files.items() if path.lower().endswith(DOCUMENTS)}


def folders(data):
    with lzma.open(f"{data}/skill-folders/dev.jsonl.xz", "rt", encoding="utf-8") as rows:
        for row in map(json.loads, rows):
            attack = row["label"] == "1"
            if attack and row["attack_in"] == "script":
                continue  # which of its words are harmful is not known
            whole = sum(map(size, documents(row["files"]).values()))
            for path, text in documents(row["files"]).items():
                main = path.lower() == "skill.md"
                if attack and not main:
                    continue
                yield {"text": text[:LONGEST], "label": int(attack), "source": row["source"], "group": group(row["source"]),
                       "skill": "folder/" + row["id"], "whole": whole}


def skills(data):
    for kind in ("benign", "community", "malicious"):
        for folder in sorted(os.listdir(f"{data}/skills/{kind}")):
            path = f"{data}/skills/{kind}/{folder}/SKILL.md"
            if not os.path.exists(path):
                continue
            text = MARKER.sub("", open(path, encoding="utf-8", errors="replace").read())
            source = folder.split("__")[0]
            if kind == "benign":
                source = "benign-" + source
            yield {"text": text[:LONGEST], "label": int(kind == "malicious"), "source": source, "group": group(source),
                   "skill": f"{kind}/{folder}", "whole": size(text)}


def clean(data):
    """Harmless documents of the injection data: prompts and skills of agents, and some of all other kinds."""
    rows = [json.loads(line) for line in lzma.open(f"{data}/injection/dev-indirect.jsonl.xz", "rt", encoding="utf-8")]
    rows = [r for r in rows if r["label"] == 0]
    others = [r for r in rows if r["source"] not in PROMPTS]
    random.Random(1).shuffle(others)
    for i, r in enumerate([r for r in rows if r["source"] in PROMPTS] + others[:OTHERS]):
        source = "prompts-" + r["source"] if r["source"] in PROMPTS else "documents"
        yield {"text": r["text"][:12000], "label": 0, "source": source, "group": source, "skill": f"clean/{i}"}


def own_files():
    """The prose of this repository: it is written as the sentences are, and the program must not flag its own files."""
    root = HERE.parent.parent
    for path in sorted(root.rglob("*.md")):
        name = path.relative_to(root).as_posix()
        if name.startswith(("target/", ".git/")) or "fixtures" in name or "first-agent" in name:
            continue
        text = path.read_text(encoding="utf-8")
        source = "own-skills" if "/skills/" in name or "/prompts/" in name or "/src/" in name else "own-files"
        yield {"text": text[:LONGEST], "label": 0, "source": source, "group": "own", "skill": f"{source}/{name}"}


def sentences():
    """What eleven authors wrote: author, kind, label and text."""
    for name, label in (("skill_harmful.txt", 1), ("skill_honest.txt", 0)):
        kind = ""
        for line in open(HERE / name, encoding="utf-8"):
            if line.startswith("## "):
                kind = line[3:].strip()
            elif line.strip() and not line.startswith("#"):
                yield "own", kind, label, line.strip()
    for author in AUTHORS:
        for row in map(json.loads, open(HERE / f"skill_sentences_{author}.jsonl", encoding="utf-8")):
            yield f"own{author}", row["kind"], row["label"], row["text"]


def written_folders(rng):
    """Documents of whole skills that two more authors wrote. Where in them the harm stands is not known."""
    for row in map(json.loads, open(HERE / "skill_folders.jsonl", encoding="utf-8")):
        source, ending = f"folders-{row['author']}", "." + rng.choice(ENDINGS)
        for path, text in row["files"].items():
            if row["label"] and len(row["files"]) > 1 and path != "SKILL.md":
                continue  # it may be the honest one
            text = re.sub(r"\.example\b", ending, text)
            yield {"text": text[:LONGEST], "label": row["label"], "source": source, "group": source, "kind": row["kind"],
                   "skill": f"{source}/{row['id']}"}


def marked_documents(rng):
    """Whole documents by nine authors who marked what is harmful in them. Each passage counts apart, in the document without the
    others; without any it is honest."""
    first = AUTHORS.stop - 1
    for i, row in enumerate(map(json.loads, open(HERE / "skill_documents.jsonl", encoding="utf-8"))):
        author, ending = f"own{first + row['author']}", "." + rng.choice(ENDINGS)
        parts = re.split("[⟦⟧]", re.sub(r"\.example\b", ending, row["text"]))  # every second one was marked
        harmful = range(1, len(parts), 2)
        for chosen in (None, *harmful):
            before, text, after = "", "", ""
            for k, part in enumerate(parts):
                if k == chosen:
                    before, text = after, part
                    after = ""
                elif k not in harmful:
                    after += part
            label = int(chosen is not None)
            source = author + ("-harmful" if label else "-honest") + "-planted"
            start = len(before.encode())
            yield {"text": before + text + after, "label": label, "source": source, "group": author, "kind": row["kind"],
                   "skill": f"{source}/{i}/{chosen}", **place(label, start, text)}


def hosts(text, rng):
    return re.sub(r"\.example\b", lambda _: "." + rng.choice(ENDINGS), text)


def written(around, rng):
    """Each sentence alone, and as a paragraph, a list item or within a paragraph of a document."""
    for i, (author, kind, label, sentence) in enumerate(sentences()):
        source = author + ("-harmful" if label else "-honest")
        row = {"label": label, "source": source, "group": author, "kind": kind, "skill": f"{source}/{i}"}
        text = hosts(sentence, rng)
        yield {**row, "text": text, **place(label, 0, text)}
        for _ in range(PLANTED):
            before, after = rng.choice(around)
            text = hosts(sentence, rng)
            lead, tail = rng.choice((("\n\n", "\n\n"), ("\n\n", "\n\n"), ("\n- ", "\n- "), ("\n1. ", "\n2. "), (" ", " "), ("\n\n**Note:** ", "\n\n")))
            start = len((before + lead).encode())
            whole = before + lead + text + tail + after
            yield {**row, "source": source + "-planted", "text": whole, **place(label, start, text)}


def place(label, start, text):
    """Where the attack stands, in bytes: windows there are attacks, so a harmless text has none."""
    return {"span": [start, start + len(text.encode())]} if label else {}


def pieces(rows, rng):
    """Two neighbouring stretches of text from documents, cut between lines."""
    out = []
    for row in rows:
        lines = row["text"].split("\n")
        for _ in range(6):
            at = rng.randrange(len(lines))
            before, after = "\n".join(lines[max(0, at - 6) : at])[-700:], "\n".join(lines[at : at + 6])[:700]
            if len(before) > 80 and len(after) > 80:
                out.append((before.rstrip(), after.lstrip()))
    return out


def main(data):
    rng = random.Random(2)
    harmless = list(clean(data))
    rows = [*skills(data), *folders(data), *harmless, *own_files()]
    around = pieces([r for r in harmless if r["source"] != "documents"], rng)
    rows += written(around, rng)
    rows += marked_documents(rng)
    rows += written_folders(rng)
    for row in rows:
        print(json.dumps(row, ensure_ascii=False))


if __name__ == "__main__":
    main(sys.argv[1])
