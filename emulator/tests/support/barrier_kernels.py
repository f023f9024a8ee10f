# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""NumPy versions of the kernels in ``kernels/barriers.cu``: arrays with one row per block."""

import numpy as np

BLOCKS, WIDTH = 4, 256


def truncated(x, divisor):
    """The quotient as C++ rounds it."""
    return np.sign(x) * (abs(x) // divisor)


def remainder(x, divisor):
    """The remainder with the sign of the dividend, as in C++."""
    return x - truncated(x, divisor) * divisor


def spread(column):
    return np.repeat(column, WIDTH, axis=1)


def first(x, column):
    result = np.array(x)
    result[:, :1] = column
    return result


def total(x):
    return x.sum(1, keepdims=True)


def reduce_twice(x):
    own = x - total(x)
    return first(spread(total(x)), total(remainder(own, 97)))


def some_end_early(x):
    out = np.full_like(x, -1)
    t = np.arange(0, 100, 2)
    s = x.copy()
    s[:, t] = x[:, t + 1]
    out[:, t] = s[:, t // 4 * 2]
    return out


def uniform_branches(x):
    out = 2 * x[:, np.arange(WIDTH) ^ 1]
    out[1::2] = x[1::2, ::-1]
    return out


def a_function_called_often(x):
    value = np.roll(x, -1, 1)
    for by in (2, 0, 1, 2):
        value = value + np.roll(value, -by, 1)
    value[:, 96:128] *= -1
    value = np.roll(value, -5, 1)
    value[:, 96:128] += 7
    return value


def templates_and_lambdas(x):
    for by in (4, 3, 2, 1):
        x = np.roll(x, -by, 1)
        x = np.where(x % 2, 3 * x + 1, x // 2)
    return x[:, np.arange(WIDTH) ^ 3]


def tasks_of_warps(x):
    halves = x.reshape(BLOCKS, 2, WIDTH // 2)
    return (halves + np.array([[[0], [1]]]))[:, :, ::-1].reshape(x.shape)


def histogram(x):
    out = np.zeros_like(x)
    for row, numbers in zip(out, x, strict=True):
        row[:16] = np.bincount(numbers & 15, minlength=16)
    return out


def tiles_of_warps(x):
    out = np.repeat(x.reshape(-1, 128).sum(1), 128).reshape(x.shape)
    scans = x.reshape(-1, 64).cumsum(1)
    scans[1::2] = 0
    return out + scans.reshape(x.shape)


def arrive_and_wait(x):
    for _ in range(3):
        x = x * 2 % 101 + np.roll(x, -32, 1)
    return x


def smoothing(x):
    for step in range(5):
        padded = np.pad(x, ((0, 0), (1, 1)))
        x = (padded[:, :-2] + 2 * x + padded[:, 2:]) // 4
        if step != 3:
            x = x + step
    return x


def switches(x):
    t = np.arange(WIDTH)
    x = x.copy()
    for block, row in enumerate(x):
        for k in range(6):
            case = (k + block) % 3
            if case == 0:
                row += row[t ^ 1]
            else:
                if case == 1:
                    row -= row[t ^ 64]
                row ^= k
    return x


def recursion(x):
    for depth in range(6, 0, -1):
        x = np.roll(x, -depth, 1) + depth
    return x - 6


def conditions_around(x):
    t = np.arange(WIDTH)
    odd = x % 2 == 1
    s = np.where(odd, 3 * x, x - 5)
    value = np.where(odd, s[:, t ^ 1], x + s[:, t ^ 2])
    s = np.where(odd, value, -value)
    s[:, :16] += 1
    value[:, :16] += s[:, 16:32]
    return value + s[:, t ^ 31]


def votes(x):
    out = np.empty_like(x)
    s = np.empty_like(x)
    for warp in range(BLOCKS * WIDTH // 32):
        at = np.s_[warp // 8, warp % 8 * 32 : warp % 8 * 32 + 32]
        odd = x[at] % 2 == 1
        s[at] = np.where(odd, odd.cumsum() - 1, (~odd).sum())
        value = np.where(odd, s[at], x[at])
        out[at] = value + (value == 7).any() + 2 * (value >= 0).all()
    return out + np.roll(s, -32, 1)


EXPECTED = {
    "reduce": lambda x: first(0 * x, total(x)),
    "reduce_and_tell": lambda x: spread(total(x)),
    "reduce_twice": reduce_twice,
    "tree": lambda x: spread(x.max(1, keepdims=True)),
    "scan_with_two_buffers": lambda x: x.cumsum(1),
    "scan_up_and_down": lambda x: x.cumsum(1) - x,
    "scan_by_warps": lambda x: x.cumsum(1),
    "some_end_early": some_end_early,
    "uniform_branches": uniform_branches,
    "a_function_called_often": a_function_called_often,
    "templates_and_lambdas": templates_and_lambdas,
    "bitonic_sort": lambda x: np.sort(x, 1),
    "odd_even_sort": lambda x: np.sort(x, 1),
    "tasks_of_warps": tasks_of_warps,
    "histogram": histogram,
    "transpose": lambda x: x.reshape(-1, 16, 16).transpose(0, 2, 1).reshape(x.shape),
    "reduce_by_tiles": lambda x: spread(total(x)),
    "tiles_of_warps": tiles_of_warps,
    "arrive_and_wait": arrive_and_wait,
    "smoothing": smoothing,
    "switches": switches,
    "recursion": recursion,
    "conditions_around": conditions_around,
    "votes": votes,
}


def numbers():
    """The input: small, and the same every time."""
    return np.random.default_rng(9).integers(0, 500, (BLOCKS, WIDTH)).astype(np.int32)
