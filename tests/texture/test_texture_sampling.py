# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""What kernels read through textures, compared with NumPy.

Tolerances: point sampling is exact for floats, and to 2**-20 for normalized integers. A linear filter has weights of 8
fractional bits, so each axis may add 1/256 of the range of the values. Colors from sRGB are right to half a step of
their 8 bits: hardware keeps 8 significant bits of each.
"""

import itertools

import numpy as np
import pytest

from cuda.core import LaunchConfig, LegacyPinnedMemoryResource, launch
from cuda.core.texture import ResourceDescriptor
from support.images import ELEMENTS, TYPES, array_of, run, texture_of
from support.kernels import compiled

pytestmark = pytest.mark.requires(nvrtc=True)

MODES = ("wrap", "clamp", "mirror", "border")
KERNELS = {1: "line", 2: "plane", 3: "volume"}
SHAPES = {1: (13,), 2: (7, 13), 3: (5, 7, 13)}
BORDER = (0.25, -1.0, 2.0, 0.5)
READS = 300

# Reads of textures in NumPy, by the formulas of the CUDA Programming Guide: exact weights, in double precision.

# Weights of the hardware's filter have 8 fractional bits, so each axis errs by up to STEP of neighbors' difference.
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
    """Return elements of ``values`` (z, y, x, channels) at indices (x, y, z), where -1 gives the border color."""
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
        The elements as floats: up to three axes, x last, and a channel axis.
    at : numpy.ndarray
        The coordinates, one row for each read: x, y and z, as many as there are axes.
    modes, linear, is_normalized, border
        The options of the texture: address modes by axis, linear filter, normalized coordinates, border color.
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


def values_of(shape, dtype="float32", channels=4) -> np.ndarray:
    random = np.random.default_rng(sum(shape))
    if np.dtype(dtype).kind == "f":
        return random.random((*shape, channels), dtype=np.float32).astype(dtype)
    info = np.iinfo(dtype)
    return random.integers(info.min, info.max, (*shape, channels), dtype=dtype, endpoint=True)


def coordinates(extents, seed=1) -> np.ndarray:
    """Return random coordinates in and around a texture, in elements; at least a tenth of one away from its edges."""
    random = np.random.default_rng(seed)
    whole = random.integers([-2 * n for n in extents], [3 * n for n in extents], (READS, len(extents)))
    return whole + random.uniform(0.1, 0.9, whole.shape)


@pytest.mark.parametrize("is_normalized", [False, True], ids=["elements", "normalized"])
@pytest.mark.parametrize("filter_mode", ["point", "linear"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_every_address_mode_matches_numpy(device, stream, dimensions, mode, filter_mode, is_normalized):
    values = values_of(SHAPES[dimensions])
    extents = values.shape[:-1][::-1]
    at = (coordinates(extents) / (extents if is_normalized else 1)).astype(np.float32)
    array = array_of(device, stream, values, num_channels=4)
    texture = texture_of(
        device, array, address_mode=mode, filter_mode=filter_mode, normalized_coords=is_normalized, border_color=BORDER
    )
    read = run(device, stream, KERNELS[dimensions], texture, at)
    linear = filter_mode == "linear"
    expected = sample(values, at, modes=(mode,) * 3, linear=linear, is_normalized=is_normalized, border=BORDER)
    spread = 3.0 if mode == "border" else 1.0
    tolerance = dimensions * STEP * spread if linear else 0
    assert np.abs(read - expected).max() <= tolerance


def test_axes_have_separate_modes(device, stream):
    values = values_of(SHAPES[3])
    modes = ("wrap", "border", "mirror")
    at = (coordinates((13, 7, 5)) / (13, 7, 5)).astype(np.float32)
    array = array_of(device, stream, values, num_channels=4)
    texture = texture_of(device, array, address_mode=modes, normalized_coords=True, border_color=BORDER)
    expected = sample(values, at, modes=modes, is_normalized=True, border=BORDER)
    assert (run(device, stream, "volume", texture, at) == expected.astype(np.float32)).all()


@pytest.mark.parametrize("filter_mode", ["point", "linear"])
@pytest.mark.parametrize("channels", [1, 2, 4])
@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "float16", "float32"])
def test_every_format_is_read_as_floats(device, stream, dtype, channels, filter_mode):
    values = values_of(SHAPES[2], dtype, channels)
    array = array_of(device, stream, values if channels > 1 else values[..., 0], num_channels=channels)
    texture = texture_of(device, array, read_mode="normalized_float", filter_mode=filter_mode)
    at = coordinates((13, 7)).astype(np.float32)
    read = run(device, stream, "plane", texture, at, channels)
    linear = filter_mode == "linear"
    expected = sample(normalize(values), at, linear=linear)
    spread = 2 if dtype.startswith("int") else 1
    assert np.abs(read - expected).max() <= (2 * STEP * spread if linear else 2**-20)


@pytest.mark.parametrize("suffix", ["", "_out"], ids=["returned", "written"])
@pytest.mark.parametrize("channels", [1, 2, 4])
@pytest.mark.parametrize("dtype", TYPES)
def test_every_type_is_read_unchanged(device, stream, dtype, channels, suffix):
    values = values_of((5, 9), dtype, channels)
    array = array_of(device, stream, values if channels > 1 else values[..., 0], num_channels=channels)
    texture = texture_of(device, array)
    out = LegacyPinnedMemoryResource().allocate(array.size_bytes)
    kernel = compiled(ELEMENTS).get_kernel(f"{TYPES[dtype][0]}_{channels}{suffix}")
    launch(stream, LaunchConfig(grid=5, block=9), kernel, texture, out, np.int32(9), np.int32(5))
    stream.sync()
    assert np.asarray(out).tobytes() == values.tobytes()


HALF_STEP = 0.5 / 255


def test_srgb_colors_are_converted(device, stream):
    values = values_of(SHAPES[2], "uint8")
    array = array_of(device, stream, values, num_channels=4)
    texture = texture_of(device, array, read_mode="normalized_float", srgb=True)
    at = coordinates((13, 7)).astype(np.float32)
    expected = sample(values / 255, at)
    difference = np.abs(to_srgb(run(device, stream, "plane", texture, at)) - expected)
    assert difference[:, :3].max() <= HALF_STEP
    assert difference[:, 3].max() <= 2**-20


def test_srgb_colors_are_filtered_after_their_conversion(device, stream):
    values = values_of(SHAPES[2], "uint8")
    array = array_of(device, stream, values, num_channels=4)
    texture = texture_of(device, array, read_mode="normalized_float", srgb=True, filter_mode="linear")
    at = coordinates((13, 7)).astype(np.float32)
    expected = sample(from_srgb(values / 255), at, linear=True)
    steepest = 2.4 / 1.055  # of the curve from sRGB, at 1
    tolerance = 2 * STEP + HALF_STEP * steepest
    assert np.abs(run(device, stream, "plane", texture, at) - expected).max() <= tolerance


def test_weights_of_the_filter_have_8_fractional_bits(device, stream):
    array = array_of(device, stream, np.array([0, 256], dtype=np.float32))
    texture = texture_of(device, array, filter_mode="linear")
    at = 0.5 + np.linspace(0, 1, 2000, dtype=np.float32)
    read = run(device, stream, "line", texture, at[:, None], 1)[:, 0]
    assert (read == np.round(read)).all()
    assert np.abs(read - 256 * (at - 0.5)).max() <= 1
    assert (np.diff(read) >= 0).all() and (read[0], read[-1]) == (0, 256)


def test_bits_of_the_border_color_are_read_as_integers(device, stream):
    array = array_of(device, stream, np.zeros((4, 4), dtype=np.int32))
    color = np.array([-7, 0, 0, 0], dtype=np.int32).view(np.float32)
    texture = texture_of(device, array, address_mode="border", border_color=color)
    out = LegacyPinnedMemoryResource().allocate(4 * 6 * 6)
    source = """extern "C" __global__ void read(cudaTextureObject_t t, int* out)
    { out[threadIdx.y * 6 + threadIdx.x] = tex2D<int>(t, threadIdx.x - 0.5f, threadIdx.y - 0.5f); }"""
    launch(stream, LaunchConfig(grid=1, block=(6, 6)), compiled(source).get_kernel("read"), texture, out)
    stream.sync()
    expected = np.full((6, 6), -7)
    expected[1:5, 1:5] = 0
    assert (np.asarray(out).view(np.int32).reshape(6, 6) == expected).all()


# ------------------------------------------------------------------------- memory, layers, cubes


@pytest.mark.parametrize("channels", [1, 2, 4])
def test_linear_memory_is_read_by_index(device, stream, channels):
    values = values_of((40,), "float32", channels)
    buffer = device.allocate(values.nbytes, stream=stream)
    buffer.copy_from(values, stream=stream)
    descriptor = ResourceDescriptor.from_linear(buffer, format="float32", num_channels=channels)
    texture = texture_of(device, descriptor)
    at = np.array([0, 1, 17, 39, 40, 1000, -1, -40])
    read = run(device, stream, "fetch", texture, at[:, None], channels)
    inside = (at >= 0) & (at < 40)
    assert (read[inside] == values[at[inside]]).all()
    assert (read[~inside] == 0).all()


def test_integers_of_linear_memory_are_read_as_floats(device, stream):
    values = values_of((64,), "uint8", 4)
    buffer = device.allocate(values.nbytes, stream=stream)
    buffer.copy_from(values, stream=stream)
    descriptor = ResourceDescriptor.from_linear(buffer, format="uint8", num_channels=4, size_bytes=128)
    texture = texture_of(device, descriptor, read_mode="normalized_float")
    read = run(device, stream, "fetch", texture, np.arange(64)[:, None])
    assert np.abs(read[:32] - values[:32] / 255).max() <= 2**-20
    assert (read[32:] == 0).all()


@pytest.mark.parametrize("filter_mode", ["point", "linear"])
def test_pitched_memory_is_read_by_coordinates(device, stream, filter_mode):
    values = values_of((7, 13), "float32", 1)
    pitch = 512
    rows = np.full((7, pitch // 4), np.nan, dtype=np.float32)
    rows[:, :13] = values[..., 0]
    buffer = device.allocate(rows.nbytes, stream=stream)
    buffer.copy_from(rows, stream=stream)
    descriptor = ResourceDescriptor.from_pitch2d(
        buffer, format="float32", num_channels=1, width=13, height=7, pitch_bytes=pitch
    )
    texture = texture_of(device, descriptor, filter_mode=filter_mode, address_mode="clamp")
    at = coordinates((13, 7)).astype(np.float32)
    linear = filter_mode == "linear"
    expected = sample(values, at, linear=linear)
    read = run(device, stream, "plane", texture, at, 1)
    assert np.abs(read - expected).max() <= (2 * STEP if linear else 0)


@pytest.mark.parametrize("filter_mode", ["point", "linear"])
@pytest.mark.parametrize("dimensions", [1, 2])
def test_layers_are_not_mixed(device, stream, dimensions, filter_mode):
    values = values_of((3, *SHAPES[dimensions]))
    extents = SHAPES[dimensions][::-1]
    array = array_of(device, stream, values, num_channels=4, is_layered=True)
    assert array.shape == (*extents, 3)
    texture = texture_of(device, array, filter_mode=filter_mode)
    at = coordinates(extents).astype(np.float32)
    linear = filter_mode == "linear"
    # The number of a layer is unsigned, and a number past the last layer reads the last one.
    for layer, expected_layer in ((0, 0), (1, 1), (2, 2), (-1, 2), (3, 2)):
        rows = np.zeros((READS, 4), dtype=np.float32)
        rows[:, :dimensions], rows[:, 3] = at, layer
        read = run(device, stream, "layered_line" if dimensions == 1 else "layered_plane", texture, rows)
        expected = sample(values[expected_layer], at, linear=linear)
        assert np.abs(read - expected).max() <= (dimensions * STEP if linear else 0)


def directions(count=200) -> np.ndarray:
    """Return random directions that hit the faces of a cube away from the edges of faces and of 4 by 4 elements."""
    random = np.random.default_rng(5)
    found = []
    while len(found) < count:
        direction = random.normal(size=3).astype(np.float32)
        _, s, t = face_of(direction)
        if all(0.1 < 4 * place % 1 < 0.9 for place in (s, t)):
            found.append(direction)
    return np.array(found)


@pytest.mark.parametrize("cubes", [1, 2])
def test_cube_maps_are_read_by_direction(device, stream, cubes):
    values = values_of((6 * cubes, 4, 4))
    array = array_of(device, stream, values, num_channels=4, is_cubemap=True, is_layered=cubes > 1)
    texture = texture_of(device, array, normalized_coords=True)
    at = directions()
    for cube in range(cubes):
        rows = np.concatenate([at, np.full((len(at), 1), cube)], axis=1)
        read = run(device, stream, "layered_cube" if cubes > 1 else "cube", texture, rows)
        for direction, texel in zip(at, read, strict=True):
            face, s, t = face_of(direction)
            assert (texel == values[6 * cube + face, int(4 * t), int(4 * s)]).all()


def test_cube_maps_are_filtered_within_a_face(device, stream):
    values = values_of((6, 4, 4))
    array = array_of(device, stream, values, num_channels=4, is_cubemap=True)
    texture = texture_of(device, array, filter_mode="linear", normalized_coords=True)
    at = np.array([d for d in directions(400) if all(0.2 < place < 0.8 for place in face_of(d)[1:])])
    read = run(device, stream, "cube", texture, at)
    for direction, texel in zip(at, read, strict=True):
        face, s, t = face_of(direction)
        expected = sample(values[face], np.array([[4 * s, 4 * t]]), linear=True)
        assert np.abs(texel - expected).max() <= 2 * STEP


def test_seamless_cube_maps_mix_two_faces_at_their_edge(device, stream):
    values = np.zeros((6, 4, 4), dtype=np.float32)
    values[4] = 1.0  # towards +z, which meets +x where x equals z
    array = array_of(device, stream, values, is_cubemap=True)
    edge = [[1.0, 0.1, 1.0001], [1.0001, 0.1, 1.0]]
    options = {"filter_mode": "linear", "normalized_coords": True}
    texture = texture_of(device, array, **options)
    hard = run(device, stream, "cube", texture, edge, 1)
    assert hard.ravel().tolist() == [1, 0]
    texture = texture_of(device, array, **options, seamless_cubemap=True)
    assert np.abs(run(device, stream, "cube", texture, edge, 1) - 0.5).max() <= 4 * STEP


def test_gather_returns_one_channel_of_four_neighbors(device, stream):
    values = values_of(SHAPES[2])
    array = array_of(device, stream, values, num_channels=4, is_texture_gather=True)
    at = np.array([[2.0, 3.0], [5.0, 1.0], [0.0, 0.0], [13.0, 7.0]])
    texture = texture_of(device, array)
    for channel in range(4):
        read = run(device, stream, f"gather_{channel}", texture, at)
        for (x, y), found in zip(at.astype(int), read, strict=True):
            columns, rows = np.clip([x - 1, x], 0, 12), np.clip([y - 1, y], 0, 6)
            corners = [(rows[1], columns[0]), (rows[1], columns[1]), (rows[0], columns[1]), (rows[0], columns[0])]
            assert found.tolist() == [values[corner][channel] for corner in corners]


# --------------------------------------------------------------------------------------- levels


def pyramid(device, stream, extents=(32, 16), levels=5):
    """Return a mipmapped array whose elements are the numbers of their levels."""
    mipmap = device.create_mipmapped_array(
        {"shape": extents, "format": "float32", "num_channels": 1, "num_levels": levels}
    )
    for level in range(levels):
        array = mipmap.get_level(level)
        array.copy_from(np.full(array.shape[::-1], level, dtype=np.float32), stream=stream)
    stream.sync()
    return mipmap


LEVELS = [0.0, 0.25, 0.4, 0.6, 1.0, 1.75, 2.25, 3.0, 3.9, 4.0, 7.0, -2.0]


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_levels_are_chosen_or_interpolated(device, stream, dimensions):
    mipmap = pyramid(device, stream, (32, 16, 8)[:dimensions])
    rows = [[0.5, 0.5, 0.5, level] for level in LEVELS]
    inside = np.clip(LEVELS, 0, 4)
    for mode, expected, tolerance in (("point", np.round(inside), 0), ("linear", inside, STEP)):
        texture = texture_of(
            device, mipmap, normalized_coords=True, mipmap_filter_mode=mode, max_mipmap_level_clamp=100.0
        )
        read = run(device, stream, f"{KERNELS[dimensions]}_level", texture, rows, 1)[:, 0]
        assert np.abs(read - expected).max() <= tolerance


def test_levels_are_clamped_to_their_limits(device, stream):
    mipmap = pyramid(device, stream)
    rows = [[0.5, 0.5, 0, level] for level in LEVELS]
    options = {"normalized_coords": True, "mipmap_filter_mode": "linear"}
    default = texture_of(device, mipmap, **options)
    assert (run(device, stream, "plane_level", default, rows, 1) == 0).all()
    texture = texture_of(
        device, mipmap, **options, mipmap_level_bias=0.5, min_mipmap_level_clamp=1.25, max_mipmap_level_clamp=3.5
    )
    read = run(device, stream, "plane_level", texture, rows, 1)[:, 0]
    assert np.abs(read - np.clip(np.array(LEVELS) + 0.5, 1.25, 3.5)).max() <= STEP


def test_reads_without_a_level_use_the_first(device, stream):
    texture = texture_of(device, pyramid(device, stream), normalized_coords=True, max_mipmap_level_clamp=9.0)
    assert (run(device, stream, "plane", texture, [[0.3, 0.6]], 1) == 0).all()


def test_each_level_has_its_own_elements(device, stream):
    mipmap = device.create_mipmapped_array({"shape": (16, 8), "format": "float32", "num_channels": 4, "num_levels": 3})
    levels = [values_of((8 >> level, 16 >> level)) for level in range(3)]
    for level, values in enumerate(levels):
        mipmap.get_level(level).copy_from(values, stream=stream)
    texture = texture_of(
        device, mipmap, normalized_coords=True, filter_mode="linear", address_mode="wrap", max_mipmap_level_clamp=2.0
    )
    for level, values in enumerate(levels):
        extents = values.shape[:-1][::-1]
        rows = np.zeros((READS, 4), dtype=np.float32)
        rows[:, :2], rows[:, 3] = coordinates(extents) / extents, level
        expected = sample(values, rows[:, :2], modes=("wrap",) * 3, linear=True, is_normalized=True)
        assert np.abs(run(device, stream, "plane_level", texture, rows) - expected).max() <= 2 * STEP


def steps_of(axes: int) -> list:
    """Return pairs of gradients, in elements: along the axes, across them, parallel and oblique."""
    random = np.random.default_rng(axes)
    one, two = np.eye(axes)[0], np.eye(axes)[-1]
    pairs = [
        (one, 0 * one),
        (0 * one, two),
        (one, two),
        (one, one),
        (one, -one),
        (two, 0.5 * one),
        (one + two, one - two),
    ]
    pairs += [(random.uniform(-1, 1, axes), random.uniform(-1, 1, axes)) for _ in range(40)]
    return [(scale * x, scale * y) for x, y in pairs for scale in (1.5, 4.0, 6.3)]


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_gradients_choose_the_level(device, stream, axes):
    extents = (64, 32, 16)[:axes]
    texture = texture_of(
        device, pyramid(device, stream, extents), normalized_coords=True, mipmap_filter_mode="linear",
        max_mipmap_level_clamp=9.0,
    )  # fmt: skip
    rows = np.zeros((len(steps_of(axes)), 10), dtype=np.float32)
    rows[:, :3] = 0.5
    for row, (x, y) in zip(rows, steps_of(axes), strict=True):
        row[4 : 4 + axes] = x / extents
        second = 7 if axes == 3 else 6
        row[second : second + axes] = y / extents
    expected = np.clip([level_of(x, y) for x, y in steps_of(axes)], 0, 4)
    read = run(device, stream, f"{KERNELS[axes]}_gradients", texture, rows, 1)[:, 0]
    assert np.abs(read - expected).max() <= LEVEL_STEPS


# Levels have 8 fractional bits, and the logarithm of the hardware may be wrong by as much again.
LEVEL_STEPS = 2 * STEP


def test_gradients_choose_the_level_of_a_cube(device, stream):
    """A gradient is the distance, on the face or on the next one unfolded, of the points that two directions hit."""
    mipmap = device.create_mipmapped_array(
        {"shape": (64, 64, 6), "format": "float32", "num_channels": 1, "num_levels": 6, "is_cubemap": True}
    )
    for level in range(6):
        array = mipmap.get_level(level)
        array.copy_from(np.full(array.shape[::-1], level, dtype=np.float32), stream=stream)
    texture = texture_of(
        device, mipmap, normalized_coords=True, mipmap_filter_mode="linear", max_mipmap_level_clamp=9.0
    )
    directions = [(1, 0.1, 0.2), (2, 0.2, 0.4), (0.1, 0.2, -1), (-0.3, -1.5, 0.2)]
    changes = [((0, 0.25, 0), (0, 0, 0)), ((0.25, 0, 0), (0, 0, 0)), ((0.1, 0.25, 0.1), (0.05, -0.1, 0.2))]
    rows = [[*d, 0, *x, *y] for d in directions for x, y in changes]
    expected = []
    for direction in directions:
        # Points on the face, from 0 to 1.
        where = [np.array(face_of(np.array(direction) + change)[1:]) for pair in changes for change in pair]
        here = np.array(face_of(np.array(direction))[1:])
        steps = [64 * (there - here) for there in where]
        expected += [level_of(x, y) for x, y in zip(steps[::2], steps[1::2], strict=True)]
    read = run(device, stream, "cube_gradients", texture, rows, 1)[:, 0]
    assert np.abs(read - np.clip(expected, 0, 5)).max() <= LEVEL_STEPS
    # From (1, 0.8, 0.8) to (1, 1.05, 0.8): 0.2 to the edge of the face, and 1 - 1/1.05 on the next one.
    beyond = run(device, stream, "cube_gradients", texture, [[1, 0.8, 0.8, 0, 0, 0.25, 0, 0, 0, 0]], 1)[0, 0]
    assert abs(beyond - level_of((32 * (0.2 + 1 - 1 / 1.05), 32 * (0.8 - 0.8 / 1.05)), (0, 0))) <= LEVEL_STEPS


LAYERED = {
    "line": ((32, 3), {"is_layered": True}, 3),
    "plane": ((32, 16, 3), {"is_layered": True}, 3),
    "cube": ((32, 32, 12), {"is_layered": True, "is_cubemap": True}, 2),
}


@pytest.mark.parametrize("kind", LAYERED)
def test_layers_have_levels(device, stream, kind):
    """Each element is 10 times its layer, plus its level."""
    shape, options, layers = LAYERED[kind]
    mipmap = device.create_mipmapped_array(
        {"shape": shape, "format": "float32", "num_channels": 1, "num_levels": 5, **options}
    )
    for level in range(5):
        array = mipmap.get_level(level)
        values = np.empty(array.shape[::-1], dtype=np.float32)
        values[:] = (10 * (np.arange(len(values)) * layers // len(values)) + level).reshape(
            -1, *[1] * (values.ndim - 1)
        )
        array.copy_from(values, stream=stream)
    texture = texture_of(
        device, mipmap, normalized_coords=True, mipmap_filter_mode="linear", max_mipmap_level_clamp=9.0
    )
    rows = np.zeros((4 * layers, 10), dtype=np.float32)
    rows[:, :3] = (0.5, 0.5, 0.0) if kind != "cube" else (1.0, -0.9, 0.1)
    rows[:, 3] = np.repeat(np.arange(layers), 4)
    wanted = np.tile([0.0, 1.5, 2.25, 4.0], layers)
    rows[:, 9] = wanted
    read = run(device, stream, f"layered_{kind}_level", texture, rows, 1)[:, 0]
    assert np.abs(read - (10 * rows[:, 3] + wanted)).max() <= STEP
    rows[:, 9] = 0
    # Along the first axis, or along the first axis of the +x face, where 32 elements are two units wide.
    rows[:, 5 if kind == "cube" else 4] = 2**wanted * (2 / 32 if kind == "cube" else 1 / 32)
    read = run(device, stream, f"layered_{kind}_gradients", texture, rows, 1)[:, 0]
    assert np.abs(read - (10 * rows[:, 3] + wanted)).max() <= LEVEL_STEPS


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_every_address_mode_of_a_level_matches_numpy(device, stream, dimensions, mode):
    extents = (16, 8, 4)[:dimensions]
    mipmap = device.create_mipmapped_array({"shape": extents, "format": "float32", "num_channels": 4, "num_levels": 3})
    levels = [values_of(mipmap.get_level(level).shape[::-1]) for level in range(3)]
    for level, values in enumerate(levels):
        mipmap.get_level(level).copy_from(values, stream=stream)
    texture = texture_of(
        device, mipmap, address_mode=mode, filter_mode="linear", normalized_coords=True, border_color=BORDER,
        max_mipmap_level_clamp=9.0,
    )  # fmt: skip
    for level, values in enumerate(levels):
        sizes = values.shape[:-1][::-1]
        rows = np.zeros((READS, 4), dtype=np.float32)
        rows[:, :dimensions], rows[:, 3] = coordinates(sizes) / sizes, level
        expected = sample(
            values, rows[:, :dimensions], modes=(mode,) * 3, linear=True, is_normalized=True, border=BORDER
        )
        tolerance = dimensions * STEP * (3.0 if mode == "border" else 1.0)
        assert np.abs(run(device, stream, f"{KERNELS[dimensions]}_level", texture, rows) - expected).max() <= tolerance


def test_mipmapped_textures_always_take_normalized_coordinates(device, stream):
    mipmap = device.create_mipmapped_array({"shape": (32, 16), "format": "float32", "num_channels": 1, "num_levels": 3})
    for level in range(3):
        array = mipmap.get_level(level)
        values = 100 * level + np.arange(array.shape[0]) + np.zeros(array.shape[::-1])
        array.copy_from(values.astype(np.float32), stream=stream)
    rows = [[x, 0.2, 0, level] for level in range(3) for x in (0.5, 1.0, 3.5)]
    for option in (False, True):
        texture = texture_of(device, mipmap, normalized_coords=option, max_mipmap_level_clamp=9.0)
        read = run(device, stream, "plane_level", texture, rows, 1)[:, 0]
        assert read.tolist() == [16, 31, 31, 108, 115, 115, 204, 207, 207]


def test_anisotropy_keeps_the_finer_level(device, stream):
    mipmap = pyramid(device, stream)
    rows = [[0.5, 0.5, 0, 0, 8 / 32, 0, 0, 1 / 16]]  # eight elements in one direction, and one in the other
    options = {"normalized_coords": True, "filter_mode": "linear", "mipmap_filter_mode": "linear"}
    options["max_mipmap_level_clamp"] = 9.0
    plain = run(device, stream, "plane_gradients", texture_of(device, mipmap, **options), rows, 1)[0, 0]
    finer = run(device, stream, "plane_gradients", texture_of(device, mipmap, **options, max_anisotropy=16), rows, 1)
    assert abs(plain - 3) <= 0.05
    assert finer[0, 0] <= 1


@pytest.mark.parametrize(("allowed", "used"), [(2, 2), (3, 2), (4, 4), (16, 16), (100, 16)])
def test_anisotropy_takes_the_level_of_the_shorter_gradient(device, stream, allowed, used):
    """Hardware changes the number of samples gradually, so that levels may differ by a third."""
    texture = texture_of(
        device, pyramid(device, stream, (256, 256), 9), normalized_coords=True, filter_mode="linear",
        mipmap_filter_mode="linear", max_mipmap_level_clamp=9.0, max_anisotropy=allowed,
    )  # fmt: skip
    shorter = np.array([0.25, 0.5, 1, 1.25, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8])
    rows = [[0.5, 0.5, 0, 0, 8 / 256, 0, 0, s / 256] for s in shorter]
    expected = np.maximum(np.log2(np.maximum(shorter, 8 / used)), 0)
    assert np.abs(run(device, stream, "plane_gradients", texture, rows, 1)[:, 0] - expected).max() <= 1 / 3


def test_textures_and_their_handles_are_arguments_of_kernels(device, stream):
    array = array_of(device, stream, np.full((4, 4), 5, dtype=np.float32))
    texture = texture_of(device, array)
    for argument in (texture, texture.handle, np.uint64(texture.handle)):
        assert run(device, stream, "plane", argument, [[1.5, 1.5]], 1) == 5
    texture.close()
    with pytest.raises(RuntimeError, match="TextureObject is closed"):
        run(device, stream, "plane", texture, [[1.5, 1.5]])


def test_graph_reads_the_current_contents_of_the_array(device, stream):
    array = array_of(device, stream, np.zeros((4, 4), dtype=np.float32))
    texture = texture_of(device, array)
    resource = LegacyPinnedMemoryResource()
    at, out, source = resource.allocate(40), resource.allocate(16), resource.allocate(array.size_bytes)
    np.asarray(at).view(np.float32)[:] = 1.5
    from support.images import READ

    builder = stream.create_graph_builder().begin_building()
    array.copy_from(source, stream=builder)
    kernel = compiled(READ).get_kernel("plane")
    launch(builder, LaunchConfig(grid=1, block=1), kernel, texture, at, out, np.int32(1))
    graph = builder.end_building().complete()
    for value in (2.0, 3.0):
        np.asarray(source).view(np.float32)[:] = value
        graph.launch(stream)
        stream.sync()
        assert np.asarray(out).view(np.float32)[0] == value
