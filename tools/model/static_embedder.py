"""Reference reader of the static table (FORMAT.md): text -> pieces -> mean of their vectors. numpy only.

Written to be followed line by line by the Rust reader, not to be fast.
"""

import struct
import sys

import numpy as np

from trie import prefixes

MAGIC = b"FWSTATIC"
HEADER = struct.Struct("<8sIIIIffII32s")  # then SECTIONS x (u32 offset, u32 bytes)
SECTIONS = ("trie", "scores", "norm_trie", "norm_text", "levels", "gains", "scales", "codes")
SPACE = "\u2581".encode()  # the visible space of SentencePiece


class CorruptModel(ValueError):
    pass


class StaticEmbedder:
    def __init__(self, data, verify=True):
        if len(data) < HEADER.size + 8 * len(SECTIONS) or data[:8] != MAGIC:
            raise CorruptModel("not a static table")
        (_, self.version, self.dims, self.pieces, self.bits, self.score_low, self.score_step, self.longest, body,
         digest) = HEADER.unpack_from(data)
        if self.version != 1:
            raise CorruptModel(f"version {self.version} is not known")
        if verify:
            from blake3 import blake3

            if blake3(data[body:]).digest() != digest:
                raise CorruptModel("the content does not match its hash")
        part = {}
        for i, name in enumerate(SECTIONS):
            offset, length = struct.unpack_from("<II", data, HEADER.size + 8 * i)
            part[name] = memoryview(data)[offset : offset + length]
        self.trie = np.frombuffer(part["trie"], "<u4").tolist()
        self.scores = np.frombuffer(part["scores"], "<u2")
        self.norm_trie = np.frombuffer(part["norm_trie"], "<u4").tolist()
        self.norm_text = bytes(part["norm_text"])
        self.levels = np.frombuffer(part["levels"], "<f4")
        self.gains = np.frombuffer(part["gains"], "<f4")
        self.scales = np.frombuffer(part["scales"], "<f2")
        self.codes = np.frombuffer(part["codes"], "u1").reshape(self.pieces, -1)
        # an unknown character costs 10 more than the rarest piece
        self.unknown = self.score_low - 10.0

    # --- text to bytes ---------------------------------------------------------------------------------------

    def normalise(self, text):
        """nmt_nfkc by the longest match at each place; runs of spaces become one visible space; one in front."""
        raw = text.encode("utf-8")
        out, place, after_space = bytearray(), 0, True
        while place < len(raw):
            best = None
            for end, value in prefixes(self.norm_trie, raw, place):
                best = (end, value)
            if best:
                place, value = best
                piece = self.norm_text[value : self.norm_text.index(b"\0", value)]
            else:
                first = raw[place]
                width = 1 if first < 0x80 else 2 if first < 0xE0 else 3 if first < 0xF0 else 4
                piece = raw[place : place + width]
                place += width
            for byte in piece:
                if byte != 0x20:
                    if after_space:
                        out += SPACE
                    out.append(byte)
                    after_space = False
                else:
                    after_space = True
        return bytes(out)

    # --- bytes to pieces -------------------------------------------------------------------------------------

    def tokenise(self, text):
        """The most probable segmentation; an earlier start wins a tie. Unknown characters are piece 0."""
        data = self.normalise(text)
        best = [float("-inf")] * (len(data) + 1)
        best[0] = 0.0
        came = [(0, 0)] * (len(data) + 1)
        for start in range(len(data)):
            if data[start] & 0xC0 == 0x80:
                continue  # inside a character
            width = 1 if data[start] < 0x80 else 2 if data[start] < 0xE0 else 3 if data[start] < 0xF0 else 4
            single = False
            for end, piece in prefixes(self.trie, data, start):
                single |= end == start + width
                score = best[start] + self.score_low + self.score_step * int(self.scores[piece])
                if score > best[end]:
                    best[end], came[end] = score, (start, piece)
            if not single and best[start] + self.unknown > best[start + width]:
                best[start + width], came[start + width] = best[start] + self.unknown, (start, 0)
        pieces, place = [], len(data)
        while place:
            place, piece = came[place]
            pieces.append(piece)
        return pieces[::-1]

    # --- pieces to a vector ----------------------------------------------------------------------------------

    def rows(self, pieces):
        """(n,) -> (n, dims): level[code] * scale of the row. Codes are packed lowest bit first."""
        bits = np.unpackbits(self.codes[np.asarray(pieces, np.int64)], axis=1, bitorder="little")
        codes = bits[:, : self.dims * self.bits].reshape(len(pieces), self.dims, self.bits) @ (1 << np.arange(self.bits))
        return self.levels[codes] * self.scales[pieces].astype(np.float32)[:, None]

    def embed(self, text):
        """Unit vector, or zeros where no piece is known."""
        pieces = [p for p in self.tokenise(text) if p]
        if not pieces:
            return np.zeros(self.dims, np.float32)
        summed = self.rows(pieces).sum(axis=0) * self.gains
        length = np.sqrt((summed * summed).sum())
        return summed / length if length > 0 else summed


if __name__ == "__main__":
    embedder = StaticEmbedder(open(sys.argv[1], "rb").read())
    for text in sys.argv[2:]:
        print(embedder.tokenise(text), embedder.embed(text)[:8])
