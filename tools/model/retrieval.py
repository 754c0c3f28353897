"""The retrieval sets, the lexical baseline, rank fusion and the measures. No model in here."""

import json
import math
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np

WORD = re.compile(r"[^\W_]+")
CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def split_name(name):
    """`HassTurnOff`, `get_user-data`, `GET /albums/{id}` -> words separated by spaces."""
    return " ".join(CAMEL.sub(" ", " ".join(WORD.findall(name))).split())


def tool_text(name, description):
    """The text that stands for a tool: its name in words, then its description unless that repeats the name."""
    words = split_name(name)
    description = description.strip()
    if not description or split_name(description).lower() == words.lower():
        return words
    return f"{words}: {description}"


@dataclass
class Query:
    text: str
    lang: str
    relevant: set


@dataclass
class RetrievalSet:
    name: str
    tools: list  # of {"id", "name", "description"}
    queries: list  # of Query
    out_of_scope: list  # of str

    @property
    def ids(self):
        return [t["id"] for t in self.tools]


def _jsonl(path):
    return [json.loads(line) for line in path.open(encoding="utf-8")] if path.exists() else []


def load_sets(root):
    sets = []
    for folder in sorted(p for p in Path(root).iterdir() if (p / "tools.jsonl").exists()):
        queries = [Query(q["text"], q["lang"], set(q["relevant"])) for q in _jsonl(folder / "queries.jsonl")]
        outside = [q["text"] for q in _jsonl(folder / "out_of_scope.jsonl")]
        sets.append(RetrievalSet(folder.name, _jsonl(folder / "tools.jsonl"), queries, outside))
    return sets


# --- BM25 -------------------------------------------------------------------------------------------------------

def lexical_terms(text):
    """Lower-case words, identifiers split; scripts without spaces as character bigrams; a light plural cut."""
    terms = []
    for word in split_name(text).lower().split():
        if any("\u0e00" <= c <= "\u0e7f" or "\u3040" <= c <= "\u9fff" or "\uac00" <= c <= "\ud7af" for c in word):
            terms += [word[i : i + 2] for i in range(max(1, len(word) - 1))]
        else:
            terms.append(word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word)
    return terms


class Bm25:
    def __init__(self, documents, k1=1.2, b=0.75):
        counts = [Counter(lexical_terms(d)) for d in documents]
        lengths = np.array([sum(c.values()) for c in counts], np.float32)
        mean = max(lengths.mean(), 1e-9)
        postings = defaultdict(list)
        for i, c in enumerate(counts):
            for term, tf in c.items():
                postings[term].append((i, tf * (k1 + 1) / (tf + k1 * (1 - b + b * lengths[i] / mean))))
        n = len(documents)
        self.size = n
        self.postings = {}
        for term, entries in postings.items():
            idf = math.log(1 + (n - len(entries) + 0.5) / (len(entries) + 0.5))
            where, weight = zip(*entries)
            self.postings[term] = (np.array(where), np.array(weight, np.float32) * idf)

    def scores(self, text):
        out = np.zeros(self.size, np.float32)
        for term in set(lexical_terms(text)):
            if term in self.postings:
                where, weight = self.postings[term]
                out[where] += weight
        return out

    def matrix(self, texts):
        return np.stack([self.scores(t) for t in texts]) if texts else np.zeros((0, self.size), np.float32)


# --- fusion -----------------------------------------------------------------------------------------------------

def ranks(scores):
    """Rank (0 best) of every column, ties by position."""
    order = np.argsort(-scores, axis=1, kind="stable")
    out = np.empty_like(order)
    np.put_along_axis(out, order, np.broadcast_to(np.arange(scores.shape[1]), scores.shape), axis=1)
    return out


def rrf(*matrices, k=60):
    return sum(1.0 / (k + 1 + ranks(m)) for m in matrices)


# --- measures ---------------------------------------------------------------------------------------------------

MEASURES = ("hit1", "r1", "r3", "r5", "r10", "mrr", "ndcg10")


def measure(scores, queries, ids):
    """One row of MEASURES per query."""
    position = {t: i for i, t in enumerate(ids)}
    rank = ranks(scores)
    rows = np.zeros((len(queries), len(MEASURES)))
    for i, q in enumerate(queries):
        r = np.sort(rank[i, [position[t] for t in q.relevant if t in position]])
        n = max(1, len(q.relevant))
        if not len(r):
            continue
        gain = sum(1 / math.log2(x + 2) for x in r if x < 10)
        ideal = sum(1 / math.log2(x + 2) for x in range(min(n, 10)))
        rows[i] = (r[0] == 0, (r < 1).sum() / n, (r < 3).sum() / n, (r < 5).sum() / n, (r < 10).sum() / n,
                   1 / (r[0] + 1), gain / ideal)
    return rows


def auroc(inside, outside):
    """Probability that a query in scope scores above one out of scope."""
    both = np.concatenate([inside, outside])
    order = both.argsort(kind="stable")
    rank = np.empty(len(both))
    rank[order] = np.arange(1, len(both) + 1)
    for v in np.unique(both[np.concatenate([[False], np.diff(np.sort(both)) == 0])]) if len(both) else []:
        rank[both == v] = rank[both == v].mean()
    n, m = len(inside), len(outside)
    return (rank[:n].sum() - n * (n + 1) / 2) / (n * m)
