"""Runs `foreword eval retrieval` over sets and pools and prints the tables of docs/evaluation.md.

    retrieval_tables.py FOREWORD DATA [--embedders none,static,use] [--pools WORK] [--sets a,b]

DATA holds a folder per set with tools.jsonl, queries.jsonl and, for some, out_of_scope.jsonl. With --pools, pools of
several sizes are written to WORK and measured instead; the largest is filled up with the names and synopses of Debian
packages (`apt-cache dumpavail`), where there are any. Standard library only.
"""

import argparse
import json
import random
import subprocess
from pathlib import Path

# Sets whose items are tools with descriptions rather than intents: what pools are made of.
TOOL_SETS = ("bfcl", "livemcpbench", "metatool_single", "metatool_multi", "seal_tools", "toolalpaca")
SIZES = (50, 1_000, 5_000, 50_000)
QUERIES = 600


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


def write(path, rows):
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def measure(foreword, embedder, tools, queries, strangers=None):
    command = [foreword, "eval", "retrieval", "--json", "--quiet", "--embedder", embedder]
    command += ["--tools", str(tools), "--queries", str(queries)]
    if strangers:
        command += ["--out-of-scope", str(strangers)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def sets(args, embedders):
    reports = {}
    for folder in sorted(path for path in args.data.iterdir() if (path / "queries.jsonl").exists()):
        if args.sets and folder.name not in args.sets.split(","):
            continue
        strangers = folder / "out_of_scope.jsonl"
        for embedder in embedders:
            reports[folder.name, embedder] = measure(
                args.foreword, embedder, folder / "tools.jsonl", folder / "queries.jsonl",
                strangers if strangers.exists() else None,
            )
    names = sorted({name for name, _ in reports})
    print("| set | tools | queries |", " | ".join(f"{e} r10 | {e} hit1" for e in embedders), "|")
    print("|---|---:|---:|" + "---:|---:|" * len(embedders))
    means = {embedder: [] for embedder in embedders}
    for name in names:
        english = {e: reports[name, e]["perLang"].get("en") for e in embedders}
        if not all(english.values()):
            continue
        cells = []
        for embedder in embedders:
            means[embedder].append(english[embedder]["r10"])
            cells.append(f"{english[embedder]['r10']:.3f} | {english[embedder]['hit1']:.3f}")
        first = english[embedders[0]]
        print(f"| {name} | {reports[name, embedders[0]]['tools']} | {first['queries']} |", " | ".join(cells), "|")
    cells = " | ".join(f"{sum(means[e]) / max(len(means[e]), 1):.3f} | " for e in embedders)
    print("| **mean, English** | | |", cells, "|\n")
    print("| set and language | queries |", " | ".join(f"{e} r10" for e in embedders), "|")
    print("|---|---:|" + "---:|" * len(embedders))
    for name in names:
        for lang, first in reports[name, embedders[0]]["perLang"].items():
            if lang != "en":
                cells = " | ".join(f"{reports[name, e]['perLang'][lang]['r10']:.3f}" for e in embedders)
                print(f"| {name} {lang} | {first['queries']} | {cells} |")
    print("\n| out of scope | queries |", " | ".join(f"{e} AUROC" for e in embedders), "|")
    print("|---|---:|" + "---:|" * len(embedders))
    for name in names:
        found = [reports[name, e].get("outOfScope") for e in embedders]
        if all(found):
            print(f"| {name} | {found[0]['queries']} |", " | ".join(f"{x['auroc']:.3f}" for x in found), "|")


def packages():
    """Debian packages as tools."""
    try:
        text = subprocess.run(["apt-cache", "dumpavail"], check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return []
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line and line[0] != " ")
        if "Package" in fields and ("Description-en" in fields or "Description" in fields):
            synopsis = fields.get("Description-en") or fields["Description"]
            found.append({"name": fields["Package"], "description": synopsis})
    return found


def pools(args, embedders):
    args.pools.mkdir(parents=True, exist_ok=True)
    chance = random.Random(4)
    tools, queries = {}, []
    for name in TOOL_SETS:
        for tool in lines(args.data / name / "tools.jsonl"):
            tools[f"{name}/{tool['id']}"] = {**tool, "id": f"{name}/{tool['id']}"}
        own = lines(args.data / name / "queries.jsonl")
        for query in chance.sample(own, min(len(own), QUERIES // len(TOOL_SETS))):
            relevant = [f"{name}/{x}" for x in query["relevant"]]
            queries.append({"text": query["text"], "lang": "en", "relevant": relevant})
    fill = [{**tool, "id": f"debian/{number}"} for number, tool in enumerate(packages())]
    print("| tools | queries |", " | ".join(f"{e} r10 | {e} p95 ms" for e in embedders), "|")
    print("|---:|---:|" + "---:|---:|" * len(embedders))
    for size in SIZES:
        if size == 50:
            # Each query has a pool of its own, or the tools of all queries would not fit.
            asked = []
            for query in queries:
                own = list(query["relevant"])
                others = chance.sample(sorted(set(tools) - set(own)), size - len(own))
                asked.append({**query, "candidates": [tools[x] for x in own + others]})
            pool = list(tools.values())[:1]
        else:
            # As many queries as leave half of the pool to tools that nobody asks for.
            asked, needed = [], {}
            for query in chance.sample(queries, len(queries)):
                if len(needed) + len(query["relevant"]) <= size // 2:
                    asked.append(query)
                    needed.update(dict.fromkeys(query["relevant"]))
            others = [x for x in tools if x not in needed]
            chance.shuffle(others)
            pool = [tools[x] for x in list(needed) + others[: size - len(needed)]]
            pool += chance.sample(fill, min(len(fill), size - len(pool)))
        write(args.pools / f"tools-{size}.jsonl", pool)
        write(args.pools / f"queries-{size}.jsonl", asked)
        cells = []
        for embedder in embedders:
            paths = args.pools / f"tools-{size}.jsonl", args.pools / f"queries-{size}.jsonl"
            report = measure(args.foreword, embedder, *paths)
            cells.append(f"{report['r10']:.3f} | {report['p95Ms']:.2f}")
        count = size if size == 50 else len(pool)
        print(f"| {count} | {len(asked)} |", " | ".join(cells), "|", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("foreword")
    parser.add_argument("data", type=Path)
    parser.add_argument("--embedders", default="none,static")
    parser.add_argument("--sets", help="only these, comma-separated")
    parser.add_argument("--pools", type=Path, help="measure pools of several sizes, written here")
    args = parser.parse_args()
    (pools if args.pools else sets)(args, args.embedders.split(","))


if __name__ == "__main__":
    main()
