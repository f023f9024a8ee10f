# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Compares a kernel with a NumPy function, on shapes at which kernels tend to fail."""

import ctypes
import functools
import inspect
import math
import sys

import numpy as np

_PADDING = 256  # elements on each side of an array, on a GPU
_TAILS = (1, 2, 31, 32, 33, 127, 128, 129, 1000)


def check(library, kernel, reference, shapes, dtypes, config, arguments, strided, rtol, atol, orders, seed):
    """Implement :func:`cuda.emulator.check`; ``library`` is that of the software device, or None on a GPU."""
    rng = np.random.default_rng(seed)
    count = _input_count(reference)
    dtypes = [np.dtype(dtype) for dtype in (dtypes if isinstance(dtypes, (list, tuple)) else [dtypes] * count)]
    if len(dtypes) != count:
        raise ValueError(f"dtypes has {len(dtypes)} elements, and the reference has {count} parameters")
    config = config or _default_config
    arguments = arguments or _default_arguments
    for shape in _all_shapes(shapes, rng):
        inputs = [_random_array(rng, shape, dtype) for dtype in dtypes]
        expected = reference(*(array.copy() for array in inputs))
        expected = [np.asarray(array) for array in (expected if isinstance(expected, tuple) else (expected,))]
        for order in range(1, orders + 1 if library else 2):
            where = f"shape {shape}, seed {seed}, order {order}"
            try:
                results = _run(library, kernel, inputs, expected, shape, config, arguments, strided, order)
            except Exception as error:
                if type(error).__name__ not in ("LaunchError", "CUDAError"):
                    raise
                raise AssertionError(f"the kernel fails for {where}: {error}") from error
            for number, (result, wanted) in enumerate(zip(results, [*inputs, *expected], strict=True)):
                is_input = number < count
                what = f"input {number}" if is_input else f"output {number - count}"
                _compare(result, wanted, what, where, *((0, 0) if is_input else (rtol, atol)))


def _input_count(reference):
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(reference).parameters.values()
    return sum(parameter.kind in kinds and parameter.default is parameter.empty for parameter in parameters)


def _all_shapes(shapes, rng):
    """Return the shapes to test, where an int is a number of dimensions."""
    if not isinstance(shapes, int):
        return [tuple(shape) if isinstance(shape, (list, tuple)) else (shape,) for shape in shapes]
    if shapes == 1:
        return [(size,) for size in (*_TAILS, *rng.integers(2, 5000, 3).tolist())]
    pool = [size for size in _TAILS if size < 200]
    return [(1,) * shapes, *(tuple(rng.choice(pool, shapes).tolist()) for _ in range(9))]


def _random_array(rng, shape, dtype):
    if dtype.kind == "f":
        return rng.standard_normal(shape).astype(dtype)
    if dtype.kind == "c":
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        return rng.integers(0 if dtype.kind == "u" else -100, 100, shape).astype(dtype)
    raise TypeError(f"arrays of {dtype} cannot be generated")


def _core():
    """Return the ``cuda.core`` that the kernel comes from, the official package or another."""
    return sys.modules["cuda.core"]


@functools.cache
def _driver():
    return ctypes.CDLL("libcuda.so.1")


def _call(name, *arguments):
    result = getattr(_driver(), name)(*arguments)
    if result:
        raise RuntimeError(f"{name} returned {result}")


def _default_config(shape):
    return _core().LaunchConfig(grid=max(1, -(-math.prod(shape) // 128)), block=128)


def _default_arguments(inputs, outputs, shape, strides=()):
    return *inputs, *outputs, *map(np.int32, shape), *(np.int32(step) for steps in strides for step in steps)


def _poison(dtype):
    """Return the element that fills padding and outputs: NaN, or a value that is unlikely to be right."""
    return np.frombuffer(b"\x7f" + b"\xa5" * (dtype.itemsize - 1), dtype) if dtype.kind not in "fc" else np.nan


class _DeviceArray:
    """An array on the device. A GPU does not check accesses, so padding there shows those beside the array."""

    def __init__(self, array, filled, strided, padding):
        self.padding = padding
        # A strided array has every other element of rows with an odd number of elements.
        step = 2 if strided and array.ndim else 1
        rows = (*array.shape[:-1], 2 * array.shape[-1] + 1) if step == 2 else array.shape
        self.host = np.empty(math.prod(rows) + 2 * self.padding, array.dtype)
        self.inside = self.host[self.padding : self.padding + math.prod(rows)].reshape(rows)
        if step == 2:
            self.inside = self.inside[..., :-1:2]
        self.host[...] = _poison(array.dtype)
        if filled:
            self.inside[...] = array
        self.before, self.before_inside = self.host.tobytes(), self.inside.copy()
        self.size = ctypes.c_size_t(self.host.nbytes)
        self.memory = ctypes.c_uint64()
        _call("cuMemAlloc_v2", ctypes.byref(self.memory), ctypes.c_size_t(max(1, self.host.nbytes)))
        if self.host.nbytes:
            _call("cuMemcpyHtoD_v2", self.memory, ctypes.c_void_p(self.host.ctypes.data), self.size)
            _call("cuCtxSynchronize")  # the stream of the kernel does not wait for this copy

    @property
    def pointer(self):
        return self.memory.value + self.padding * self.host.itemsize

    @property
    def strides(self):
        return tuple(stride // self.host.itemsize for stride in self.inside.strides)

    def read(self):
        if self.host.nbytes:
            _call("cuMemcpyDtoH_v2", ctypes.c_void_p(self.host.ctypes.data), self.memory, self.size)
        result = self.inside.copy()
        self.inside[...] = self.before_inside
        if self.host.tobytes() != self.before:
            raise AssertionError("the kernel wrote beside an array")
        return result

    def free(self):
        _driver().cuMemFree_v2(self.memory)  # fails if a fault of the kernel has ended the context of a GPU


def _run(library, kernel, inputs, expected, shape, config, arguments, strided, order):
    """Run the kernel, and return copies of its inputs and outputs after it."""
    core, arrays = _core(), []
    device = core.Device()
    device.set_current()
    stream = device.create_stream()
    try:
        for number, array in enumerate([*inputs, *expected]):
            arrays.append(_DeviceArray(array, number < len(inputs), strided, 0 if library else _PADDING))
        pointers = [array.pointer for array in arrays]
        chosen = config(shape) if callable(config) else config
        strides = [[array.strides for array in arrays]] if strided else []
        given = arguments(pointers[: len(inputs)], pointers[len(inputs) :], shape, *strides)
        if library:
            library.emulator_shuffle(1, order)
        core.launch(stream, chosen, kernel, *given)
        stream.sync()
        return [array.read() for array in arrays]
    except Exception:
        if library:
            library.emulator_recover(1000)  # so that the stream can be closed and memory freed
        raise
    finally:
        if library:
            library.emulator_shuffle(0, 0)
        for array in arrays:
            array.free()
        stream.close()


def _compare(result, wanted, what, where, rtol, atol):
    same = (
        np.isclose(result, wanted, rtol=rtol, atol=atol, equal_nan=True)
        if wanted.dtype.kind in "fc"
        else result == wanted
    )
    if np.all(same):
        return
    bad = np.argwhere(~np.asarray(same))
    index = tuple(bad[0].tolist())
    verb = "is changed" if what.startswith("input") else "is wrong"
    raise AssertionError(
        f"{what} {verb} for {where}: {len(bad)} of {wanted.size} elements, first at {index}: "
        f"{result[index]} instead of {wanted[index]}"
    )
