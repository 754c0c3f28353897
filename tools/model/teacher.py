"""What the student learns from: a sample of the corpus, and the full model's vectors for it.

`python teacher.py WHEEL CORPUS WORK [SETS]` writes to WORK
  pieces.npy   (128000, 512) f16  the full model's vector of every piece alone
  targets.npy  (K, 512) f16       its vectors of K texts: the English side of translations, and native texts
  sample.npz   rows (text, target): each text regresses on targets[target]; pairs (a, b) of related texts; `own` the text
               a target was made from; `flat`/`start` hold the piece ids of all texts
  extra.npz    piece ids and targets of the texts of retrieval sets, without their labels, if a folder of them is given
"""

import json
import random
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import sentencepiece

from corpus import ALSO, MAIN, language
from retrieval import load_sets, tool_text
from use_forward import BOS, EOS, UNK, UseModel

ENGLISH, WORDS, NATIVE, PER_SOURCE, MORE_PER_SOURCE = 80_000, 25_000, 40_000, 15_000, 60_000
PER_LANGUAGE = {**{x: 60_000 for x in MAIN}, **{x: 12_000 for x in ALSO}}
ALWAYS = ("home", "help", "appstream", "emoji")
LONGEST = 64  # pieces
UNSEEN = ("ha_intents", "banking77")  # retrieval sets kept out, to measure on


def read(paths):
    for path in paths:
        for line in open(path, encoding="utf-8"):
            yield json.loads(line)


def sample(paths, rng):
    """-> translations [(lang, en, text)], related [(a, b)] to be taught too, more related, native [text]"""
    languages, words, always = defaultdict(set), defaultdict(set), set()
    related, native = [], []
    for row in read(paths):
        source = row["source"]
        if row["kind"] == "translation":
            if row["lang"] in MAIN:
                (words if source == "dictionary" else languages)[row["en"]].add(row["lang"])
            if source in ALWAYS:
                always.add(row["en"])
        elif row["kind"] == "related":
            related.append((row["a"], row["b"], source))
        elif row["lang"] in MAIN:
            native.append((row["text"], source))

    def best(counts, n):
        keys = sorted(counts)
        rng.shuffle(keys)
        return set(sorted(keys, key=lambda k: -len(counts[k]))[:n])

    chosen = best(languages, ENGLISH) | best(words, WORDS) | set(rng.sample(sorted(always), min(len(always), 25_000)))
    by_language = defaultdict(list)
    for row in read(paths):
        if row["kind"] == "translation" and row["en"] in chosen:
            by_language[row["lang"]].append((row["lang"], row["en"], row["text"]))
    translations = []
    for lang, rows in sorted(by_language.items()):
        translations += rng.sample(rows, min(len(rows), PER_LANGUAGE[lang]))

    groups = defaultdict(list)
    for a, b, source in related:
        groups[source].append((a, b))
    pairs = [p for s, rows in sorted(groups.items()) for p in rng.sample(rows, min(len(rows), PER_SOURCE))]
    by_source = defaultdict(list)
    for text, source in native:
        by_source[source].append(text)
    texts = [t for s, rows in sorted(by_source.items()) for t in rng.sample(rows, min(len(rows), NATIVE // 4))]
    rng = random.Random(21)
    more = [p for s, rows in sorted(groups.items()) for p in rng.sample(rows, min(len(rows), MORE_PER_SOURCE))]
    return translations, pairs, more, texts


class Texts:
    """Distinct texts, numbered, as piece ids."""

    def __init__(self, tokenizer):
        self.tokenizer, self.number, self.ids = tokenizer, {}, []

    def add(self, text):
        if text not in self.number:
            self.number[text] = len(self.ids)
            self.ids.append((self.tokenizer.encode(text) or [UNK])[:LONGEST])
        return self.number[text]


def unlabelled(folder):
    """Queries in the main languages, tools and out-of-scope queries of retrieval sets: text only."""
    texts = []
    for group in load_sets(folder):
        if group.name in UNSEEN:
            continue
        texts += [q.text for q in group.queries if language(q.lang) in MAIN]
        texts += [tool_text(t["name"], t["description"]) for t in group.tools] + group.out_of_scope
    return list(dict.fromkeys(texts))


def teach_extra(model, tokenizer, folder, out):
    ids = [x or [UNK] for x in tokenizer.encode(unlabelled(folder))]
    np.savez(out, flat=np.concatenate([np.array(x, np.int32) for x in ids]),
             start=np.concatenate([[0], np.cumsum([len(x) for x in ids])]),
             targets=model.encode_many([[BOS, *x, EOS] for x in ids], 1536).astype(np.float16))


def main(wheel, corpora, work, folder=None):
    work, rng = Path(work), random.Random(20)
    model = UseModel(wheel)
    tokenizer = sentencepiece.SentencePieceProcessor(model_proto=model.pieces)
    texts = Texts(tokenizer)
    if folder:
        teach_extra(model, tokenizer, folder, work / "extra.npz")
    translations, pairs, more, native = sample(corpora, rng)
    print(f"{len(translations):,} translations, {len(more):,} related pairs, {len(native):,} native texts", flush=True)

    target_of, order = {}, []

    def target(text):
        if text not in target_of:
            target_of[text] = len(order)
            order.append(text)
        return target_of[text]

    rows = [(texts.add(text), target(en)) for _, en, text in translations]
    both = [(texts.add(a), texts.add(b)) for a, b in sorted(set(pairs + more))]
    for text in native + [t for a, b in pairs for t in (a, b)] + list(order):
        rows.append((texts.add(text), target(text)))
    lengths = np.array([len(x) for x in texts.ids])
    np.savez(work / "sample.npz", flat=np.concatenate([np.array(x, np.int32) for x in texts.ids]),
             start=np.concatenate([[0], lengths.cumsum()]), rows=np.unique(np.array(rows, np.int32), axis=0),
             pairs=np.array(both, np.int32), own=np.array([texts.number[t] for t in order], np.int32))
    if (work / "targets.npy").exists():
        return
    ids = [[BOS, *texts.ids[texts.number[t]], EOS] for t in order]
    print(f"{len(texts.ids):,} texts, {len(order):,} to be taught, {sum(map(len, ids)):,} pieces", flush=True)
    by_length = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    targets = np.empty((len(ids), 512), np.float16)
    for i in range(0, len(ids), 5000):
        part = by_length[i : i + 5000]
        targets[part] = model.encode_many([ids[j] for j in part], 1536)
        print(f"{i:,}", flush=True)
    np.save(work / "targets.npy", targets)
    if not (work / "pieces.npy").exists():
        pieces = model.encode_many([[BOS, i, EOS] for i in range(128_000)], 1536)
        np.save(work / "pieces.npy", pieces.astype(np.float16))


if __name__ == "__main__":
    main(sys.argv[1], [sys.argv[2]], *sys.argv[3:5])
