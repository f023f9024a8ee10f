# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Device random number generators, their tables, and arrays of random numbers."""

from __future__ import annotations

import builtins
import ctypes
import enum
import functools
import importlib.util
import os

import numpy as np

from cuda.core.driver._array_base import ArrayBase, array_device, check_on_device, checked_dtype, stream_for
from cuda.core.driver._array_layout import checked_array_shape
from cuda.core.driver._array_object import GPUArray
from cuda.core.driver._array_transfer import copy_of
from cuda.core.driver._checks import callable_argument, checked_int
from cuda.core.driver._copies import memcpy_dtod_async
from cuda.core.driver._device_memory import mem_alloc
from cuda.core.driver._kernels import Elementwise, Operand, build_kernel
from cuda.core.driver._random_source import counter_source, mrg32k3a_powers, pseudo_source, quasi_source, xorwow_powers
from cuda.core.driver._streams import core_stream, keep_until_done

__all__ = [
    "MRG32k3aRandomNumberGenerator",
    "PhiloxRandomNumberGenerator",
    "ScrambledSobol32RandomNumberGenerator",
    "ScrambledSobol64RandomNumberGenerator",
    "Sobol32RandomNumberGenerator",
    "Sobol64RandomNumberGenerator",
    "XORWOWRandomNumberGenerator",
    "direction_vector_set",
    "generate_direction_vectors",
    "generate_scramble_constants32",
    "generate_scramble_constants64",
    "get_curand_version",
    "rand",
    "seed_getter_uniform",
    "seed_getter_unique",
]

# The number of dimensions that the library tables cover.
DIMENSIONS = 20000
_NAMES = ("libcurand.so.10", "libcurand.so")


class direction_vector_set(enum.IntEnum):
    """Sets of direction vectors: 32 or 64 bits, for plain or scrambled sequences."""

    VECTOR_32 = 101
    SCRAMBLED_VECTOR_32 = 102
    VECTOR_64 = 103
    SCRAMBLED_VECTOR_64 = 104

    def __str__(self):
        return self.name


def get_curand_version() -> tuple[int, int, int] | None:
    """Return the cuRAND version as ``(major, minor, patch)``, or None if it is not installed (``curandGetVersion``)."""
    library = load_library()
    if library is None:
        return None
    number = ctypes.c_int()
    call_curand(library.curandGetVersion, ctypes.byref(number))
    return number.value // 1000, number.value // 100 % 10, number.value % 100


def generate_direction_vectors(count: int, direction: int = direction_vector_set.VECTOR_32) -> GPUArray:
    """Return the direction vectors of the first ``count`` dimensions.

    cuRAND's table covers 20,000 dimensions and is repeated beyond that.

    Parameters
    ----------
    count : int
        The number of dimensions.
    direction : direction_vector_set, optional
        The set of vectors. Defaults to ``VECTOR_32``.

    Returns
    -------
    GPUArray
        An array of shape (count, 32) and type uint32, or (count, 64) and uint64.

    Raises
    ------
    RuntimeError
        If cuRAND is not installed.
    ValueError
        If ``count`` is less than 1, or ``direction`` is invalid.
    """
    if not isinstance(direction, direction_vector_set):
        direction = direction_vector_set(checked_int("direction", direction, 0, 1000))
    width = 64 if direction in (direction_vector_set.VECTOR_64, direction_vector_set.SCRAMBLED_VECTOR_64) else 32
    name = f"curandGetDirectionVectors{width}"
    return repeated(table(name, width, width, int(direction)), count)


def generate_scramble_constants32(count: int) -> GPUArray:
    """Return scramble constants for ``count`` dimensions as uint32. See :func:`generate_direction_vectors`."""
    return generate_scramble_constants(count, 32)


def generate_scramble_constants64(count: int) -> GPUArray:
    """Return scramble constants for ``count`` dimensions as uint64. See :func:`generate_direction_vectors`."""
    return generate_scramble_constants(count, 64)


def generate_scramble_constants(count: int, width: int) -> GPUArray:
    """Return scramble constants of 32 or 64 bits."""
    return repeated(table(f"curandGetScrambleConstants{width}", width, 1)[:, 0], count)


def repeated(rows: np.ndarray, count: int) -> GPUArray:
    count = checked_int("count", count, 1)
    first = np.ascontiguousarray(rows[:count])
    result = GPUArray((count, *first.shape[1:]), first.dtype)
    result[: len(first)].set(first)
    # Repeat the rows on the device, doubling their number with every copy. On the host, a large array takes seconds.
    done = len(first)
    row_bytes = first.nbytes // done
    while done < count:
        more = min(done, count - done)
        memcpy_dtod_async(result._address + done * row_bytes, result._address, more * row_bytes, None)
        done += more
    return result


def table(name: str, width: int, columns: int, *arguments: int) -> np.ndarray:
    """Return a cuRAND table as an array over the library's memory."""
    library = load_library()
    if library is None:
        raise builtins.RuntimeError(
            "cuRAND, which provides the tables for Sobol sequences, is not installed; "
            "run pip install nvidia-curand, or pass the vectors"
        )
    address = ctypes.c_void_p()
    call_curand(getattr(library, name), ctypes.byref(address), *arguments)
    word = ctypes.c_uint32 if width == 32 else ctypes.c_uint64
    words = ctypes.cast(address, ctypes.POINTER(word))
    return np.ctypeslib.as_array(words, (DIMENSIONS, columns))


def call_curand(function, *arguments) -> None:
    status = function(*arguments)
    if status:
        raise builtins.RuntimeError(f"{function.__name__} failed with status {status}")


@functools.cache
def load_library():
    for name in library_names():
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def library_names() -> list[str]:
    """Return the library's paths in wheels, followed by its names on the system's search path."""
    found = importlib.util.find_spec("nvidia")
    folders = [] if found is None else list(found.submodule_search_locations or ())
    # CUDA 13 wheels share the directory cu13; the CUDA 12 wheel has its own directory.
    wheels = [
        path for folder in folders for name in ("cu13", "curand") for path in [f"{folder}/{name}/lib/{_NAMES[0]}"]
    ]
    return [*(path for path in wheels if os.path.isfile(path)), *_NAMES]


_COMMON_FILLS = ("uint32", "uint64", "uniform_float", "uniform_double", "normal_float", "normal_double")
_COMMON_FILLS += ("log_normal_float", "log_normal_double")
_POISSON_FILLS = ("poisson", "poisson_each_uint", "poisson_each_float", "poisson_each_double")
_SKIPS = ("skip_far", "skip_far_array")
_UNIFORM = {
    "f4": "uniform_float",
    "f8": "uniform_double",
    "i4": "uint32",
    "u4": "uint32",
    "i8": "uint64",
    "u8": "uint64",
}
_NORMAL = {"f4": "normal_float", "f8": "normal_double"}
_POISSON_EACH = {"u4": "poisson_each_uint", "f4": "poisson_each_float", "f8": "poisson_each_double"}


# More than the number of generators on any device.
MAX_SEEDS = 2**31 - 1


def seed_getter_uniform(N: int) -> GPUArray:
    """Return ``N`` equal int32 seeds chosen by ``numpy.random``, or raise ValueError if ``N`` is negative."""
    N = checked_int("N", N, 0, MAX_SEEDS)
    return GPUArray(N, np.int32).fill(np.random.randint(0, 2**31 - 1, dtype=np.int32))


def seed_getter_unique(N: int) -> GPUArray:
    """Return ``N`` different int32 seeds chosen by ``numpy.random``, or raise ValueError if ``N`` is negative."""
    N = checked_int("N", N, 0, MAX_SEEDS)
    first = np.random.randint(0, 2**31 - 1, dtype=np.int64)
    seeds = GPUArray(N, np.int32)
    # Modulo 2**32, an odd factor maps different numbers to different numbers.
    numbers = (first + np.arange(N, dtype=np.int64)) * 0x9E3779B1 & 0xFFFFFFFF
    seeds.set(numbers.astype(np.uint32).view(np.int32))
    return seeds


class Generators:
    """Base class with the generators' states and the methods that fill arrays.

    Attributes
    ----------
    generators_per_block, block_count : int
        The number of threads per block, and the number of blocks. Each thread has a generator, so the order of the
        numbers in an array depends on both.
    state : DeviceAllocation
        The states of the generators.
    """

    generators_per_block = 128
    _fills = _COMMON_FILLS
    _kernels: dict

    def __init__(self, arch_key, source: str, state_size: int, setup):
        self._device = array_device("cuModuleLoadDataEx")
        self.block_count = max(1, min(2 * self._device.multiprocessors, 256))
        self.state = mem_alloc(self._count * state_size)
        key = ("random", arch_key)
        names = [f"random_{name}" for name in (*setup, *self._fills)]
        kernels = self._device.plans.get(key)
        if kernels is None:
            built = build_kernel(source, names, self._device.arch, self.generators_per_block, self.generators_per_block)
            kernels = self._device.plans[key] = dict(zip(names, built, strict=True))
        self._kernels = kernels

    def __repr__(self):
        return f"<{type(self).__name__} of {self._count} generators>"

    @property
    def _count(self) -> int:
        return self.block_count * self.generators_per_block

    def _launch(self, name: str, stream, *arguments, keep=()) -> None:
        check_on_device(self._device)
        inner = None if stream is None else core_stream(stream)
        kernel = self._kernels[f"random_{name}"]
        kernel.launch_blocks(inner, self.block_count, int(self.state), self._count, *arguments)
        if inner is not None:
            keep_until_done(inner, "cuLaunchKernel", self.state, *keep)

    def _fill(self, names: dict, what: str, data, stream, *arguments) -> None:
        if not isinstance(data, ArrayBase):
            raise TypeError(f"data must be a GPUArray, not {type(data).__name__}")
        name = names.get(data.dtype.str[1:])
        if name is None:
            raise NotImplementedError(f"{what} numbers of type {data.dtype} are not supported")
        data._check_open()
        if not data.size:
            return
        if not (data._is_c or data._is_f):
            staged = copy_of(data, "C", stream)
            self._fill(names, what, staged, stream, *arguments)
            data[...] = staged
            return
        check_on_device(self._device, data._device)
        stream_for(stream, data)
        self._launch(name, stream, data._address, data.size, self._table, *arguments)

    def fill_uniform(self, data, stream=None) -> None:
        """Fill an array with uniformly distributed numbers (``cuLaunchKernel``).

        Floats are in (0, 1]. Integers take all values of their type.

        Parameters
        ----------
        data : GPUArray
            The array.
        stream : Stream, optional
            The stream to enqueue the kernel on. Defaults to the default stream.

        Raises
        ------
        NotImplementedError
            If the data type is not float32, float64 or an integer of 32 or 64 bits.
        TypeError
            If ``data`` is not a GPUArray.
        LogicError
            If the array or the current context is on another device.
        """
        self._fill(_UNIFORM, "uniform", data, stream)

    def gen_uniform(self, shape, dtype, stream=None) -> GPUArray:
        """Return a new array of uniformly distributed numbers. See :meth:`fill_uniform` and :class:`GPUArray`."""
        return self._filled(self.fill_uniform, shape, dtype, stream)

    def fill_normal(self, data, stream=None) -> None:
        """Fill an array with normally distributed numbers of mean 0 and standard deviation 1.

        Parameters
        ----------
        data : GPUArray
            An array of float32 or float64.
        stream : Stream, optional
            The stream to enqueue the kernel on. Defaults to the default stream.

        Raises
        ------
        NotImplementedError
            If the data type is not supported.
        TypeError, LogicError
            As for :meth:`fill_uniform`.
        """
        self._fill(_NORMAL, "normal", data, stream)

    def gen_normal(self, shape, dtype, stream=None) -> GPUArray:
        """Return a new array of normally distributed numbers. See :meth:`fill_normal` and :class:`GPUArray`."""
        return self._filled(self.fill_normal, shape, dtype, stream)

    def fill_log_normal(self, data, mean: float, stddev: float, stream=None) -> None:
        """Fill an array with numbers whose logarithms are normally distributed.

        Parameters
        ----------
        data : GPUArray
            An array of float32 or float64.
        mean, stddev : float
            The mean and the standard deviation of the logarithms.
        stream : Stream, optional
            The stream to enqueue the kernel on. Defaults to the default stream.

        Raises
        ------
        NotImplementedError
            If the data type is not supported.
        TypeError, LogicError
            As for :meth:`fill_uniform`.
        """
        names = {key: f"log_{name}" for key, name in _NORMAL.items()}
        number = np.float32 if isinstance(data, ArrayBase) and data.dtype == np.float32 else np.float64
        self._fill(names, "log-normal", data, stream, number(mean), number(stddev))

    def gen_log_normal(self, shape, dtype, mean: float, stddev: float, stream=None) -> GPUArray:
        """Return a new array of log-normally distributed numbers. See :meth:`fill_log_normal` and :class:`GPUArray`."""
        data = GPUArray._new_result(checked_array_shape(shape), checked_dtype(dtype))
        self.fill_log_normal(data, mean, stddev, stream)
        return data

    def call_skip_ahead(self, i: int, stream=None) -> None:
        """Make each generator skip ``i`` numbers.

        Parameters
        ----------
        i : int
            The number of numbers to skip, from 0 to 2**64 - 1.
        stream : Stream, optional
            The stream to enqueue the kernel on. Defaults to the default stream.

        Raises
        ------
        TypeError, ValueError
            If ``i`` is not such an int.
        """
        self._launch("skip", stream, checked_steps(i), self._near())

    def call_skip_ahead_array(self, i, stream=None) -> None:
        """Make each generator skip as many numbers as its array element specifies.

        Parameters
        ----------
        i : GPUArray
            A contiguous array of uint32, with one element per generator.
        stream : Stream, optional
            The stream to enqueue the kernel on. Defaults to the default stream.

        Raises
        ------
        TypeError
            If ``i`` is not such an array.
        """
        self._launch("skip_array", stream, self._steps(i), self._near(), keep=(i,))

    def _steps(self, i) -> int:
        if not isinstance(i, ArrayBase) or i.dtype.str[1:] not in ("u4", "i4") or i.size != self._count or not i._is_c:
            raise TypeError(f"i must be a contiguous GPUArray of {self._count} uint32, one per generator")
        i._check_open()
        return i._address

    @staticmethod
    def _filled(fill, shape, dtype, stream) -> GPUArray:
        data = GPUArray._new_result(checked_array_shape(shape), checked_dtype(dtype))
        fill(data, stream)
        return data

    @property
    def _table(self) -> int:
        return 0


def checked_steps(steps) -> int:
    return checked_int("a number of steps", steps, 0, 2**64 - 1)


class PseudoGenerators(Generators):
    """Pseudorandom number generators with seeds.

    Parameters
    ----------
    seed_getter : callable, optional
        A function that takes the number of generators and returns their seeds as an int32 GPUArray. Defaults to
        :func:`seed_getter_uniform`. Generators with equal seeds still produce different sequences.
    offset : int, optional
        The number of numbers that each generator skips first. Defaults to 0.

    Raises
    ------
    TypeError
        If ``seed_getter`` is not callable, or returns anything else.
    LogicError
        If no context is current.

    Attributes
    ----------
    generators_per_block, block_count : int
        The number of threads per block, and the number of blocks. Each thread has a generator, so the order of the
        numbers in an array depends on both.
    state : DeviceAllocation
        The states of the generators.
    """

    _name = ""
    _state_size = 0
    _fills = (*_COMMON_FILLS, *_POISSON_FILLS)

    def __init__(self, seed_getter=None, offset: int = 0):
        setup = ("seed", "skip", "skip_array", *_SKIPS)
        super().__init__(self._name, pseudo_source(self._name), self._state_size, setup)
        self._tables: dict = {}
        offset = checked_steps(offset)
        callable_argument("seed_getter", seed_getter)
        seeds = (seed_getter_uniform if seed_getter is None else seed_getter)(self._count)
        if not isinstance(seeds, ArrayBase) or seeds.dtype != np.int32 or seeds.shape != (self._count,):
            raise TypeError(f"seed_getter must return a GPUArray of {self._count} int32")
        seeds = seeds if seeds._is_c else seeds.copy()
        near = self._near() if offset else 0
        self._launch("seed", None, seeds._address, self._seeding(), near, offset)

    def fill_poisson(self, data, lambda_value: float | None = None, stream=None) -> None:
        """Fill an array with Poisson-distributed numbers.

        Parameters
        ----------
        data : GPUArray
            An array of uint32 or, without ``lambda_value``, also of float32 or float64.
        lambda_value : float, optional
            The mean. By default, each element of ``data`` is the mean of the number that replaces it.
        stream : Stream, optional
            The stream to enqueue the kernel on. Defaults to the default stream.

        Raises
        ------
        NotImplementedError
            If the data type is not supported.
        TypeError, LogicError
            As for :meth:`fill_uniform`.
        """
        if lambda_value is None:
            self._fill(_POISSON_EACH, "Poisson", data, stream)
        else:
            self._fill({"u4": "poisson"}, "Poisson", data, stream, np.float64(lambda_value))

    def gen_poisson(self, shape, dtype, lambda_value: float, stream=None) -> GPUArray:
        """Return a new array of Poisson-distributed numbers. See :meth:`fill_poisson` and :class:`GPUArray`."""
        data = GPUArray._new_result(checked_array_shape(shape), checked_dtype(dtype))
        self.fill_poisson(data, lambda_value, stream)
        return data

    def call_skip_ahead_sequence(self, i: int, stream=None) -> None:
        """Make each generator skip ``i`` sequences, which are longer than any program consumes.

        See :meth:`call_skip_ahead` for the parameters.
        """
        self._launch("skip_far", stream, checked_steps(i), self._far())

    def call_skip_ahead_sequence_array(self, i, stream=None) -> None:
        """Make each generator skip as many sequences as its array element specifies.

        See :meth:`call_skip_ahead_array` for the parameters.
        """
        self._launch("skip_far_array", stream, self._steps(i), self._far(), keep=(i,))

    def _device_table(self, name: str, make) -> int:
        if name not in self._tables:
            words = make()
            table = self._tables[name] = GPUArray(words.shape, words.dtype)
            table.set(words)
        return self._tables[name]._address

    def _near(self) -> int:
        return 0

    def _far(self) -> int:
        return 0

    def _seeding(self) -> int:
        return 0


class XORWOWRandomNumberGenerator(PseudoGenerators):
    __doc__ = f"""Marsaglia's XORWOW: a 160-bit xorshift generator plus a sum.

    {PseudoGenerators.__doc__.partition(chr(10))[2].lstrip()}"""

    _name = "xorwow"
    _state_size = 24

    def _near(self) -> int:
        return self._device_table("near", lambda: xorwow_powers(0, 64))

    def _far(self) -> int:
        return self._device_table("far", lambda: xorwow_powers(67, 64))


class MRG32k3aRandomNumberGenerator(PseudoGenerators):
    __doc__ = f"""L'Ecuyer's MRG32k3a: each number is the difference of two recursions of degree 3.

    {PseudoGenerators.__doc__.partition(chr(10))[2].lstrip()}"""

    _name = "mrg32k3a"
    _state_size = 24

    def call_skip_ahead_subsequence(self, i: int, stream=None) -> None:
        """Make each generator skip ``i`` subsequences of 2**76 numbers.

        See :meth:`call_skip_ahead` for the parameters.
        """
        self._launch("skip_far", stream, checked_steps(i), self._seeding())

    def call_skip_ahead_subsequence_array(self, i, stream=None) -> None:
        """Make each generator skip as many subsequences of 2**76 numbers as its array element specifies.

        See :meth:`call_skip_ahead_array` for the parameters.
        """
        self._launch("skip_far_array", stream, self._steps(i), self._seeding(), keep=(i,))

    def _near(self) -> int:
        return self._device_table("near", lambda: mrg32k3a_powers(0, 64))

    def _far(self) -> int:
        return self._device_table("far", lambda: mrg32k3a_powers(127, 64))

    def _seeding(self) -> int:
        return self._device_table("seeding", lambda: mrg32k3a_powers(76, 64))


class PhiloxRandomNumberGenerator(PseudoGenerators):
    __doc__ = f"""Philox4x32-10: numbers are scrambled counters, so skipping costs nothing.

    {PseudoGenerators.__doc__.partition(chr(10))[2].lstrip()}"""

    _name = "philox"
    _state_size = 48


class QuasiGenerators(Generators):
    """Quasirandom number generators (Sobol sequences), with one dimension per generator.

    Parameters
    ----------
    dir_vector : GPUArray, optional
        The direction vectors, with one row per generator. Defaults to the vectors from cuRAND.
    offset : int, optional
        The number of numbers that each generator skips first. Defaults to 0.

    Attributes
    ----------
    generators_per_block, block_count : int
        The number of threads per block, and the number of blocks. Each thread has a generator, so the order of the
        numbers in an array depends on both.
    state : DeviceAllocation
        The states of the generators.

    Raises
    ------
    TypeError
        If ``dir_vector`` has another shape or type.
    RuntimeError
        If ``dir_vector`` is None and cuRAND is not installed.
    LogicError
        If no context is current.
    """

    _width = 32
    _vectors = direction_vector_set.VECTOR_32

    def __init__(self, dir_vector=None, offset: int = 0):
        self._begin(dir_vector, None, offset)

    def _begin(self, dir_vector, scramble, offset) -> None:
        setup = ("seed", "skip", "skip_array")
        super().__init__(f"sobol{self._width}", quasi_source(self._width), 16 if self._width == 32 else 24, setup)
        if dir_vector is None:
            dir_vector = generate_direction_vectors(self._count, self._vectors)
        self._directions = self._checked(dir_vector, (self._count, self._width), "dir_vector")
        self._scramble = None if scramble is None else self._checked(scramble, (self._count,), "scramble_vector")
        address = 0 if self._scramble is None else self._scramble._address
        self._launch("seed", None, self._directions._address, address, checked_steps(offset))

    def _checked(self, array, shape, name: str):
        dtype = np.dtype(f"u{self._width // 8}")
        if not isinstance(array, ArrayBase) or array.dtype != dtype or array.shape != shape:
            raise TypeError(f"{name} must be a GPUArray of shape {shape} and type {dtype}")
        return array if array._is_c else copy_of(array, "C")

    def _near(self) -> int:
        return self._directions._address

    @property
    def _table(self) -> int:
        return self._directions._address


class ScrambledGenerators(QuasiGenerators):
    """Scrambled quasirandom number generators (Sobol sequences), with one dimension per generator.

    Parameters
    ----------
    dir_vector : GPUArray, optional
        The direction vectors, with one row per generator. Defaults to the vectors from cuRAND.
    scramble_vector : GPUArray, optional
        The scramble constants, one per generator, which are combined with the numbers by exclusive or. Defaults to
        the constants from cuRAND.
    offset : int, optional
        The number of numbers that each generator skips first. Defaults to 0.

    Raises
    ------
    TypeError
        If ``dir_vector`` or ``scramble_vector`` has another shape or type.
    RuntimeError
        If a vector is None and cuRAND is not installed.
    LogicError
        If no context is current.

    Attributes
    ----------
    generators_per_block, block_count : int
        The number of threads per block, and the number of blocks. Each thread has a generator, so the order of the
        numbers in an array depends on both.
    state : DeviceAllocation
        The states of the generators.
    """

    def __init__(self, dir_vector=None, scramble_vector=None, offset: int = 0):
        if scramble_vector is None:
            count = max(1, min(2 * array_device().multiprocessors, 256)) * self.generators_per_block
            scramble_vector = generate_scramble_constants(count, self._width)
        self._begin(dir_vector, scramble_vector, offset)


class Sobol32RandomNumberGenerator(QuasiGenerators):
    __doc__ = QuasiGenerators.__doc__


class ScrambledSobol32RandomNumberGenerator(ScrambledGenerators):
    __doc__ = ScrambledGenerators.__doc__
    _vectors = direction_vector_set.SCRAMBLED_VECTOR_32


class Sobol64RandomNumberGenerator(QuasiGenerators):
    __doc__ = QuasiGenerators.__doc__
    _width = 64
    _vectors = direction_vector_set.VECTOR_64


class ScrambledSobol64RandomNumberGenerator(ScrambledGenerators):
    __doc__ = ScrambledGenerators.__doc__
    _width = 64
    _vectors = direction_vector_set.SCRAMBLED_VECTOR_64


# Floats are in [0, 1). All bits of integers are random.
_BODIES = {
    "f4": "r = (random_word(i, 0, p, q) >> 8) * 5.9604645e-8f",
    "f8": "r = ((random_word(i, 0, p, q) >> 5) * 67108864.0 + (random_word(i, 1, p, q) >> 6)) * 1.1102230246251565e-16",
    "i4": "r = (int)random_word(i, 0, p, q)",
    "u4": "r = random_word(i, 0, p, q)",
}


def rand(shape, dtype=np.float32, stream=None) -> GPUArray:
    """Return an array of uniformly distributed random numbers.

    Parameters
    ----------
    shape : int or sequence of int
        The array shape.
    dtype : dtype, optional
        The data type: float32 or float64 for numbers in [0, 1), or int32 or uint32 for random bits. Defaults to
        float32.
    stream : Stream, optional
        The stream to enqueue the kernel on. Defaults to the default stream.

    Raises
    ------
    NotImplementedError
        If ``dtype`` is another type.
    LogicError
        If no context is current.

    Notes
    -----
    The generator is Philox4x32-10 with a key from ``numpy.random``, so ``numpy.random.seed`` makes results
    reproducible.
    """
    dtype = checked_dtype(dtype)
    body = _BODIES.get(dtype.str[1:])
    if body is None:
        raise NotImplementedError(f"random numbers of type {dtype} are not supported")
    result = GPUArray._new_result(checked_array_shape(shape), dtype)
    if not result.size:
        return result
    device = result._device
    key = ("rand", dtype)
    kernel = device.plans.get(key)
    if kernel is None:
        word = np.dtype(np.uint32)
        inputs = [Operand("p", word, is_scalar=True), Operand("q", word, is_scalar=True)]
        kernel = Elementwise("array_rand", [Operand("r", dtype)], inputs, body, counter_source())
        device.plans[key] = kernel
    seeds = np.random.randint(0, 2**32, size=2, dtype=np.uint32)
    inner = stream_for(stream, result)
    kernel.launch(device.arch, inner, result.shape, [(result._address, result.strides)], (result._address, *seeds))
    return result


def __dir__():
    return list(__all__)
