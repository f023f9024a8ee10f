# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Random number generators on the device, one for each thread, which fill arrays."""

from __future__ import annotations

import numpy as np

from cuda.core.driver._array_base import ArrayBase, array_device, check_device, checked_dtype, stream_for
from cuda.core.driver._array_layout import checked_shape
from cuda.core.driver._array_object import GPUArray
from cuda.core.driver._array_transfer import copy_of
from cuda.core.driver._checks import callable_argument, whole
from cuda.core.driver._device_memory import mem_alloc
from cuda.core.driver._kernels import build_kernel
from cuda.core.driver._random._tables import (
    direction_vector_set,
    generate_direction_vectors,
    generate_scramble_constants,
)
from cuda.core.driver._random_source import mrg32k3a_powers, pseudo_source, quasi_source, xorwow_powers
from cuda.core.driver._streams import keep_until_done, stream_of

__all__ = [
    "MRG32k3aRandomNumberGenerator",
    "PhiloxRandomNumberGenerator",
    "ScrambledSobol32RandomNumberGenerator",
    "ScrambledSobol64RandomNumberGenerator",
    "Sobol32RandomNumberGenerator",
    "Sobol64RandomNumberGenerator",
    "XORWOWRandomNumberGenerator",
    "seed_getter_uniform",
    "seed_getter_unique",
]

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


# More than any device has generators.
MAX_SEEDS = 2**31 - 1


def seed_getter_uniform(N: int) -> GPUArray:
    """Return ``N`` equal seeds, chosen by ``numpy.random``."""
    N = whole("N", N, 0, MAX_SEEDS)
    return GPUArray(N, np.int32).fill(np.random.randint(0, 2**31 - 1, dtype=np.int32))


def seed_getter_unique(N: int) -> GPUArray:
    """Return ``N`` different seeds, chosen by ``numpy.random``."""
    N = whole("N", N, 0, MAX_SEEDS)
    first = np.random.randint(0, 2**31 - 1, dtype=np.int64)
    seeds = GPUArray(N, np.int32)
    # An odd factor maps different numbers to different numbers.
    numbers = (first + np.arange(N, dtype=np.int64)) * 0x9E3779B1 & 0xFFFFFFFF
    seeds.set(numbers.astype(np.uint32).view(np.int32))
    return seeds


class Generators:
    """Base class: the states of the generators, and methods that fill arrays.

    Attributes
    ----------
    generators_per_block, block_count : int
        The number of threads of a block, and of blocks; each thread has a generator. The order of the numbers in an
        array depends on both.
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
        check_device(self._device)
        inner = None if stream is None else stream_of(stream)
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
        check_device(self._device, data._device)
        stream_for(stream, data)
        self._launch(name, stream, data._address, data.size, self._table, *arguments)

    def fill_uniform(self, data, stream=None) -> None:
        """Fill an array with uniformly distributed numbers: in (0, 1] for floats, all values for integers.

        Parameters
        ----------
        data : GPUArray
            The array.
        stream : Stream, optional
            The stream on which the kernel is enqueued. If None, the default stream.

        Raises
        ------
        NotImplementedError
            If the data type of the array is not supported.
        """
        self._fill(_UNIFORM, "uniform", data, stream)

    def gen_uniform(self, shape, dtype, stream=None) -> GPUArray:
        """Return a new array of uniformly distributed numbers; see :meth:`fill_uniform`."""
        return self._filled(self.fill_uniform, shape, dtype, stream)

    def fill_normal(self, data, stream=None) -> None:
        """Fill an array of float32 or float64 with normally distributed numbers of mean 0 and standard deviation 1."""
        self._fill(_NORMAL, "normal", data, stream)

    def gen_normal(self, shape, dtype, stream=None) -> GPUArray:
        """Return a new array of normally distributed numbers; see :meth:`fill_normal`."""
        return self._filled(self.fill_normal, shape, dtype, stream)

    def fill_log_normal(self, data, mean: float, stddev: float, stream=None) -> None:
        """Fill an array of float32 or float64 with numbers whose logarithms have this mean and standard deviation."""
        names = {key: f"log_{name}" for key, name in _NORMAL.items()}
        number = np.float32 if isinstance(data, ArrayBase) and data.dtype == np.float32 else np.float64
        self._fill(names, "log-normal", data, stream, number(mean), number(stddev))

    def gen_log_normal(self, shape, dtype, mean: float, stddev: float, stream=None) -> GPUArray:
        """Return a new array of log-normally distributed numbers; see :meth:`fill_log_normal`."""
        data = GPUArray._new_result(checked_shape(shape), checked_dtype(dtype))
        self.fill_log_normal(data, mean, stddev, stream)
        return data

    def call_skip_ahead(self, i: int, stream=None) -> None:
        """Let each generator skip ``i`` numbers."""
        self._launch("skip", stream, checked_steps(i), self._near())

    def call_skip_ahead_array(self, i, stream=None) -> None:
        """Let each generator skip as many numbers as its element of a uint32 array."""
        self._launch("skip_array", stream, self._steps(i), self._near(), keep=(i,))

    def _steps(self, i) -> int:
        if not isinstance(i, ArrayBase) or i.dtype.str[1:] not in ("u4", "i4") or i.size != self._count or not i._is_c:
            raise TypeError(f"i must be a GPUArray of {self._count} uint32, one for each generator")
        i._check_open()
        return i._address

    @staticmethod
    def _filled(fill, shape, dtype, stream) -> GPUArray:
        data = GPUArray._new_result(checked_shape(shape), checked_dtype(dtype))
        fill(data, stream)
        return data

    @property
    def _table(self) -> int:
        return 0


def checked_steps(steps) -> int:
    return whole("a number of steps", steps, 0, 2**64 - 1)


class PseudoGenerators(Generators):
    """Pseudorandom number generators with seeds.

    Parameters
    ----------
    seed_getter : callable, optional
        A function of the number of generators that returns their seeds, a GPUArray of int32. Default is
        :func:`seed_getter_uniform`: one seed, from which each generator has a sequence of its own.
    offset : int, optional
        The number of numbers that each generator skips first. Default is 0.

    Raises
    ------
    TypeError
        If ``seed_getter`` returns something else.

    Attributes
    ----------
    generators_per_block, block_count : int
        The number of threads of a block, and of blocks; each thread has a generator. The order of the numbers in an
        array depends on both.
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
            An array of uint32; without ``lambda_value`` also of float32 or float64.
        lambda_value : float, optional
            The mean. If None, each element of ``data`` is the mean of the number that replaces it.
        stream : Stream, optional
            The stream on which the kernel is enqueued. If None, the default stream.

        Raises
        ------
        NotImplementedError
            If the data type of the array is not supported.
        """
        if lambda_value is None:
            self._fill(_POISSON_EACH, "Poisson", data, stream)
        else:
            self._fill({"u4": "poisson"}, "Poisson", data, stream, np.float64(lambda_value))

    def gen_poisson(self, shape, dtype, lambda_value: float, stream=None) -> GPUArray:
        """Return a new array of Poisson-distributed numbers; see :meth:`fill_poisson`."""
        data = GPUArray._new_result(checked_shape(shape), checked_dtype(dtype))
        self.fill_poisson(data, lambda_value, stream)
        return data

    def call_skip_ahead_sequence(self, i: int, stream=None) -> None:
        """Let each generator skip ``i`` sequences (far jumps, longer than any program consumes)."""
        self._launch("skip_far", stream, checked_steps(i), self._far())

    def call_skip_ahead_sequence_array(self, i, stream=None) -> None:
        """Let each generator skip as many sequences as its element of a uint32 array; see
        :meth:`call_skip_ahead_sequence`.
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
    __doc__ = f"""Marsaglia's XORWOW: a xorshift generator of 160 bits, to which a sum is added.

    {PseudoGenerators.__doc__.partition(chr(10))[2].lstrip()}"""

    _name = "xorwow"
    _state_size = 24

    def _near(self) -> int:
        return self._device_table("near", lambda: xorwow_powers(0, 64))

    def _far(self) -> int:
        return self._device_table("far", lambda: xorwow_powers(67, 64))


class MRG32k3aRandomNumberGenerator(PseudoGenerators):
    __doc__ = f"""L'Ecuyer's MRG32k3a: two recursions of degree 3, whose difference is the number.

    {PseudoGenerators.__doc__.partition(chr(10))[2].lstrip()}"""

    _name = "mrg32k3a"
    _state_size = 24

    def call_skip_ahead_subsequence(self, i: int, stream=None) -> None:
        """Let each generator skip ``i`` subsequences of 2**76 numbers."""
        self._launch("skip_far", stream, checked_steps(i), self._seeding())

    def call_skip_ahead_subsequence_array(self, i, stream=None) -> None:
        """Let each generator skip as many subsequences of 2**76 numbers as its element of a uint32 array."""
        self._launch("skip_far_array", stream, self._steps(i), self._seeding(), keep=(i,))

    def _near(self) -> int:
        return self._device_table("near", lambda: mrg32k3a_powers(0, 64))

    def _far(self) -> int:
        return self._device_table("far", lambda: mrg32k3a_powers(127, 64))

    def _seeding(self) -> int:
        return self._device_table("seeding", lambda: mrg32k3a_powers(76, 64))


class PhiloxRandomNumberGenerator(PseudoGenerators):
    __doc__ = f"""Philox4x32-10: numbers are scrambled counters, so that skipping costs nothing.

    {PseudoGenerators.__doc__.partition(chr(10))[2].lstrip()}"""

    _name = "philox"
    _state_size = 48


class QuasiGenerators(Generators):
    """Quasirandom number generators (Sobol sequences), one dimension for each generator.

    Parameters
    ----------
    dir_vector : GPUArray, optional
        The direction vectors, one row for each generator. If None, those of the library cuRAND.
    offset : int, optional
        The number of numbers that each generator skips first. Default is 0.

    Attributes
    ----------
    generators_per_block, block_count : int
        The number of threads of a block, and of blocks; each thread has a generator. The order of the numbers in an
        array depends on both.
    state : DeviceAllocation
        The states of the generators.

    Raises
    ------
    TypeError
        If ``dir_vector`` has another shape or type.
    RuntimeError
        If ``dir_vector`` is None and cuRAND is not installed.
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
    """Scrambled quasirandom number generators (Sobol sequences), one dimension for each generator.

    Parameters
    ----------
    dir_vector : GPUArray, optional
        The direction vectors, one row for each generator. If None, those of the library cuRAND.
    scramble_vector : GPUArray, optional
        The scramble constants, one for each generator, with which numbers are combined by exclusive or. If None,
        those of the library cuRAND.
    offset : int, optional
        The number of numbers that each generator skips first. Default is 0.

    Attributes
    ----------
    generators_per_block, block_count : int
        The number of threads of a block, and of blocks; each thread has a generator. The order of the numbers in an
        array depends on both.
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
