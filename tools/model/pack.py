"""Quantises a trained table and writes it with its vocabulary in one file (FORMAT.md).

`python pack.py WHEEL TABLE.npy OUT [--bits 3]`
"""

import argparse
import struct

import numpy as np
import sentencepiece
from blake3 import blake3

import trie
from static_embedder import HEADER, MAGIC, SECTIONS
from use_forward import UseModel

ALIGN = 64


def rotate_to_principal(table, weight):
    """Rotation after which the dimensions are uncorrelated over running text; dot products do not change."""
    values, vectors = np.linalg.eigh((table * weight[:, None]).T @ table)
    return table @ vectors[:, np.argsort(-values)]


def lloyd_max(sample, bits, rounds=40):
    """The levels of least squared error for this sample."""
    levels = np.quantile(sample, (np.arange(2**bits) + 0.5) / 2**bits)
    for _ in range(rounds):
        nearest = np.searchsorted((levels[1:] + levels[:-1]) / 2, sample)
        total = np.bincount(nearest, sample, 2**bits)
        levels = total / np.maximum(np.bincount(nearest, minlength=2**bits), 1)
    return levels.astype(np.float32)


def quantise(table, bits, rounds=3):
    """-> codes (V, D) u8, levels (2^bits,) f32, gains (D,) f32, scales (V,) f16.

    row = levels[code] * scale * gain. Gains take out what dimensions differ by, scales what rows differ by.
    """
    gains = np.sqrt((table**2).mean(axis=0)).astype(np.float32)
    flat = table / gains
    scales = np.maximum(np.sqrt((flat**2).mean(axis=1)), 1e-6).astype(np.float32)
    sample = (flat / scales[:, None])[6::17].ravel()
    levels = lloyd_max(sample, bits)
    edges = (levels[1:] + levels[:-1]) / 2
    codes = np.zeros(table.shape, np.uint8)
    for _ in range(rounds):
        codes = np.searchsorted(edges, flat / scales[:, None]).astype(np.uint8)
        chosen = levels[codes]
        scales = np.maximum((flat * chosen).sum(axis=1) / (chosen**2).sum(axis=1), 1e-6)  # least squares
    scales = scales.astype(np.float16)
    scales[:6] = 0
    return codes, levels, gains, scales


def dequantise(codes, levels, gains, scales):
    return levels[codes] * scales.astype(np.float32)[:, None] * gains


def pack_bits(codes, bits):
    """Row by row, lowest bit of the first code first."""
    spread = ((codes[:, :, None] >> np.arange(bits)) & 1).astype(np.uint8)
    return np.packbits(spread.reshape(len(codes), -1), axis=1, bitorder="little")


def fields(message):
    """(number, value) of a protobuf message, only as far as a SentencePiece model needs it."""
    def varint(i):
        value = shift = 0
        while True:
            value |= (message[i] & 0x7F) << shift
            shift += 7
            i += 1
            if message[i - 1] < 0x80:
                return value, i

    i = 0
    while i < len(message):
        key, i = varint(i)
        if key & 7 == 0:
            value, i = varint(i)
        else:
            size, i = (4, i) if key & 7 == 5 else (8, i) if key & 7 == 1 else varint(i)
            value, i = message[i : i + size], i + size
        yield key >> 3, value


def normaliser(pieces):
    """The two parts of SentencePiece's compiled nmt_nfkc map: trie units and replacement texts."""
    specification = next(value for number, value in fields(pieces) if number == 3)
    compiled = next(value for number, value in fields(specification) if number == 2)
    (size,) = struct.unpack_from("<I", compiled)
    return np.frombuffer(compiled[4 : 4 + size], "<u4"), compiled[4 + size :]


def write(path, pieces, table, bits):
    processor = sentencepiece.SentencePieceProcessor(model_proto=pieces)
    count = processor.vocab_size()
    names = [processor.id_to_piece(i).encode() for i in range(count)]
    scores = np.array([processor.get_score(i) for i in range(count)], np.float64)
    low = float(np.float32(scores[6:].min()))
    step = float(np.float32(-low / 65535))
    norm_trie, norm_text = normaliser(pieces)
    codes, levels, gains, scales = quantise(table, bits)
    parts = {
        "trie": trie.build({name: i for i, name in enumerate(names) if i >= 6}).astype("<u4").tobytes(),
        "scores": np.clip(np.round((scores - low) / step), 0, 65535).astype("<u2").tobytes(),
        "norm_trie": norm_trie.astype("<u4").tobytes(),
        "norm_text": norm_text,
        "levels": levels.astype("<f4").tobytes(),
        "gains": gains.astype("<f4").tobytes(),
        "scales": scales.astype("<f2").tobytes(),
        "codes": pack_bits(codes, bits).tobytes(),
    }
    body_start = -(-(HEADER.size + 8 * len(SECTIONS)) // ALIGN) * ALIGN
    body, table_of_sections = bytearray(), b""
    for name in SECTIONS:
        body += b"\0" * (-len(body) % ALIGN)
        table_of_sections += struct.pack("<II", body_start + len(body), len(parts[name]))
        body += parts[name]
    header = HEADER.pack(MAGIC, 1, table.shape[1], count, bits, low, step, max(map(len, names)), body_start,
                         blake3(bytes(body)).digest())
    with open(path, "wb") as out:
        out.write((header + table_of_sections).ljust(body_start, b"\0") + body)
    return {name: len(part) for name, part in parts.items()}


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("wheel")
    arguments.add_argument("table")
    arguments.add_argument("out")
    arguments.add_argument("--bits", type=int, default=3)
    options = arguments.parse_args()
    sizes = write(options.out, UseModel(options.wheel).pieces, np.load(options.table), options.bits)
    print(sizes, "total", sum(sizes.values()))


if __name__ == "__main__":
    main()
