# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Texture reads in NumPy, by the formulas of the CUDA Programming Guide: exact weights, in double precision."""

from __future__ import annotations

import itertools

import numpy as np

# Weights of the hardware's filter have 8 fractional bits, so each axis errs by up to STEP of neighbours' difference.
STEP = 1 / 256

DIVISORS = {"uint8": 255, "int8": 127, "uint16": 65535, "int16": 32767}


def normalize(values: np.ndarray) -> np.ndarray:
    """Return integers of 8 and 16 bits as floats in [0, 1] or [-1, 1], and floats as they are."""
    divisor = DIVISORS.get(values.dtype.name)
    return values.astype(np.float64) if divisor is None else np.maximum(values / divisor, -1.0)


def from_srgb(values: np.ndarray) -> np.ndarray:
    """Return linear intensities for sRGB ones; the fourth channel stays."""
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    return np.concatenate([linear[..., :3], values[..., 3:]], axis=-1)


def to_srgb(values: np.ndarray) -> np.ndarray:
    """Return sRGB intensities for linear ones; the fourth channel stays."""
    values = values.astype(np.float64)
    encoded = np.where(values <= 0.0031308, values * 12.92, 1.055 * np.maximum(values, 0) ** (1 / 2.4) - 0.055)
    return np.concatenate([encoded[..., :3], values[..., 3:]], axis=-1)


def resolve(index: np.ndarray, extent: int, mode: str, is_normalized: bool) -> np.ndarray:
    """Return valid indices for ones that may be out of range, by the address mode; -1 stands for the border."""
    if mode == "border":
        return np.where((index >= 0) & (index < extent), index, -1)
    if mode == "wrap" and is_normalized:
        return index % extent
    if mode == "mirror" and is_normalized:
        place = index % (2 * extent)
        return np.where(place < extent, place, 2 * extent - 1 - place)
    return np.clip(index, 0, extent - 1)


def take(values: np.ndarray, places: list[np.ndarray], border) -> np.ndarray:
    """Return elements of ``values`` (z, y, x, channels) at indices (x, y, z), where -1 gives the border colour."""
    found = values[tuple(np.maximum(place, 0) for place in reversed(places))]
    outside = np.logical_or.reduce([place < 0 for place in places])
    return np.where(outside[:, None], np.broadcast_to(border, found.shape), found)


def sample(
    values: np.ndarray, at: np.ndarray, *, modes=("clamp",) * 3, linear=False, is_normalized=False, border=0.0
) -> np.ndarray:
    """Return what reads of a texture return.

    Parameters
    ----------
    values : numpy.ndarray
        The elements as floats: up to three axes, that of x last, and one of channels.
    at : numpy.ndarray
        The coordinates, one row for each read: x, y and z, as many as there are axes.
    modes, linear, is_normalized, border
        The options of the texture: address modes by axis, linear filter, normalized coordinates, border colour.
    """
    extents = values.shape[:-1][::-1]
    places = at.astype(np.float64) * (extents if is_normalized else 1)
    if not linear:
        found = [resolve(np.floor(places[:, i]).astype(int), n, modes[i], is_normalized) for i, n in enumerate(extents)]
        return take(values, found, border)
    places = places - 0.5
    first = np.floor(places).astype(int)
    weight = places - first
    result = np.zeros((len(at), values.shape[-1]))
    for corner in itertools.product((0, 1), repeat=len(extents)):
        found = [resolve(first[:, i] + c, extents[i], modes[i], is_normalized) for i, c in enumerate(corner)]
        share = np.prod([weight[:, i] if c else 1 - weight[:, i] for i, c in enumerate(corner)], axis=0)
        result += share[:, None] * take(values, found, border)
    return result


def level_of(x, y) -> float:
    """Return the mipmap level for two gradients, in elements, as an H200 computes it.

    An H200 approximates the length of a vector: the longest component, plus 11/32 of the second and 1/4 of the third.
    The level follows from the longest of both gradients and their scaled sum and difference, instead of the longer axis
    of their ellipse.
    """
    x, y = np.asarray(x, float), np.asarray(y, float)
    return float(np.log2(max(_length(x), _length(y), 11 / 16 * _length(x + y), 11 / 16 * _length(x - y))))


def _length(step: np.ndarray) -> float:
    parts = np.sort(np.abs(step))[::-1]
    return float(parts @ [1, 11 / 32, 1 / 4][: len(parts)])


def face_of(direction: np.ndarray) -> tuple[int, float, float]:
    """Return the face of a cube that a direction hits, and the two coordinates on it, from 0 to 1."""
    x, y, z = direction
    axis = int(np.argmax(np.abs(direction)))
    major = abs(direction[axis])
    if axis == 0:
        face, s, t = (0, -z, -y) if x > 0 else (1, z, -y)
    elif axis == 1:
        face, s, t = (2, x, z) if y > 0 else (3, x, -z)
    else:
        face, s, t = (4, x, -y) if z > 0 else (5, -x, -y)
    return face, (s / major + 1) / 2, (t / major + 1) / 2
