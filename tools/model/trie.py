"""A double-array trie in the layout of darts-clone, so that one reader serves SentencePiece's normaliser and our pieces.

unit (u32): bits 0..7 label, bit 8 "a value hangs below", bit 9 offset is shifted by 8, bits 10..30 offset; a value unit
has bit 31 set and the value below. A child is at (position ^ offset ^ label); a value is the child with label 0.
"""

import numpy as np


def offset_of(unit):
    return (unit >> 10) << ((unit & 0x200) >> 6)


def build(entries):
    """{non-empty bytes: value} -> u32 units. No key may contain a zero byte."""
    children, values = [[]], [None]
    index = {b"": 0}
    for key in sorted(entries):
        for k in range(1, len(key) + 1):
            if key[:k] not in index:
                index[key[:k]] = len(children)
                children[index[key[: k - 1]]].append((key[k - 1], len(children)))
                children.append([])
                values.append(None)
        values[index[key]] = entries[key]

    labels = [[0] * (v is not None) + [c for c, _ in kids] for kids, v in zip(children, values)]
    base, free = place(labels)
    units = np.zeros(len(free), np.uint32)
    position = [0] * len(children)
    for node, kids in enumerate(children):  # parents are numbered before their children
        for label, kid in kids:
            position[kid] = base[node] ^ label
    for node, value in enumerate(values):
        if labels[node]:
            unit = (base[node] ^ position[node]) << 10
            label = 0
            units[position[node]] |= unit
            if value is not None:
                units[position[node]] |= 0x100
                units[base[node]] = 0x80000000 | value
        for label, kid in children[node]:
            units[position[kid]] |= label
    last = int(np.flatnonzero(~free).max()) + 1
    return units[: -(-last // 256) * 256].copy()  # whole blocks, so that position ^ label is never out of range


def place(labels, size=1 << 20, window=2048):
    """A base for every node, so that its children's slots are free and no two nodes share a base."""
    free, unused = np.ones(size, bool), np.ones(size, bool)
    free[0] = False
    base, low, misses = [0] * len(labels), 1, 0
    for node in sorted(range(len(labels)), key=lambda n: -len(labels[n])):
        mask = labels[node]
        start = low
        while mask:
            candidates = (start + np.flatnonzero(free[start : start + window])) ^ mask[0]
            good = unused[candidates]
            for label in mask[1:]:
                good &= free[candidates ^ label]
            if good.any():
                base[node] = int(candidates[good.argmax()])
                break
            start += window
            misses += 1
            if misses > 100:  # the first window is as good as full
                low, misses = low + window // 4, 0
        if mask:
            unused[base[node]] = False
            free[base[node] ^ np.array(mask)] = False
    return base, free


def prefixes(units, data, start):
    """Yields (end, value) for every key that is a prefix of data[start:]."""
    position = offset_of(units[0])
    for end in range(start, len(data)):
        position ^= data[end]
        unit = units[position]
        if unit & 0x800000FF != data[end]:
            return
        position ^= offset_of(unit)
        if unit & 0x100:
            yield end + 1, units[position] & 0x7FFFFFFF
