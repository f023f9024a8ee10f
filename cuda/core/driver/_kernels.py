# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Generated kernels: shared CUDA C++ code, compilation, launches, and elementwise kernels for all array layouts."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

import numpy as np

from cuda.core import LEGACY_DEFAULT_STREAM, CUDAError, LaunchConfig, launch
from cuda.core.driver._array_layout import joined_dimensions
from cuda.core.driver._compilation import Request, compile_object
from cuda.core.driver._errors import launch_error

__all__ = [
    "COMPLEX_HEADER",
    "COMPUTE_TYPES",
    "DeviceKernel",
    "Elementwise",
    "Operand",
    "STORAGE_TYPES",
    "build_kernel",
    "build_user_kernel",
    "compute_dtype",
    "prelude",
    "storage_name",
]

# The package provides this header in its `include` directory.
COMPLEX_HEADER = "#include <pycuda-complex.hpp>\n"


def storage_name(dtype: np.dtype) -> str:
    """Return the C type of elements in memory. Structures are arrays of words, which kernels can only copy."""
    name = STORAGE_TYPES.get(dtype)
    if name is not None:
        return name
    size = dtype.itemsize
    word = next(width for width in (8, 4, 2, 1) if size % width == 0)
    return f"cuda_core::record<{_WORDS[word]}, {size // word}>"


def compute_dtype(dtype: np.dtype) -> np.dtype:
    """Return the data type of computations, which is float32 for float16, and otherwise the type itself."""
    return _FLOAT32 if dtype == _FLOAT16 else dtype


def prelude(*dtypes: np.dtype) -> str:
    """Return the C++ definitions that a kernel with these data types needs."""
    text = _RECORDS
    if any(dtype == _FLOAT16 for dtype in dtypes):
        text += _HALF
    if any(dtype.kind == "c" for dtype in dtypes):
        text = COMPLEX_HEADER + text + _COMPLEX_CONVERSIONS
    return text


_FLOAT16, _FLOAT32 = np.dtype(np.float16), np.dtype(np.float32)
_WORDS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long long"}
STORAGE_TYPES = {
    np.dtype(np.bool_): "bool",
    np.dtype(np.int8): "signed char",
    np.dtype(np.uint8): "unsigned char",
    np.dtype(np.int16): "short",
    np.dtype(np.uint16): "unsigned short",
    np.dtype(np.int32): "int",
    np.dtype(np.uint32): "unsigned int",
    np.dtype(np.int64): "long long",
    np.dtype(np.uint64): "unsigned long long",
    _FLOAT16: "cuda_core::half",
    _FLOAT32: "float",
    np.dtype(np.float64): "double",
    np.dtype(np.complex64): "pycuda::complex<float>",
    np.dtype(np.complex128): "pycuda::complex<double>",
}
COMPUTE_TYPES = {dtype: name for dtype, name in STORAGE_TYPES.items() if dtype != _FLOAT16} | {_FLOAT16: "float"}

_RECORDS = r"""
namespace cuda_core {
typedef unsigned long long size;
template <typename W, int N> struct record { W words[N]; };
// Elements that one vectorized access loads or stores.
template <typename T, int N> struct alignas(sizeof(T) * N) pack { T items[N]; };
template <bool C, typename A, typename B> struct choose { typedef A type; };
template <typename A, typename B> struct choose<false, A, B> { typedef B type; };

template <typename T> __device__ inline T integer_power(T base, T exponent)
{
    if (exponent < 0) return base == 1 ? T(1) : base == T(-1) ? ((exponent & 1) ? T(-1) : T(1)) : T(0);
    unsigned long long left = (unsigned long long)exponent, power = (unsigned long long)base, result = 1;
    for (; left; left >>= 1, power *= power)
        if (left & 1) result *= power;
    return T(result);
}
// Integer quotients round down, as in Python. Division by zero returns zero, as in NumPy.
template <typename T> __device__ inline T floor_quotient(T a, T b)
{
    if (b == 0) return 0;
    if (b == T(-1) && T(-1) < 0) return T(0ull - (unsigned long long)a);
    const T quotient = T(a / b);
    return T(quotient - ((a % b != 0) && ((a < 0) != (b < 0))));
}
template <typename T> __device__ inline T floor_remainder(T a, T b)
{
    if (b == 0 || (b == T(-1) && T(-1) < 0)) return 0;
    const T rest = T(a % b);
    return rest != 0 && ((rest < 0) != (b < 0)) ? T(rest + b) : rest;
}
template <typename T> __device__ inline T real_remainder(T a, T b)
{
    T rest = fmod(a, b);
    if (b == 0) return rest;
    if (rest != 0) { if ((b < 0) != (rest < 0)) rest += b; }
    else rest = copysign(T(0), b);
    return rest;
}
template <typename T> __device__ inline T real_quotient(T a, T b)
{
    if (b == 0) return a / b;
    const T rest = fmod(a, b);
    T quotient = (a - rest) / b;
    if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
    if (quotient == 0) return copysign(T(0), a / b);
    const T whole = floor(quotient);
    return quotient - whole > T(0.5) ? whole + 1 : whole;
}
// Compares a signed and an unsigned integer by value.
__device__ inline int order_of(long long a, unsigned long long b)
{ return a < 0 || (unsigned long long)a < b ? -1 : (unsigned long long)a > b; }
__device__ inline int order_of(unsigned long long a, long long b) { return -order_of(b, a); }
template <typename T> __device__ inline T shifted_left(T a, T b)
{ return b < 0 || (unsigned long long)b >= sizeof(T) * 8 ? T(0) : T((unsigned long long)a << b); }
template <typename T> __device__ inline T shifted_right(T a, T b)
{ return b < 0 || (unsigned long long)b >= sizeof(T) * 8 ? (a < 0 ? T(-1) : T(0)) : T(a >> b); }
}
"""

_HALF = r"""
namespace cuda_core {
// A half, converted by integer arithmetic, which needs no header and produces the same result on every device.
struct half
{
    unsigned short bits;
    half() = default;
    __device__ half(float value)
    {
        union { float number; unsigned int bits; } from;
        from.number = value;
        const unsigned int sign = (from.bits >> 16) & 0x8000u, size = from.bits & 0x7fffffffu;
        unsigned int result;
        if (size > 0x7f800000u) result = 0x7e00u;
        else if (size >= 0x477ff000u) result = 0x7c00u;  // 65520 and more round to infinity
        else if (size < 0x33000001u) result = 0;
        else if (size < 0x38800000u)
        {
            // A subnormal: the significand is shifted, and the lost bits determine the rounding.
            const unsigned int shift = 126u - (size >> 23), whole = (size & 0x7fffffu) | 0x800000u;
            const unsigned int rest = whole & ((1u << shift) - 1), middle = 1u << (shift - 1);
            result = whole >> shift;
            result += rest > middle || (rest == middle && (result & 1));
        }
        else
        {
            const unsigned int moved = size - 0x38000000u;
            result = (moved + 0xfffu + ((moved >> 13) & 1)) >> 13;
        }
        bits = (unsigned short)(sign | result);
    }
    __device__ operator float() const
    {
        union { float number; unsigned int bits; } to;
        const unsigned int sign = (bits & 0x8000u) << 16, exponent = (bits >> 10) & 31u, rest = bits & 0x3ffu;
        if (exponent == 31u) to.bits = sign | 0x7f800000u | (rest << 13);
        else if (exponent) to.bits = sign | ((exponent + 112u) << 23) | (rest << 13);
        else
        {
            to.number = float(rest) * 5.9604644775390625e-8f;
            to.bits |= sign;
        }
        return to.number;
    }
};
}
"""

_COMPLEX_CONVERSIONS = r"""
namespace cuda_core {
template <typename R> struct real_from
{
    template <typename T> static __device__ R of(const pycuda::complex<T>& z) { return (R)(z._M_re); }
};
template <> struct real_from<bool>
{
    template <typename T> static __device__ bool of(const pycuda::complex<T>& z)
    { return z._M_re != 0 || z._M_im != 0; }
};
template <typename R, typename T>
__device__ inline R real_of(const pycuda::complex<T>& z) { return real_from<R>::of(z); }
}
"""


MAX_BLOCKS = 2**31 - 1
MAX_CONFIGS = 512


class DeviceKernel:
    """A kernel with a fixed block size, and a grid size that depends on the number of elements.

    Parameters
    ----------
    kernel : :class:`~cuda.core.Kernel`
        The kernel, which uses a grid-stride loop for arrays with more elements than the grid handles at a time.
    block : int
        The number of threads per block.
    per_block : int
        The number of elements that a block handles at a time.
    """

    __slots__ = ("block", "bound", "kernel", "per_block")

    def __init__(self, kernel, block: int, per_block: int):
        self.kernel = kernel
        self.block = block
        self.per_block = per_block
        # For each number of blocks, the kernel bound to a configuration and the default stream.
        self.bound: dict = {}

    def launch(self, stream, size: int, *arguments) -> None:
        """Launch for ``size`` elements on a :class:`~cuda.core.Stream`, where None is the default stream."""
        blocks = (size + self.per_block - 1) // self.per_block
        self.launch_blocks(stream, blocks if blocks < MAX_BLOCKS else MAX_BLOCKS, *arguments)

    def bound_for(self, size: int):
        """Return the kernel bound to the grid for ``size`` elements and the default stream."""
        blocks = (size - 1) // self.per_block + 1
        if blocks > MAX_BLOCKS:
            blocks = MAX_BLOCKS
        return self.bound.get(blocks) or self.bind(blocks)

    def launch_blocks(self, stream, blocks: int, *arguments) -> None:
        """Launch a grid of ``blocks`` blocks."""
        bound = self.bound.get(blocks) or self.bind(blocks)
        try:
            if stream is None:
                bound(*arguments)
            else:
                launch(stream, bound.config, self.kernel, *arguments)
        except (CUDAError, RuntimeError) as error:
            raise launch_error(error) from None

    def bind(self, blocks: int):
        """Return the kernel bound to a grid of ``blocks`` blocks and the default stream."""
        if len(self.bound) >= MAX_CONFIGS:
            self.bound.clear()
        config = LaunchConfig(grid=blocks, block=self.block)
        bound = self.bound[blocks] = self.kernel.bind(config, stream=LEGACY_DEFAULT_STREAM)
        return bound


def build_kernel(source: str, names, arch: str, block: int, per_block: int) -> list[DeviceKernel]:
    """Compile a generated source or load it from the program cache, and return its kernels.

    Parameters
    ----------
    source : str
        The source in CUDA C++.
    names : sequence of str
        The names of the kernels.
    arch : str
        The target architecture.
    block, per_block : int
        The number of threads per block, and the number of elements that a block handles at a time.
    """
    code = compile_object(Request(source, options=["-w"], no_extern_c=True, arch=arch), "cubin")
    return [DeviceKernel(code.get_kernel(name), block, per_block) for name in names]


def build_user_kernel(source: str, names, arch: str, block: int, per_block: int, options, keep) -> list[DeviceKernel]:
    """Compile a source that contains user code. See :func:`build_kernel`.

    Raises
    ------
    CompileError
        If the user code has errors.
    """
    code = compile_object(Request(source, options=options, keep=keep, no_extern_c=True, arch=arch), "cubin")
    return [DeviceKernel(code.get_kernel(name), block, per_block) for name in names]


BLOCK = 256
PACK_BYTES = 16
INT32_ELEMENTS = 2**31 - 1


@dataclass(frozen=True)
class Operand:
    """A parameter of an elementwise operation.

    Attributes
    ----------
    name : str
        The name of the variable that holds an element in the body.
    dtype : numpy.dtype
        The data type in memory, or the data type of the scalar.
    compute : numpy.dtype, optional
        The data type of the variable, if it differs from ``dtype``.
    is_scalar : bool
        Whether the operand is a value instead of an array.
    is_pointer : bool
        Whether the variable is the address of an array, which the body indexes itself.
    """

    name: str
    dtype: np.dtype
    compute: np.dtype | None = None
    is_scalar: bool = False
    is_pointer: bool = False

    @property
    def is_array(self) -> bool:
        return not (self.is_scalar or self.is_pointer)

    @property
    def storage(self) -> str:
        if self.is_pointer:
            return f"{storage_name(self.dtype)}*"
        by_value = COMPUTE_TYPES.get(self.dtype) if self.is_scalar else None
        return by_value or storage_name(self.dtype)

    @property
    def variable(self) -> str:
        if self.is_pointer:
            return self.storage
        compute = compute_dtype(self.compute if self.compute is not None else self.dtype)
        return COMPUTE_TYPES.get(compute) or storage_name(compute)


class Elementwise:
    """An elementwise operation on given data types, for arrays of any layout.

    Parameters
    ----------
    name : str
        The kernel name.
    outputs, inputs : sequence of Operand
        The operands that the body writes, and the operands it reads.
    body : str
        C statements that compute each output from the inputs. They can use ``i``, the element's index in C order.
    preamble : str, optional
        C++ definitions that the body uses.
    """

    def __init__(self, name: str, outputs, inputs, body: str, preamble: str = ""):
        self.name = name
        self.outputs = tuple(outputs)
        self.inputs = tuple(inputs)
        self.body = body
        self.preamble = preamble
        self.uses_index = re.search(r"\bi\b", body) is not None
        self.arrays = tuple(item for item in (*self.outputs, *self.inputs) if item.is_array)
        widest = max(item.dtype.itemsize for item in self.arrays)
        self.width = max(1, PACK_BYTES // widest) if PACK_BYTES % widest == 0 else 1
        # The address bits that must be 0 for vectorized access.
        self.alignment_mask = max(self.width * item.dtype.itemsize for item in self.arrays) - 1
        if any(item.dtype.kind == "V" for item in self.arrays):
            self.width = 1
        self._packed: dict[str, DeviceKernel] = {}
        self._dense: dict[str, DeviceKernel] = {}
        self._strided: dict[tuple, DeviceKernel] = {}

    def packed(self, arch: str) -> DeviceKernel:
        """Return the kernel for contiguous, aligned arrays."""
        kernel = self._packed.get(arch)
        if kernel is None:
            kernel = self._packed[arch] = self._build(self.dense_source(self.width), arch, BLOCK * self.width)
        return kernel

    def dense(self, arch: str) -> DeviceKernel:
        """Return the kernel for contiguous arrays at any address."""
        kernel = self._dense.get(arch)
        if kernel is None:
            kernel = self._dense[arch] = self._build(self.dense_source(1), arch, BLOCK)
        return kernel

    def strided(self, arch: str, ndim: int, index: str) -> DeviceKernel:
        """Return the kernel for strided arrays with ``ndim`` dimensions, where ``index`` is the C type of indices."""
        key = (arch, ndim, index)
        kernel = self._strided.get(key)
        if kernel is None:
            kernel = self._strided[key] = self._build(self.strided_source(ndim, index), arch, BLOCK)
        return kernel

    def launch_dense(self, arch: str, stream, size: int, addresses, arguments) -> None:
        """Launch on contiguous arrays of the same order with ``size`` elements each."""
        merged = 0
        for address in addresses:
            merged |= address
        kernel = self.packed(arch) if merged & self.alignment_mask == 0 else self.dense(arch)
        kernel.launch(stream, size, *arguments, size)

    def launch(self, arch: str, stream, shape, arrays, arguments) -> None:
        """Launch on arrays with any strides.

        Parameters
        ----------
        arch : str
            The target architecture.
        stream : :class:`~cuda.core.Stream` or None
            The stream, where None is the default stream.
        shape : tuple of int
            The shape of all arrays, after broadcasting.
        arrays : sequence of (int, tuple of int)
            The address and the strides in bytes of each array, in operand order.
        arguments : sequence
            For each operand, the address of the array or the value of the scalar.
        """
        size = 1
        for extent in shape:
            size *= extent
        if size == 0:
            return
        rows = [item[1] for item in arrays]
        if len(shape) > 1 and not self.uses_index:
            # Sort the axes by the strides of the first array to merge as many as possible.
            first = rows[0]
            order = sorted(range(len(shape)), key=lambda axis: -abs(first[axis]))
            shape = [shape[axis] for axis in order]
            rows = [[row[axis] for axis in order] for row in rows]
        extents, strides = joined_dimensions(shape, rows)
        itemsizes = [item.dtype.itemsize for item in self.arrays]
        if len(extents) <= 1 and all(not row or row[0] == width for row, width in zip(strides, itemsizes, strict=True)):
            self.launch_dense(arch, stream, size, [item[0] for item in arrays], arguments)
            return
        kernel = self.strided(arch, len(extents), "unsigned int" if size <= INT32_ELEMENTS else "unsigned long long")
        layout = struct.pack(
            f"{len(extents)}Q{len(extents) * len(strides)}q", *extents, *(step for row in strides for step in row)
        )
        kernel.launch(stream, size, *arguments, size, layout)

    def _build(self, source: str, arch: str, per_block: int) -> DeviceKernel:
        return build_kernel(source, [self.name], arch, BLOCK, per_block)[0]

    def _head(self) -> str:
        dtypes = [item.dtype for item in (*self.outputs, *self.inputs)]
        dtypes += [item.compute for item in (*self.outputs, *self.inputs) if item.compute is not None]
        parameters = [f"{item.storage}* {item.name}_" for item in self.outputs]
        parameters += [
            f"const {item.storage} {item.name}_" if not item.is_array else f"const {item.storage}* {item.name}_"
            for item in self.inputs
        ]
        read = [f"const {item.variable} {item.name}" for item in self.inputs]
        written = [f"{item.variable}& {item.name}" for item in self.outputs]
        variables = ", ".join([*written, *read, "const cuda_core::size i"])
        apply = f"__device__ inline void apply({variables})\n{{ {self.body}; }}"
        return (
            f"{prelude(*dtypes)}{self.preamble}\nnamespace {{\n{apply}\n}}\n"
            f'extern "C" __global__ void __launch_bounds__({BLOCK}) {self.name}('
            f"{', '.join(parameters)}, const cuda_core::size n"
        )

    def _element(self, place: dict[str, str], index: str) -> str:
        """Return the statements that compute one element. ``place`` maps array names to lvalues of their elements."""
        lines = [f"{item.variable} {item.name};" for item in self.outputs]
        values = [item.name for item in self.outputs]
        for item in self.inputs:
            values.append(
                converted_expression(item.variable, place[item.name] if item.is_array else item.name + "_", item)
            )
        lines.append(f"apply({', '.join(values)}, {index});")
        lines += [
            f"{place[item.name]} = {converted_expression(item.storage, item.name, item, True)};"
            for item in self.outputs
        ]
        return " ".join(lines)

    def dense_source(self, width: int) -> str:
        """Return the source for contiguous arrays, where each thread handles ``width`` adjacent elements at a time."""
        one = self._element({item.name: f"{item.name}_[k]" for item in self.arrays}, "k")
        begin = (
            f"{self._head()})\n{{\n"
            "    const cuda_core::size first = cuda_core::size(blockIdx.x) * blockDim.x + threadIdx.x;\n"
            "    const cuda_core::size step = cuda_core::size(gridDim.x) * blockDim.x;\n"
        )
        if width == 1:
            return f"{begin}    for (cuda_core::size k = first; k < n; k += step) {{ {one} }}\n}}\n"
        loads, stores = [], []
        for item in self.arrays:
            pack = f"cuda_core::pack<{item.storage}, {width}>"
            if item in self.outputs:
                loads.append(f"{pack} {item.name}_p;")
                stores.append(f"reinterpret_cast<{pack}*>({item.name}_)[p] = {item.name}_p;")
            else:
                loads.append(f"const {pack} {item.name}_p = reinterpret_cast<const {pack}*>({item.name}_)[p];")
        inner = self._element({item.name: f"{item.name}_p.items[j]" for item in self.arrays}, f"p * {width} + j")
        return (
            f"{begin}"
            f"    for (cuda_core::size p = first; p < n / {width}; p += step)\n    {{\n"
            f"        {' '.join(loads)}\n"
            f"        #pragma unroll\n        for (int j = 0; j < {width}; ++j) {{ {inner} }}\n"
            f"        {' '.join(stores)}\n    }}\n"
            f"    const cuda_core::size k = n / {width} * {width} + first;\n"
            f"    if (k < n) {{ {one} }}\n}}\n"
        )

    def strided_source(self, ndim: int, index: str) -> str:
        """Return the source for strided arrays with ``ndim`` dimensions, where ``index`` is the C type of indices."""
        count = len(self.arrays)
        offsets = " ".join(f"long long o{k} = 0;" for k in range(count))
        steps = []
        for d in reversed(range(ndim)):
            # The first dimension needs no modulo, because the remainder is its index.
            place = "rest" if d == 0 else f"rest % ({index})(layout.extents[{d}])"
            moves = " ".join(f"o{k} += (long long)at * layout.strides[{k}][{d}];" for k in range(count))
            left = "" if d == 0 else f" rest /= ({index})(layout.extents[{d}]);"
            steps.append(f"        {{ const {index} at = {place}; {moves}{left} }}\n")
        place = {}
        for k, item in enumerate(self.arrays):
            constant = "" if item in self.outputs else "const "
            byte = f"reinterpret_cast<{constant}char*>({item.name}_) + o{k}"
            place[item.name] = f"*reinterpret_cast<{constant}{item.storage}*>({byte})"
        return (
            f"struct Layout {{ unsigned long long extents[{ndim}]; long long strides[{count}][{ndim}]; }};\n"
            f"{self._head()}, const Layout layout)\n{{\n"
            "    const cuda_core::size step = cuda_core::size(gridDim.x) * blockDim.x;\n"
            "    for (cuda_core::size k = cuda_core::size(blockIdx.x) * blockDim.x + threadIdx.x; k < n; k += step)\n"
            f"    {{\n        {index} rest = ({index})(k);\n        {offsets}\n{''.join(steps)}"
            f"        {self._element(place, 'k')}\n    }}\n}}\n"
        )


def converted_expression(target: str, value: str, item: Operand, is_output: bool = False) -> str:
    """Return the C expression that converts a value as NumPy does.

    Nonzero numbers convert to true, and complex numbers to their real parts.
    """
    memory, compute = item.dtype, item.compute if item.compute is not None else item.dtype
    source, wanted = (compute, memory) if is_output else (memory, compute)
    if source.kind == "c" and wanted.kind != "c":
        return f"cuda_core::real_of<{target}>({value})"
    return f"({target})({value})"
