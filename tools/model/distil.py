"""The static table: start from the teacher's pieces, train on the teacher's sentences and on related texts, mix, weigh.

`python distil.py WHEEL WORK OUT.npy [--steps N]`, after corpus.py and teacher.py. Deterministic for one numpy build.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import sentencepiece

from student import Bags, principal, starting_table, train, unit
from use_forward import UseModel

DIMS = 256
SIF = 1e-4  # frequent pieces are weighted by SIF / (SIF + probability)
SEEDS = (7,)  # trained once for each, and averaged
TRAINED = 0.6  # share of the trained table in the mix with the one it started from: half-way generalises better
EXTRA_ROWS = 300_000
AGAIN = 0.4  # power of the weight applied after training, which gives frequent pieces too much length


def load_targets(path, rng):
    """(K, DIMS) unit targets in the directions of largest variance, and that projection."""
    raw = np.load(path, mmap_mode="r")
    some = np.sort(rng.choice(len(raw), min(len(raw), 60_000), replace=False))
    mean, basis = principal(raw[some].astype(np.float32), DIMS)
    out = np.empty((len(raw), DIMS), np.float32)
    for i in range(0, len(raw), 20_000):
        out[i : i + 20_000] = unit((raw[i : i + 20_000].astype(np.float32) - mean) @ basis)
    return out, mean, basis


def with_extra(data, targets, extra, project):
    """Adds unlabelled texts, repeated to be about a fifth of the rows, each its own target."""
    texts, before = len(data["start"]) - 1, len(targets)
    new = np.arange(len(extra["targets"]))
    rows = np.stack([texts + new, before + new], axis=1)
    return {
        "flat": np.concatenate([data["flat"], extra["flat"]]),
        "start": np.concatenate([data["start"], data["start"][-1] + extra["start"][1:]]),
        "rows": np.concatenate([data["rows"]] + [rows] * max(1, EXTRA_ROWS // len(rows))),
        "own": np.concatenate([data["own"], texts + new]),
        "pairs": data["pairs"],
    }, np.concatenate([targets, project(extra["targets"].astype(np.float32))])


def finish(start, trained, weight):
    return ((1 - TRAINED) * start + TRAINED * trained) * weight[:, None] ** AGAIN


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("wheel")
    arguments.add_argument("work", type=Path)
    arguments.add_argument("out")
    arguments.add_argument("--steps", type=int, default=1500)
    options = arguments.parse_args()

    pieces = sentencepiece.SentencePieceProcessor(model_proto=UseModel(options.wheel).pieces)
    log_probability = np.array([pieces.get_score(i) for i in range(pieces.vocab_size())], np.float32)
    weight = SIF / (SIF + np.exp(log_probability))
    data = np.load(options.work / "sample.npz")
    targets, mean, basis = load_targets(options.work / "targets.npy", np.random.default_rng(0))
    start = starting_table(np.load(options.work / "pieces.npy"), log_probability, mean, basis, SIF)
    if (options.work / "extra.npz").exists():
        data, targets = with_extra(data, targets, np.load(options.work / "extra.npz"), lambda x: unit((x - mean) @ basis))
    bags, began = Bags(data["flat"], data["start"]), time.time()

    def report(done, figures, _):
        if done % 100 == 0:
            print(f"{done} {time.time() - began:.0f} s cosine {figures[0]:.3f} contrast {figures[1]:.3f}", flush=True)

    runs = []
    for seed in SEEDS:
        kept = options.work / f"run{seed}.npy"  # a run takes minutes: an interrupted one starts again from here
        if not kept.exists():
            np.save(kept, train(start.copy(), bags, data["rows"], targets, data["pairs"], data["own"],
                                steps=options.steps, pairs=512, regress=10.0, seed=seed, report=report))
        runs.append(np.load(kept))
    trained = np.mean(runs, axis=0)
    np.save(options.out, finish(start, trained, weight).astype(np.float32))


if __name__ == "__main__":
    main()
