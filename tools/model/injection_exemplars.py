"""Short texts that are kept as vectors, for `injection_head.py`; see `exemplars.rs` and INJECTION.md.

A short text as a whole is compared with attacks that were seen, and with harmless texts. What is kept: all short direct
attacks of the data, harmless texts that stand for all (medoids), and those that would be taken for attacks.
"""

import struct

import numpy as np

LONGEST = 6  # windows of a short text
CLOSEST, SHARPNESS = 3, 20.0
MEDOIDS, HARD = 450, (200, 200)
FROM, FACTOR = 0.08, 20.0
ALIKE = 0.9  # harder texts than these add nothing to each other


def unit(v):
    return v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-9)


def coded(v):
    """In four bits, -7 to 7."""
    step = np.abs(v).max(1, keepdims=True) / 7 * 0.75
    return np.clip(np.round(v / np.maximum(step, 1e-9)), -7, 7).astype(np.int8)


def closeness(cosines):
    top = np.partition(cosines, -CLOSEST, 1)[:, -CLOSEST:]
    return np.log(np.exp(SHARPNESS * top).mean(1)) / SHARPNESS


class Exemplars:
    def __init__(self, data, usable):
        self.short = (lambda n: (n > 0) & (n <= LONGEST))(np.bincount(data.owner, minlength=len(data.rows)))
        self.vectors = self.whole(data)
        fit = self.short & usable
        self.attacks = np.flatnonzero(fit & (data.label == 1) & data.given & (data.form == "") & (data.source != "bipia"))
        self.harmless = self.choose(np.flatnonzero(fit & (data.label == 0)))
        chosen = np.concatenate([self.attacks, self.harmless])
        self.code = coded(self.vectors[chosen])
        self.kept = np.zeros_like(self.vectors)
        self.kept[chosen] = unit(self.code.astype(np.float32))

    @staticmethod
    def whole(data):
        """Sums of the blocks as they are written."""
        out = np.zeros((len(data.rows), data.vectors.shape[1]), np.float32)
        written = (data.flags[:, 2] == 0) & (data.flags[:, 3] == 0)
        last = written & (data.index + 1 == data.reading_windows[data.reading]) & (data.second >= 0)
        np.add.at(out, data.owner[written], data.vectors[data.first[written]])
        np.add.at(out, data.owner[last], data.vectors[data.second[last]])
        return unit(out)

    def choose(self, texts):
        rng, x = np.random.default_rng(1), self.vectors[texts]
        centres = x[rng.choice(len(texts), MEDOIDS, replace=False)]
        for _ in range(8):
            sums = np.zeros_like(centres)
            np.add.at(sums, (x @ centres.T).argmax(1), x)
            some = np.linalg.norm(sums, axis=1, keepdims=True) > 0
            centres = np.where(some, unit(sums), centres)
        near = x @ centres.T
        of, value = near.argmax(1), near.max(1)
        members = [np.flatnonzero(of == c) for c in range(MEDOIDS)]
        chosen = np.array([texts[m[value[m].argmax()]] for m in members if len(m)])
        to_attacks = self.compared(self.vectors, texts, self.vectors, self.attacks, lambda q, e: False)
        for most in HARD:
            score = to_attacks - self.compared(self.vectors, texts, self.vectors, chosen, lambda q, e: False)
            score[np.isin(texts, chosen)] = -9
            hard = []
            for i in texts[np.argsort(-score)]:
                if len(hard) == most:
                    break
                if not hard or (self.vectors[hard] @ self.vectors[i]).max() < ALIKE:
                    hard.append(i)
            chosen = np.concatenate([chosen, hard])
        return chosen

    @staticmethod
    def compared(queries, texts, kept, exemplars, hidden):
        """Closeness of texts to exemplars other than themselves, without those that are `hidden` from them."""
        out = np.empty(len(texts), np.float32)
        for at in range(0, len(texts), 1500):
            some = texts[at : at + 1500]
            cosines = queries[some] @ kept[exemplars].T
            cosines[(some[:, None] == exemplars) | hidden(some[:, None], exemplars)] = -1
            out[at : at + 1500] = closeness(cosines)
        return out

    def weights(self, hidden, queries=None):
        """What every text weighs more; `hidden(text, exemplar)` says which exemplars its head has not seen."""
        queries = self.vectors if queries is None else unit(queries)
        out, texts = np.zeros(len(self.vectors)), np.flatnonzero(self.short)
        attacks, harmless = (self.compared(queries, texts, self.kept, e, hidden) for e in (self.attacks, self.harmless))
        out[texts] = FACTOR * np.maximum(attacks - harmless - FROM, 0)
        return out

    def packed(self):
        low, high = np.split((self.code + 8).astype(np.uint8), 2, 1)
        lengths = np.linalg.norm(self.code.astype(np.float64), axis=1).astype("<f4")
        counts = struct.pack("<2I2f", len(self.attacks), len(self.harmless), FROM, FACTOR)
        return counts + lengths.tobytes() + (low | high << 4).tobytes()
