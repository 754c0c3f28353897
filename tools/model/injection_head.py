"""Prototype of the injection head: logistic regression on the static vector and hashed character n-grams.

`python injection_head.py TRAIN.jsonl STATIC` prints, for each source left out of the training, the recall at the
threshold that gives at most 1% false positives on the benign texts of the other sources (chosen out of fold), and the
false positives that threshold makes on the source itself. Long texts are scored by windows; the worst one counts.
"""

import json
import sys
import zlib
from collections import defaultdict

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix, hstack

from static_embedder import StaticEmbedder

BUCKETS = 1 << 14
WINDOW, STRIDE = 400, 300  # characters


def windows(text):
    text = " ".join(text.split())
    return [text[i : i + WINDOW] for i in range(0, max(1, len(text) - (WINDOW - STRIDE)), STRIDE)][:12]


def ngrams(text):
    """Distinct hashed 3- to 5-grams of the lower-case text and words, unit length."""
    text = f" {text.lower()} "
    grams = {text[i : i + n] for n in (3, 4, 5) for i in range(len(text) - n + 1)} | {"w:" + w for w in text.split()}
    found = sorted({zlib.crc32(g.encode()) % BUCKETS for g in grams})
    return found, np.full(len(found), 1 / np.sqrt(max(1, len(found))), np.float32)


def features(texts, embedder, dense=3.0, sparse=3.0):
    """(n, dims + BUCKETS); the two weights set how strongly each part is shrunk by the same penalty."""
    vectors = np.stack([embedder.embed(t) for t in texts]) * dense
    columns, values, pointer = [], [], [0]
    for text in texts:
        c, v = ngrams(text)
        columns += c
        values.append(v * sparse)
        pointer.append(len(columns))
    grams = csr_matrix((np.concatenate(values), columns, pointer), shape=(len(texts), BUCKETS))
    return hstack([csr_matrix(vectors), grams]).tocsr()


def fit(x, y, weight, penalty=1.0):
    """Weighted logistic regression; the last coefficient is the constant."""
    def loss(w):
        z = x @ w[:-1] + w[-1]
        p = 1 / (1 + np.exp(-z))
        value = (weight * (np.logaddexp(0, z) - y * z)).sum() + 0.5 * penalty * (w[:-1] ** 2).sum()
        error = weight * (p - y)
        return value, np.concatenate([x.T @ error + penalty * w[:-1], [error.sum()]])

    return minimize(loss, np.zeros(x.shape[1] + 1), jac=True, method="L-BFGS-B", options={"maxiter": 120}).x


def by_text(scores, owner, n):
    out = np.full(n, -np.inf)
    np.maximum.at(out, owner, scores)
    return out


def sample_weights(label, source):
    """Every source counts with the square root of its size, both labels alike."""
    groups = defaultdict(int)
    for key in zip(label, source):
        groups[key] += 1
    w = np.array([groups[key] ** -0.5 for key in zip(label, source)])
    for value in (0, 1):
        w[label == value] *= len(label) / 2 / w[label == value].sum()
    return w


def main(path, table):
    rows = [json.loads(line) for line in open(path, encoding="utf-8")]
    embedder = StaticEmbedder(open(table, "rb").read())
    label = np.array([r["label"] for r in rows])
    source = np.array([r["source"] for r in rows])
    parts = [windows(r["text"]) for r in rows]
    owner = np.repeat(np.arange(len(rows)), [len(p) for p in parts])
    full = features([w for p in parts for w in p], embedder)
    dims = embedder.dims
    # a long attack is mostly harmless text: train on the windows, the weight of a text shared among them
    share = 1 / np.bincount(owner)[owner]

    def scores(train, x):
        mask = train[owner]
        weight = sample_weights(label[train], source[train])
        spread = np.zeros(len(rows))
        spread[train] = weight
        w = fit(x[mask], label[owner][mask], (spread[owner] * share)[mask])
        return by_text(x @ w[:-1] + w[-1], owner, len(rows))

    fold = np.random.default_rng(3).integers(0, 5, len(rows))
    for name, x in (("vector", full[:, :dims]), ("n-grams", full[:, dims:]), ("both", full)):
        inside = np.empty(len(rows))
        for f in range(5):
            inside[fold == f] = scores(fold != f, x)[fold == f]

        def threshold(mask):
            """At most 1% of the benign texts above it."""
            benign = np.sort(inside[mask & (label == 0)])
            return benign[int(np.ceil(0.99 * len(benign))) - 1] + 1e-9

        everything = np.ones(len(rows), bool)
        t = threshold(everything)
        apart = source != "bipia"
        attack = (label == 1) & apart
        print(f"\n{name}: same sources (5 folds), BIPIA apart: recall {(inside[attack] > t).mean():.3f}, "
              f"false positives {(inside[(label == 0) & apart] > t).mean():.4f}, with BIPIA "
              f"{(inside[label == 1] > t).mean():.3f}")
        recalls, false = [], []
        for s in sorted(set(source)):
            held = source == s
            out = scores(~held, x)
            t = threshold(~held)
            a, b = held & (label == 1), held & (label == 0)
            if a.any():
                recalls.append((out[a] > t).mean())
            if b.any():
                false.append((out[b] > t).mean())
            print(f"  without {s:28} recall {(out[a] > t).mean() if a.any() else float('nan'):.3f} of {a.sum():4}  "
                  f"false positives {(out[b] > t).mean() if b.any() else float('nan'):.3f} of {b.sum():4}")
        print(f"  median recall {np.median(recalls):.3f}, mean {np.mean(recalls):.3f}; mean false positives {np.mean(false):.3f}")


if __name__ == "__main__":
    main(*sys.argv[1:3])
