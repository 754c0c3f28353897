"""Trains the query map: a matrix that turns a query's vector towards the tools that answer such queries.

    query_map.py check DATA PARTS          recall@10 with sets, languages or queries left out of the training
    query_map.py train DATA PARTS OUT      train on everything and write the file

DATA holds a folder per set; PARTS holds, for each, what the example `fusion_parts` of foreword-search wrote. numpy only.

The score of a tool is cos(q + D q, t) + rest, rest being everything else that selection adds up. D is symmetric and
grows from zero by STEPS steps of one length along the gradient of a listwise softmax over all tools of a set. Every set
pulls with the same force, whatever its size; English and the other languages of a set share it.
"""

import argparse
import json
import struct
from pathlib import Path

import numpy as np

STEPS = 12
LENGTH = 4.0  # of all steps together, in the Frobenius norm; the identity has 16
TEMPERATURE = 0.12
SAMPLE = 200  # English queries of a set per step, and twice as many others
SMALL = 300  # sets with fewer queries pull less
MAGIC, VERSION = b"FWQRYMAP", 1
# Sets that share their tools, or are of one kind and small, are left out together.
TOGETHER = {"metatool_multi": "metatool", "metatool_single": "metatool",
            "restbench_spotify": "restbench", "restbench_tmdb": "restbench"}


class Set:
    def __init__(self, data, parts, name):
        read = lambda file: [json.loads(line) for line in (data / name / file).open() if line.strip()]
        tools, queries = read("tools.jsonl"), read("queries.jsonl")
        place = {tool.get("id") or tool["name"]: i for i, tool in enumerate(tools)}
        self.name, self.group = name, TOGETHER.get(name, name)
        self.tools = np.fromfile(parts / name / "tools.f32", "<f4").reshape(len(tools), -1)
        self.queries = np.fromfile(parts / name / "queries.f32", "<f4").reshape(len(queries), -1)
        self.rest = np.fromfile(parts / name / "rest.f32", "<f4").reshape(len(queries), len(tools))
        self.lang = np.array([query["lang"] for query in queries])
        self.wanted = np.array([max(1, len(query["relevant"])) for query in queries])
        self.relevant = np.zeros(self.rest.shape, bool)
        for i, query in enumerate(queries):
            self.relevant[i, [place[x] for x in query["relevant"] if x in place]] = True
        self.known = self.queries.any(1)
        self.usable = self.relevant.any(1) & self.known

    def recall(self, change):
        """recall@10 of every query."""
        scores = unit(self.queries + self.queries @ change.T)[0] @ self.tools.T + self.rest
        first = np.argsort(-scores, axis=1, kind="stable")[:, :10]
        return np.take_along_axis(self.relevant, first, 1).sum(1) / self.wanted


def unit(rows):
    length = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return rows / length, length


def gradient(s, rows, change):
    """The direction in which D has to grow so that the relevant tools of these queries gain on the others."""
    queries, relevant = s.queries[rows], s.relevant[rows]
    mapped, length = unit(queries + queries @ change.T)
    scores = (mapped @ s.tools.T + s.rest[rows]) / TEMPERATURE
    share = np.exp(scores - scores.max(1, keepdims=True))
    share /= share.sum(1, keepdims=True)
    pull = (relevant / relevant.sum(1, keepdims=True) - share) @ s.tools
    pull = (pull - (pull * mapped).sum(1, keepdims=True) * mapped) / length
    return pull.T @ queries / len(rows)


def train(sets, rows, seed=0):
    """D from the given rows of each set."""
    chance = np.random.default_rng(seed)
    dims = sets[0].tools.shape[1]
    change = np.zeros((dims, dims), np.float32)
    for _ in range(STEPS):
        total = np.zeros_like(change)
        for s, own in zip(sets, rows):
            english = s.lang[own] == "en"
            parts = [(own[english], SAMPLE), (own[~english], 2 * SAMPLE)]
            pulls = [gradient(s, chance.choice(part, min(most, len(part)), replace=False), change)
                     for part, most in parts if len(part)]
            if pulls:
                pull = np.mean(pulls, axis=0)
                total += min(1, len(own) / SMALL) ** 0.5 * pull / np.linalg.norm(pull)
        total += total.T
        change += LENGTH / STEPS * total / np.linalg.norm(total)
    return change


def rows_of(sets, keep=lambda s: slice(None)):
    mask = lambda s: np.isin(np.arange(len(s.usable)), np.arange(len(s.usable))[keep(s)])
    return [np.flatnonzero(s.usable & mask(s)) for s in sets]


# --- the check --------------------------------------------------------------------------------------------------

def without_set(sets):
    found = {}
    for group in sorted({s.group for s in sets}):
        others = [s for s in sets if s.group != group]
        change = train(others, rows_of(others))
        found.update({s.name: s.recall(change) for s in sets if s.group == group})
    return found


def without_language(sets, folds=8):
    """Languages left out of ha_intents, an eighth of them at a time; variants of a language together."""
    s = next(s for s in sets if s.name == "ha_intents")
    bare = np.array([lang.split("-")[0] for lang in s.lang])
    fold = np.searchsorted(np.unique(bare), bare) % folds
    recall = np.zeros(len(bare))
    for i in range(folds):
        change = train(sets, rows_of(sets, lambda x: fold != i if x is s else slice(None)))
        recall[fold == i] = s.recall(change)[fold == i]
    return {s.name: recall}


def without_queries(sets, folds=5):
    fold = {s.name: np.random.default_rng(1).permutation(len(s.lang)) % folds for s in sets}
    found = {s.name: np.zeros(len(s.lang)) for s in sets}
    for i in range(folds):
        change = train(sets, rows_of(sets, lambda s: fold[s.name] != i))
        for s in sets:
            found[s.name][fold[s.name] == i] = s.recall(change)[fold[s.name] == i]
    return found


def check(sets):
    none = np.zeros((sets[0].tools.shape[1],) * 2, np.float32)
    columns = [{s.name: s.recall(none) for s in sets}, without_set(sets), without_queries(sets), without_language(sets)]
    print("| set and language | queries | no map | set left out | queries left out | language left out |")
    print("|---|---:|---:|---:|---:|---:|")

    def line(name, count, values):
        print(f"| {name} | {count} |", " | ".join("" if x is None else f"{x:.3f}" for x in values), "|")

    def mean(name, column, where):
        return column[name][where].mean() if name in column else None

    english = []
    for s in sets:
        where = s.lang == "en"
        english.append([mean(s.name, column, where) for column in columns])
        line(s.name, where.sum(), english[-1])
    line("**mean, English**", "", [np.mean([row[i] for row in english]) for i in range(3)] + [None])
    for s in sets:
        others = [lang for lang in np.unique(s.lang) if lang != "en"]
        rows = [[mean(s.name, column, s.lang == lang) for column in columns] for lang in others]
        for lang, row in zip(others, rows):
            if lang in ("pt", "pt-BR", "fr") or s.name == "mtop":
                line(f"{s.name} {lang}", (s.lang == lang).sum(), row)
        if others:
            means = [None if column[0] is None else np.mean(column) for column in zip(*rows)]
            line(f"{s.name}, mean of {len(others)} languages", (s.lang != "en").sum(), means)


# --- the file ---------------------------------------------------------------------------------------------------

def pack(change, table):
    """magic, u32 version, u32 dims, 8 bytes that name the table, f32 scale, then D as i8, column after column."""
    scale = np.abs(change).max() / 127
    codes = np.rint(change.T / scale).astype(np.int8)
    head = MAGIC + struct.pack("<II8sf", VERSION, len(change), bytes.fromhex(table), scale)
    return head + codes.tobytes(), codes.T.astype(np.float32) * scale


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("check", "train"))
    parser.add_argument("data", type=Path)
    parser.add_argument("parts", type=Path)
    parser.add_argument("out", type=Path, nargs="?", help="for train")
    args = parser.parse_args()
    names = sorted(path.name for path in args.parts.iterdir() if (path / "rest.f32").exists())
    sets = [Set(args.data, args.parts, name) for name in names]
    if args.action == "check":
        return check(sets)
    tables = {(args.parts / name / "table").read_text() for name in names}
    if args.out is None or len(tables) != 1:
        parser.error("train needs OUT, and parts made with one table")
    change = train(sets, rows_of(sets))
    data, again = pack(change, tables.pop())
    lost = [np.abs(s.recall(change) - s.recall(again)).mean() for s in sets]
    print(f"{len(data)} bytes; rounding changes recall@10 of a query by {np.mean(lost):.4f} on average")
    args.out.write_bytes(data)


if __name__ == "__main__":
    main()
