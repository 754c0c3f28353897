"""The student: a text's vector is the mean of its pieces' vectors. Start from the teacher's pieces, train by gradient.

Loss of a batch of (text, target) rows, u the unit student vector and y the unit target:
  regression   1 - u.y
and of a batch of related or translated (a, b) texts:
  contrast     cross-entropy of u_a against every u_b of the batch, and the other way round
"""

import numpy as np
from scipy.sparse import csr_matrix


def unit(x):
    return x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-9)


class Bags:
    """Piece ids of many texts, and the sparse averaging matrix of a selection of them."""

    def __init__(self, flat, start):
        self.flat, self.start = flat, start

    def matrix(self, texts):
        """-> (B, U) averaging matrix over the U distinct pieces of these texts, and those pieces"""
        lengths = self.start[texts + 1] - self.start[texts]
        where = np.repeat(self.start[texts], lengths) + _ranges(lengths)
        pieces, column = np.unique(self.flat[where], return_inverse=True)
        indptr = np.concatenate([[0], lengths.cumsum()])
        weight = np.repeat((1.0 / np.maximum(lengths, 1)).astype(np.float32), lengths)
        return csr_matrix((weight, column, indptr), shape=(len(texts), len(pieces))), pieces


def _ranges(lengths):
    ends = lengths.cumsum()
    return np.arange(ends[-1]) - np.repeat(ends - lengths, lengths)


def principal(x, dims):
    """Mean and the `dims` directions of largest variance of the rows of x."""
    mean = x.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov((x - mean).T))
    order = np.argsort(-values)[:dims]
    return mean.astype(np.float32), vectors[:, order].astype(np.float32)


def starting_table(pieces, log_probability, mean, basis, a=1e-4):
    """Teacher's piece vectors: centred, weighted by a / (a + p), in the directions of `basis`."""
    centred = pieces.astype(np.float32) - pieces.astype(np.float32).mean(axis=0)
    table = (centred @ basis) * (a / (a + np.exp(log_probability)))[:, None]
    table[:6] = 0  # <unk>, <s>, </s> and reserved pieces carry no meaning
    return (table / np.sqrt((table**2).sum(axis=1).mean())).astype(np.float32)


def softmax_gradient(logits, forbidden=None):
    """Gradient of the cross-entropy with the diagonal as truth, and its value."""
    if forbidden is not None:
        logits = np.where(forbidden, -1e9, logits)
    logits = logits - logits.max(axis=1, keepdims=True)
    p = np.exp(logits)
    p /= p.sum(axis=1, keepdims=True)
    diagonal = np.arange(len(p))
    loss = -np.log(np.maximum(p[diagonal, diagonal], 1e-9)).mean()
    p[diagonal, diagonal] -= 1
    return p / len(p), loss


def through_norm(raw, u, du):
    """Gradient through u = raw / |raw|."""
    length = np.maximum(np.linalg.norm(raw, axis=1, keepdims=True), 1e-6)
    return (du - u * (u * du).sum(axis=1, keepdims=True)) / length


class Adam:
    """Adam that updates only the rows a batch touches, with a pull towards where they began."""

    def __init__(self, table, pull=0.0):
        self.table, self.origin, self.pull = table, table.copy(), pull
        self.m, self.v = np.zeros_like(table), np.zeros((len(table), 1), np.float32)
        self.steps = np.zeros((len(table), 1), np.float32)

    def step(self, rows, gradient, rate, b1=0.9, b2=0.99):
        # the second moment is per row, so that a step keeps the direction of the gradient
        self.steps[rows] += 1
        self.m[rows] = b1 * self.m[rows] + (1 - b1) * gradient
        self.v[rows] = b2 * self.v[rows] + (1 - b2) * (gradient**2).mean(axis=1, keepdims=True)
        m = self.m[rows] / (1 - b1 ** self.steps[rows])
        v = self.v[rows] / (1 - b2 ** self.steps[rows])
        self.table[rows] -= rate * (m / (np.sqrt(v) + 1e-8) + self.pull * (self.table[rows] - self.origin[rows]))


def batch_gradient(table, bags, rows, targets, a, b, regress, relate, temperature):
    """One batch: rows (R, 2) of text and target numbers, related texts a and b (P,). -> pieces, gradient, (cosine, loss)"""
    matrix, pieces = bags.matrix(np.concatenate([rows[:, 0], a, b]))
    raw = matrix @ table[pieces]
    u = unit(raw)
    n, p = len(rows), len(a)
    ua, ub = u[n : n + p], u[n + p :]
    y = targets[rows[:, 1]]
    logits = ua @ ub.T / temperature
    same = (a[:, None] == a[None, :]) | (b[:, None] == b[None, :])  # not negatives of each other
    np.fill_diagonal(same, False)
    forth, loss1 = softmax_gradient(logits, same)
    back, loss2 = softmax_gradient(logits.T, same)
    g = (forth + back.T) * (relate / (2 * temperature))
    du = np.concatenate([-regress * y / n, g @ ub, g.T @ ua])
    return pieces, matrix.T @ through_norm(raw, u, du), ((u[:n] * y).sum(axis=1).mean(), (loss1 + loss2) / 2)


def train(table, bags, rows, targets, related, own, *, steps, rate=2e-3, batch=768, translated=384, pairs=384,
          regress=1.0, relate=1.0, temperature=0.1, pull=0.0, seed=7, report=None):
    """Trains `table` in place.

    rows (R, 2): text and the number of its target; own: the text a target was made from, so that (text, own[target])
    is a translation; related (P, 2): pairs of texts.
    """
    rng = np.random.default_rng(seed)
    adam = Adam(table, pull)
    translations = np.stack([rows[:, 0], own[rows[:, 1]]], axis=1)
    translations = translations[translations[:, 0] != translations[:, 1]]
    for done in range(steps):
        both = np.concatenate([related[rng.integers(0, len(related), pairs)],
                               translations[rng.integers(0, len(translations), translated)]])
        pieces, gradient, figures = batch_gradient(
            table, bags, rows[rng.integers(0, len(rows), batch)], targets, both[:, 0], both[:, 1], regress, relate,
            temperature)
        adam.step(pieces, gradient, rate * min(1.0, (done + 1) / 50) * (1 - done / steps))
        if report:
            report(done + 1, figures, table)
    return table
