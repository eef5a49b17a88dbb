"""The values that the clients in Python send, and the answers that they expect."""

import random
import struct

INTS = [0, 1, -1, 2**31 - 1, -(2**31)] + list(range(-300, 300, 7))


def hard_doubles(count, seed=1):
    """Finite doubles over all exponents."""
    draw = random.Random(seed)
    values = [0.0, -0.0, 5e-324, 1.7976931348623157e308, 0.1]
    while len(values) < count:
        value = struct.unpack("<d", draw.randbytes(8))[0]
        if value == value and abs(value) != float("inf"):
            values.append(value)
    return values


def bits(values):
    return [struct.pack("<d", value) for value in values]


def field():
    """A field of 4 rows and 5 columns whose first row is 1."""
    return [1.0] * 5 + [0.0] * 15


def jacobi(rows, columns, old):
    """Every inner point becomes the mean of its four neighbours; and the largest change."""
    new, residual = list(old), 0.0
    for row in range(1, rows - 1):
        for i in range(row * columns + 1, (row + 1) * columns - 1):
            new[i] = 0.25 * (old[i - columns] + old[i + columns] + old[i - 1] + old[i + 1])
            residual = max(residual, abs(new[i] - old[i]))
    return new, residual
