"""Makes the exemplars: what people ask of software, and the tools that serve it, as pairs of vectors.

    exemplars.py check DATA PARTS          out of scope: AUROC with sets or queries left out
    exemplars.py train DATA PARTS OUT      make them of everything and write the file

DATA and PARTS are those of query_map.py. numpy only.

A query close to a request of an exemplar needs something like its tool. If the pool has nothing like that tool, or if
the tool of some exemplar fits the query better than anything in the pool, the query is out of scope. An exemplar is a
tool (or several that are needed together) with the mean of its requests. Tools with few requests are merged by k-means.
"""

import argparse
import struct
from pathlib import Path

import numpy as np

import query_map
from query_map import unit

COUNT = 1100
ENOUGH = 3  # requests of a tool that is not merged with others
MAGIC, VERSION = b"FWEXEMPL", 1
# These are constants of crates/foreword-search/src/select/exemplars.rs and fusion.rs.
NEAREST, TEMPERATURE, ITEMS, BEST = 32, 0.08, 64, 5
STRANGE = 0.5


def exemplars(sets, rows, seed=0):
    """Requests and tools, a row each."""
    many, few = [], []
    for s, own in zip(sets, rows):
        groups = {}
        for row in own:
            groups.setdefault(tuple(np.flatnonzero(s.relevant[row])), []).append(row)
        for places, own in groups.items():
            pair = np.concatenate([s.queries[own].mean(0), s.tools[list(places)].mean(0)])
            (many if len(own) >= ENOUGH else few).append(pair)
    if len(many) + len(few) > COUNT:
        few = merge(halves(np.array(few)), max(1, COUNT - len(many)), seed)
    pairs = np.vstack([*many, *few])[:COUNT]
    return codes(pairs[:, :pairs.shape[1] // 2]), codes(pairs[:, pairs.shape[1] // 2:])


def halves(pairs):
    half = pairs.shape[1] // 2
    return np.hstack([unit(pairs[:, :half])[0], unit(pairs[:, half:])[0]]).astype(np.float32)


def merge(pairs, count, seed):
    """k-means on the sphere."""
    if len(pairs) <= count:
        return pairs
    centres = pairs[np.random.default_rng(seed).choice(len(pairs), count, replace=False)]
    for _ in range(12):
        nearest = (pairs @ unit(centres)[0].T).argmax(1)
        sums = np.zeros_like(centres)
        np.add.at(sums, nearest, pairs)
        centres = np.where(sums.any(1)[:, None], sums, centres)
    return centres


def codes(rows):
    """Sixteen levels, 2.8 to a standard deviation."""
    return np.clip(np.rint(rows / rows.std(1, keepdims=True) * 2.8), -8, 7).astype(np.int8)


# --- the check --------------------------------------------------------------------------------------------------

class Scope:
    """Queries in or out of scope, each with its own pool."""

    def __init__(self, folder, name, tools):
        read = lambda part, kind: np.fromfile(folder / f"{name}.{part}", kind)
        self.queries = read("queries", "<f4").reshape(-1, tools.shape[1])
        self.known, self.counts = read("known", "<f4"), read("counts", "<u4")
        ends = np.cumsum(self.counts)[:-1]
        self.pools = [tools[places] for places in np.split(read("places", "<u4"), ends)]
        self.rest = np.split(read("rest", "<f4"), ends)
        self.chance = read("chance", "<f4")

    def fits(self, change, requests, tools, rows=None):
        """The best score with what is known of the words, as before, and the fit."""
        requests, tools = (unit(rows.astype(np.float32))[0] for rows in (requests, tools))
        rows = np.arange(len(self.known)) if rows is None else rows
        queries = self.queries[rows]
        mapped = unit(queries + queries @ change.T)[0]
        near = queries @ requests.T
        nearest = np.argsort(-near, axis=1)[:, :NEAREST]
        near = np.take_along_axis(near, nearest, 1)
        share = np.exp((near - near.max(1, keepdims=True)) / TEMPERATURE)
        share /= share.sum(1, keepdims=True)
        elsewhere = np.sort(mapped @ tools.T, axis=1)[:, -BEST:].mean(1)
        before, after = np.zeros(len(rows)), np.zeros(len(rows))
        for i, row in enumerate(rows):
            pool, rest = self.pools[row], self.rest[row]
            if not len(pool):
                continue
            scores = pool @ mapped[i] + rest
            alike = tools[nearest[i]] @ pool[np.argsort(-scores)[:ITEMS]].T
            covered = (share[i] @ alike.max(1) + (share[i] @ alike).max()) / 2
            before[i] = scores.max() + STRANGE * (1 - self.known[row])
            after[i] = before[i] + covered - elsewhere[i] / 2 - self.chance[row]
        return before, after


def auroc(inside, outside):
    from_below = np.searchsorted(np.sort(outside), inside, "left") + np.searchsorted(np.sort(outside), inside, "right")
    return from_below.mean() / 2 / len(outside)


def check(sets, parts):
    every = lambda s: slice(None)
    print("| set | in scope | out of scope | left out | best score and known words | with exemplars |")
    print("|---|---:|---:|---|---:|---:|")
    for s in [s for s in sets if (parts / s.name / "scope").exists()]:
        folder = parts / s.name / "scope"
        tools = np.fromfile(folder / "tools", "<f4").reshape(-1, s.tools.shape[1])
        inside, outside = (Scope(folder, name, tools) for name in ("in", "out"))

        def line(what, runs):
            areas = np.mean([[auroc(a, b) for a, b in zip(*run)] for run in runs], axis=0)
            print(f"| {s.name} | {len(inside.known)} | {len(outside.known)} | {what} |",
                  " | ".join(f"{area:.3f}" for area in areas), "|", flush=True)

        others = [x for x in sets if x.group != s.group]
        rows = query_map.rows_of(others, every)
        change, pairs = query_map.train(others, rows), exemplars(others, rows)
        line("the set", [(inside.fits(change, *pairs), outside.fits(change, *pairs))])
        fold = {x.name: np.random.default_rng(1).permutation(len(x.lang)) % 5 for x in sets}
        runs = []
        for i in range(5):
            rows = query_map.rows_of(sets, lambda x: fold[x.name] != i)
            change, pairs = query_map.train(sets, rows), exemplars(sets, rows)
            own = np.flatnonzero(fold[s.name] == i)
            runs.append((inside.fits(change, *pairs, own), outside.fits(change, *pairs)))
        line("queries", runs)


# --- the file ---------------------------------------------------------------------------------------------------

def pack(requests, tools, table):
    """magic, u32 version, u32 dims, u32 count, 8 bytes that name the table, then requests and tools: for each an f32
    that scales its codes to length one, and then for each its codes plus 8, four bits each: the first half of a row in
    the low bits, the second half in the high bits."""
    out = MAGIC + struct.pack("<III8s", VERSION, requests.shape[1], len(requests), bytes.fromhex(table))
    for own in (requests, tools):
        out += (1 / np.linalg.norm(own.astype(np.float32), axis=1)).astype("<f4").tobytes()
        low, high = np.split((own + 8).astype(np.uint8), 2, axis=1)
        out += (low | high << 4).tobytes()
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("check", "train"))
    parser.add_argument("data", type=Path)
    parser.add_argument("parts", type=Path)
    parser.add_argument("out", type=Path, nargs="?", help="for train")
    args = parser.parse_args()
    names = sorted(path.name for path in args.parts.iterdir() if (path / "rest.f32").exists())
    sets = [query_map.Set(args.data, args.parts, name) for name in names]
    if args.action == "check":
        return check(sets, args.parts)
    tables = {(args.parts / name / "table").read_text() for name in names}
    if args.out is None or len(tables) != 1:
        parser.error("train needs OUT, and parts made with one table")
    data = pack(*exemplars(sets, query_map.rows_of(sets)), tables.pop())
    print(f"{len(data)} bytes")
    args.out.write_bytes(data)


if __name__ == "__main__":
    main()
