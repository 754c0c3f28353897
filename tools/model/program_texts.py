"""Gathers what the head for programs of skills is fitted on; SKILLS.md says how and why.

    program_texts.py DATA > rows.jsonl

DATA is the folder with `skill-folders/`. Rows are like those of `skill_texts.py`, with a program instead of a document.
"""

import json
import lzma
import random
import re
import sys

from skill_texts import ENDINGS, HERE, LONGEST, group, place, size

# what is neither a program nor something that makes one run
NOT_PROGRAMS = (".md", ".mdx", ".markdown", ".txt", ".rst", ".csv", ".xsd", ".xml", ".tex", ".bib", ".sty", ".mplstyle", ".svg",
                ".json", ".html", ".hjson", ".ini", ".gitignore", ".lock", ".css")


def programs(files):
    return {path: text for path, text in files.items() if not path.lower().endswith(NOT_PROGRAMS)}


def folders(data):
    """Programs of real skills. Which part of a malicious one is harmful is not known."""
    with lzma.open(f"{data}/skill-folders/dev.jsonl.xz", "rt", encoding="utf-8") as rows:
        for row in map(json.loads, rows):
            attack = row["label"] == "1"
            if attack and row.get("attack_in") == "text":
                continue
            found = programs(row["files"])
            whole = sum(map(size, found.values()))
            for path, text in found.items():
                yield {"text": text[:LONGEST], "label": int(attack), "source": row["source"], "group": group(row["source"]),
                       "skill": "folder/" + row["id"], "whole": whole}


def marked(rng):
    """Programs by authors who marked what is harmful in them. Each passage counts apart, in the program without the others;
    without any it is honest."""
    for i, row in enumerate(map(json.loads, open(HERE / "skill_programs.jsonl", encoding="utf-8"))):
        author, ending = f"own{row['author'].lstrip('s')}", "." + rng.choice(ENDINGS)
        parts = re.split("[⟦⟧]", re.sub(r"\.example\b", ending, row["text"]))  # every second one was marked
        harmful = range(1, len(parts), 2)
        for chosen in (None, *harmful):
            before = "".join(part for k, part in enumerate(parts) if k not in harmful and (chosen is None or k < chosen))
            text = "" if chosen is None else parts[chosen]
            after = "" if chosen is None else "".join(part for k, part in enumerate(parts) if k not in harmful and k > chosen)
            label = int(chosen is not None)
            source = author + ("-harmful" if label else "-honest")
            yield {"text": before + text + after, "label": label, "source": source, "group": author, "kind": row["kind"],
                   "skill": f"{source}/{i}/{chosen}", **place(label, len(before.encode()), text)}


def main(data):
    rng = random.Random(2)
    for row in (*folders(data), *marked(rng)):
        print(json.dumps({**row, "program": True}, ensure_ascii=False))


if __name__ == "__main__":
    main(sys.argv[1])
