"""Fits the heads that judge instructions and programs of skills and writes `instructions.bin` or `programs.bin`; SKILLS.md says
how and why.

    skill_head.py instructions|programs ROWS FEATURES STATIC OUT

ROWS are the texts of `skill_texts.py` or `program_texts.py`, FEATURES what the Rust example `injection_features` makes of them, STATIC the table its
vectors are from. Prints what it measured, with every group of sources left out in turn.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import multiprocessing
import re
import struct
import sys
from collections import defaultdict
from typing import NamedTuple

import numpy as np
from blake3 import blake3

from skill_texts import size
from injection_head import BUCKETS, DIMS, MEASURES, Data, logistic, packed

SAMPLED, MINED = 4, 4  # harmless windows of a text in the first round, and those that look worst added in the second
ROUNDS = 24
# hidden units of each of two fits, how often all windows are seen, windows at a time, units left out, and how weights shrink
UNITS, FITS, EPOCHS, BATCH, LEFT_OUT, SHRINKING = 64, 2, 60, 1024, 0.3, 1e-5
MARGIN = 2.0
UNCONFIRMED = 1 / 3
# what a text loses for every doubling of the documents of its skill, between these sizes in bytes
DOUBLING, SHORT, LONG = 0.3, 2048, 65536


class Recipe(NamedTuple):
    """How a head is fitted."""
    scales: tuple  # how strongly each part is shrunk by the same penalty: vector, characters, words, facts
    lexical: tuple  # the same without vectors
    penalty: float
    mass: dict  # the weight of each kind of text, windows of a text together
    folds: tuple  # groups left out together, to measure and to set the flag; the others are in every fit
    flagged: float  # of left-out honest skills, at most; the folds are large, so a fit that has seen them flags fewer
    refused: float


RECIPES = {
    "instructions": Recipe(
        (6.0, 2.0, 4.5, 0.5), (0.0, 2.5, 5.0, 0.5), 2.0,
        {"own-harmful": 3000, "own-harmful-planted": 9000, "attacks": 5000,
         "own-honest": 8000, "own-honest-planted": 16000, "prompts": 6000, "documents": 1500, "skills": 12000,
         "own-files": 6000, "own-skills": 6000},
        (("clawhub", "wild", "aws-agent-toolkit-for-aws", "malskills-benign", "skillinject", "benign-anthropics", "security-tools"),),
        0.03, 0.005),
    # words alone: vectors, hidden units and characters bring little here, and cost most
    "programs": Recipe(
        None, (0.0, 0.0, 6.0, 0.5), 10.0,
        {"own-harmful": 9000, "attacks": 3000, "own-honest": 12000, "skills": 14000},
        (("clawhub", "fx", "wild", "own1", "own5"),
         ("alirezarezvani-claude-skills", "aws-agent-toolkit-for-aws", "elastic-agent-skills", "google-gemini-gemini-cli",
          "k-dense-ai-claude-scientific-skills", "malskills-benign", "openai-skills", "security-tools", "affaan-m-everything-claude-code",
          "hashicorp-agent-skills", "obra-superpowers", "pj", "skillinject", "own2", "own6")),
        0.02, 0.005),
}
recipe = None


def kind(source, label):
    author = re.sub("^own[0-9]+", "own", source)
    if author in recipe.mass:
        return author
    if label:
        return "attacks"
    return "prompts" if source.startswith("prompts-") else "skills"


def prepare(data):
    data.kind = np.array([kind(s, l) for s, l in zip(data.source, data.label)])
    data.skill = np.array([r["skill"] for r in data.rows])
    attack = data.label[data.owner] == 1
    seen, order = defaultdict(int), np.random.default_rng(1).permutation(len(data.owner))
    data.fitted = np.zeros(len(data.owner), bool)
    for i in order:
        if np.isnan(data.y[i]):
            continue
        limit = 60 if attack[i] and data.y[i] != 0 else SAMPLED
        key = (data.owner[i], data.y[i] == 0)
        data.fitted[i] = seen[key] < limit
        seen[key] += 1


def weights(data, train):
    """Every kind of text has its mass; within it a source counts with the square root of its size."""
    size = defaultdict(int)
    for key in zip(data.label[train], data.source[train]):
        size[key] += 1
    w = np.array([size[key] ** -0.5 if key in size else 0 for key in zip(data.label, data.source)]) * train
    for name, mass in recipe.mass.items():
        mine = data.kind == name
        if w[mine].sum() > 0:
            w[mine] *= mass / w[mine].sum()
    return w


def fit(data, train, scales):
    """First on a sample of windows, then with the harmless ones that look worst, and of attacks whose place is not known
    those windows that look like one."""
    weight = weights(data, train)
    rows = np.flatnonzero(data.fitted & train[data.owner])
    w, share = None, None
    for turn in range(3):
        x = data.matrix(scales, rows)
        owner, y = data.owner[rows], data.y[rows]
        known = y >= 0
        if share is None:
            share = np.ones(len(rows))
        total = np.bincount(owner, share, len(weight))
        spread = share / np.maximum(total[owner], 1e-9)
        # a harmless document with many windows has more ways to look bad
        spread = np.where(y == 0, spread * np.minimum(np.sqrt(np.bincount(owner, minlength=len(weight))[owner]), 4), spread)
        w = np.zeros(x.columns + 1, np.float32) if w is None else w
        target, mass = np.where(y == 0, 0.0, 1.0), weight[owner] * spread
        w = logistic(x, target, mass, w, ROUNDS if turn == 2 else ROUNDS // 2, recipe.penalty)
        sums, _ = data.sums(w, scales)
        if turn == 2:
            return w, fit_units(data, scales, rows, target, mass, sums) if scales[0] else None
        rows = np.flatnonzero((data.fitted | worst_windows(data, sums, MINED * (turn + 1))) & train[data.owner])
        owner, unknown = data.owner[rows], data.y[rows] < 0
        most = np.full(len(weight), -30.0)
        np.maximum.at(most, owner, np.where(unknown, sums[rows], -30.0))
        share = np.where(unknown, np.exp(np.clip(2 * (sums[rows] - most[owner]), -30, 0)), 1.0)
        share = np.where(~unknown, 1 + np.exp(np.clip(sums[rows], -30, 1)), share)


class Units:
    """Hidden units over the vector and the facts of a window: what they weigh is added to the sum of the other weights."""

    def __init__(self, entries, constants, weights):
        self.entries, self.constants, self.weights = entries, constants, weights

    def sums(self, data, scales):
        return np.maximum(unit_inputs(data, scales, slice(None)) @ self.entries + self.constants, 0) @ self.weights

    def packed(self, scales):
        """As in the format: numbers of every unit, then its weights in eight bits."""
        v, _, _, f = scales
        numbers, weights = b"", b""
        for entries, constant, weight in zip(self.entries.T, self.constants, self.weights):
            vector, facts = entries[:DIMS] * v, entries[DIMS:] * f
            steps = [max(np.abs(part).max() / 127, 1e-9) for part in (vector, facts)]
            numbers += struct.pack("<4f", constant, weight, *steps)
            weights += b"".join(np.round(part / step).astype(np.int8).tobytes() for part, step in zip((vector, facts), steps))
        return struct.pack("<I", len(self.weights)) + numbers + weights


def unit_inputs(data, scales, windows):
    v, _, _, f = scales
    return np.hstack([data.unit[windows] * v, data.facts[windows] * f]).astype(np.float32)


def fit_units(data, scales, rows, target, mass, sums):
    """Fits the units to what the other weights leave over, twice from other beginnings; the result is the mean of both."""
    inputs, base = unit_inputs(data, scales, rows), sums[rows]
    share = mass / mass.sum()
    both = [one_fit(np.random.default_rng(seed), inputs, base, target, share) for seed in range(FITS)]
    entries, constants, weights = (np.concatenate(parts, axis=-1) for parts in zip(*both))
    return Units(entries, constants, weights / FITS)


def one_fit(rng, inputs, base, target, share):
    """Adam on samples of windows, drawn by their mass; units are left out at random, and weights shrink."""
    wide = inputs.shape[1]
    values = [(rng.standard_normal((wide, UNITS)) / np.sqrt(wide)).astype(np.float32), np.zeros(UNITS, np.float32),
              np.zeros(UNITS, np.float32)]
    means, squares = ([np.zeros_like(value) for value in values] for _ in range(2))
    steps = EPOCHS * len(base) // BATCH
    for step in range(steps):
        if step % 50 == 0:
            drawn = rng.choice(len(base), (50, BATCH), p=share)
        batch = drawn[step % 50]
        entries, constants, weights = values
        x = inputs[batch]
        kept = (rng.random(UNITS) > LEFT_OUT).astype(np.float32) / (1 - LEFT_OUT)
        raised = np.maximum(x @ entries + constants, 0)
        error = (1 / (1 + np.exp(-(base[batch] + raised * kept @ weights))) - target[batch]).astype(np.float32) / BATCH
        back = np.outer(error, weights) * kept * (raised > 0)
        slopes = [x.T @ back + SHRINKING * entries, back.sum(0), (raised * kept).T @ error + SHRINKING * weights]
        for value, slope, mean, square in zip(values, slopes, means, squares):
            mean += 0.1 * (slope - mean)
            square += 0.001 * (slope * slope - square)
            pace = 1e-3 * (1 - step / steps) / (1 - 0.9 ** (step + 1))
            value -= pace * mean / (np.sqrt(square / (1 - 0.999 ** (step + 1))) + 1e-8)
    return values


def worst_windows(data, sums, count):
    """The harmless windows of every text with the highest sums."""
    harmless = np.flatnonzero(data.y == 0)
    order = harmless[np.lexsort((-sums[harmless], data.owner[harmless]))]
    owner = data.owner[order]
    first = np.searchsorted(owner, owner)
    out = np.zeros(len(sums), bool)
    out[order[np.arange(len(order)) - first < count]] = True
    return out


def highest(data, sums):
    out = np.full(len(data.rows), -30.0)
    np.maximum.at(out, data.owner, confirmed(data, sums))
    whole = np.array([r.get("whole") or size(r["text"]) for r in data.rows])
    return out - DOUBLING * np.log2(np.clip(whole, SHORT, LONG) / SHORT)


def confirmed(data, sums):
    """A window that neither neighbour confirms counts less (see `confirm` in `document_score.rs`)."""
    at, last = np.arange(len(sums)), data.index + 1 == data.reading_windows[data.reading]
    before = np.where(data.index > 0, sums[np.maximum(at - 1, 0)], -np.inf)
    after = np.where(last, -np.inf, sums[np.minimum(at + 1, len(sums) - 1)])
    edge = np.isinf(before) | np.isinf(after)
    return sums - UNCONFIRMED * np.maximum(sums - np.where(edge, sums, np.maximum(before, after)), 0)


def by_skill(data, scores, groups):
    """The worst document of every skill of these groups, with its label and kind."""
    skills = {}
    for i, name in enumerate(data.skill):
        if data.kind[i] in ("skills", "attacks", "prompts", "documents") and (not groups or data.group[i] in groups):
            source = data.source[i]
            what = data.kind[i]
            if what == "skills":
                what = "community" if "clawhub" in source else "security" if source == "security-tools" else "vendors"
            score, *_ = skills.get(name, (-30.0,))
            skills[name] = (max(score, scores[i]), data.label[i], what, source)
    return skills


def threshold(skills, share):
    values = sorted(s for s, label, what, _ in skills.values() if what in ("vendors", "community"))
    return values[len(values) - 1 - int(share * len(values))] + 1e-3


def report(skills, flag):
    print(f"flag at {flag:.3f}")
    groups = defaultdict(list)
    for score, label, what, source in skills.values():
        groups[(label, what, "")].append(score > flag)
        groups[(label, what, source)].append(score > flag)
    for key in sorted(groups):
        print("| " + " | ".join(map(str, (*key, len(groups[key]), f"{np.mean(groups[key]):.3f}"))) + " |")
    scores = np.array([s for s, *_ in skills.values()])
    attack = np.array([label for _, label, *_ in skills.values()]) == 1
    honest = np.array([what in ("vendors", "community") for _, _, what, _ in skills.values()])
    for rate in (0.005, 0.01, 0.02, 0.05, 0.1):
        t = np.quantile(scores[honest], 1 - rate)
        print(f"at {rate:.3f} of honest skills: recall {np.mean(scores[attack] > t):.3f}")


def report_authors(data, scores, left, flag):
    """What left-out authors wrote, each passage by itself."""
    groups = defaultdict(list)
    for i in np.flatnonzero(np.isin(data.group, list(left)) & np.array([kind.startswith("own-h") for kind in data.kind])):
        groups[(data.label[i], data.group[i])].append(scores[i] > flag)
    for key in sorted(groups):
        print("| " + " | ".join(map(str, (*key, len(groups[key]), f"{np.mean(groups[key]):.3f}"))) + " |")


def fit_shared(left):
    data, scales = shared
    train = ~np.isin(data.group, left)
    w, units = fit(data, train, scales)
    print(".", end="", file=sys.stderr, flush=True)
    return w, units


def summed(data, w, units, scales):
    sums, _ = data.sums(w, scales)
    return sums + units.sums(data, scales) if units else sums


def crossed(data, scales, folds):
    """A fit on everything, and the sums of all windows with the fold of their text left out."""
    global shared
    shared = data, scales
    with multiprocessing.get_context("fork").Pool(2) as pool:
        whole, *others = pool.map(fit_shared, [(), *folds], chunksize=1)
    outside = summed(data, *whole, scales)
    for left, fitted in zip(folds, others):
        mine = np.isin(data.group, left)[data.owner]
        outside[mine] = summed(data, *fitted, scales)[mine]
    return whole, outside


def main(what, rows, features, static, out):
    global recipe
    recipe = RECIPES[what]
    left = set().union(*recipe.folds)
    data = Data(rows, features)
    prepare(data)
    print(len(data.rows), "texts,", len(data.first), "windows,", data.fitted.sum(), "fitted", flush=True)
    body, hidden, head = b"", b"", None
    # The head without vectors, where there is one with them, is for other tables only: it is not scored left out, so its flag is
    # far above all honest skills.
    heads = [(name, scales) for name, scales in (("with vectors", recipe.scales), ("without vectors", recipe.lexical)) if scales]
    for place, (name, scales) in enumerate(heads):
        folds = recipe.folds if place == 0 else ()
        (w, units), outside = crossed(data, scales, folds)
        np.savez(f"{out}.{name.split()[0]}.npz", w=w, outside=outside)  # to look at
        skills = by_skill(data, highest(data, outside), left if folds else None)
        flag = threshold(skills, recipe.flagged) if folds else threshold(skills, 0) + MARGIN
        block = max(flag + 0.5, threshold(skills, recipe.refused))
        if folds:
            print(f"\n## {name}, left out")
            report(skills, flag)
            report_authors(data, highest(data, outside), left, flag)
        print(name, "flag", flag, "block", block, flush=True)
        documents = np.zeros(MEASURES, np.float32)
        documents[0] = 1.0
        head = packed(w, scales, documents, flag, block, flag, block)
        body += head * (3 - len(heads))  # a table has two; a single one stands for both
        hidden = hidden or (units.packed(scales) if units else b"")
    body += struct.pack("<2I2f", 0, 0, 0.0, 0.0)  # no exemplars
    body += hidden
    table = open(static, "rb").read(72)
    header = struct.pack("<8s5I8s32s", b"FWINJECT", 3, DIMS, BUCKETS, data.facts.shape[1], MEASURES, table[40:48], blake3(body).digest())
    open(out, "wb").write(header + body)


if __name__ == "__main__":
    main(*sys.argv[1:])
