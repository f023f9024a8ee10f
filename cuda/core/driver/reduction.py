# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels that reduce the values of an expression over all indices to one value."""

from __future__ import annotations

import numpy as np

from cuda.core.driver._array_base import ArrayBase, array_device, checked_dtype, stream_for
from cuda.core.driver._array_object import GPUArray
from cuda.core.driver._array_reductions import Reduction, scratch_memory
from cuda.core.driver._device_memory import mem_alloc
from cuda.core.driver._streams import keep_until_done
from cuda.core.driver._types import VectorArg, dtype_to_ctype
from cuda.core.driver._user_kernels import Parameters, checked_kernel_name, user_prelude

__all__ = ["ReductionKernel"]


class ReductionKernel:
    """A kernel that reduces the values of an expression over all indices to one value.

    Parameters
    ----------
    dtype_out : dtype
        The data type of the result and the combined values.
    neutral : str or number
        The C expression of the neutral element, such as ``"0"``.
    reduce_expr : str
        The C expression that combines ``a`` and ``b``, such as ``"a + b"``. It must be associative and commutative.
    map_expr : str, optional
        The C expression of the value for index ``i``, such as ``"x[i] * y[i]"``. Defaults to ``"in[i]"``.
    arguments : str or list, optional
        The C parameters that ``map_expr`` uses. See :class:`ElementwiseKernel`. Defaults to one array named ``in``
        with elements of type ``dtype_out``.
    name : str, optional
        The prefix of the kernel names. Defaults to ``"reduce_kernel"``.
    keep : bool, optional
        Whether to keep the compiler's files. Defaults to False.
    options : list of str, optional
        The compiler options.
    preamble : str, optional
        C++ definitions before the kernels, such as a structure for ``dtype_out``.

    Raises
    ------
    CompileError
        If the C code has errors.
    ValueError
        If a type is unknown.
    AssertionError
        If no parameter is an array.

    Examples
    --------
    >>> import numpy as np
    >>> from cuda.core.driver import autoinit, gpuarray
    >>> from cuda.core.driver.reduction import ReductionKernel
    >>> dot = ReductionKernel(np.float32, "0", "a + b", "x[i] * y[i]", "float *x, float *y")
    >>> a, b = gpuarray.to_gpu(np.arange(3, dtype=np.float32)), gpuarray.to_gpu(np.ones(3, np.float32))
    >>> float(dot(a, b).get())
    3.0
    """

    def __init__(
        self,
        dtype_out,
        neutral,
        reduce_expr: str,
        map_expr: str | None = None,
        arguments=None,
        name: str = "reduce_kernel",
        keep: bool = False,
        options=None,
        preamble: str = "",
    ):
        self.dtype_out = checked_dtype(dtype_out)
        out_type = dtype_to_ctype(self.dtype_out)
        if arguments is None:
            arguments = [VectorArg(self.dtype_out, "in")]
        self._parameters = Parameters(arguments)
        self.name = checked_kernel_name(name)
        self.neutral = neutral if isinstance(neutral, str) else c_literal(neutral, self.dtype_out)
        map_expr = "in[i]" if map_expr is None else map_expr
        for key, text in {"reduce_expr": reduce_expr, "map_expr": map_expr, "preamble": preamble}.items():
            if not isinstance(text, str):
                raise TypeError(f"{key} must be a str, not {type(text).__name__}")
        dtypes = [self.dtype_out, *(item.dtype for item in self._parameters.items)]
        texts = [preamble, reduce_expr, map_expr, *self._parameters.declarators]
        self._reduction = Reduction(
            self.name,
            out_type,
            self.dtype_out.itemsize,
            self.neutral,
            reduce_expr,
            map_expr,
            self._parameters.declarators,
            user_prelude(texts, dtypes) + preamble + "\n",
            user_options=(options, keep),
        )
        self._reduction.kernel(array_device("cuModuleLoadDataEx").arch)

    def __repr__(self):
        return f"<ReductionKernel {self.name} of {self.dtype_out}>"

    def __call__(self, *args, stream=None, out=None, allocator=None) -> GPUArray:
        """Enqueue the reduction, and return the array for its result (``cuLaunchKernel``).

        Parameters
        ----------
        *args
            One argument for each parameter: contiguous arrays, and numbers. The size of the first array is the number
            of indices. If it is 0, the result is ``neutral``.
        stream : Stream, optional
            The stream to enqueue the kernels on. Defaults to the default stream.
        out : GPUArray, optional
            The array for the result, such as ``array[3]``. Defaults to a new 0-d array.
        allocator : callable, optional
            The allocator of a new array. Defaults to the allocator of the first array.

        Raises
        ------
        ValueError
            If ``out`` has another data type or no elements.
        TypeError
            If the number or the types of the arguments are wrong.
        RuntimeError
            If an array is not contiguous.
        LogicError
            If the memory of an array was freed, or is on another device than the current context.
        """
        arrays, values = self._parameters.convert(self.name, args)
        first = arrays[0]
        device = first._device
        if out is None:
            out = first._new((), self.dtype_out, allocator=allocator)
        elif not isinstance(out, ArrayBase):
            raise TypeError(f"out must be a GPUArray, not {type(out).__name__}")
        elif out.dtype != self.dtype_out or not out.size:
            raise ValueError(f"out must have elements of type {self.dtype_out}, not {out.size} of type {out.dtype}")
        out._check_open()
        inner = stream_for(stream, *arrays, out)

        def allocate(nbytes: int):
            return scratch_memory(device, nbytes, stream, mem_alloc)

        memory = self._reduction.launch(device, inner, first.size, values, out._argument, allocate)
        if inner is not None:
            keep_until_done(inner, "cuLaunchKernel", memory)
        return out


def c_literal(number, dtype: np.dtype) -> str:
    """Return a C expression for a number of a data type, or raise TypeError if it is not a number of that type."""
    if not isinstance(number, (int, float, complex, np.number, np.bool_)) or (
        dtype.kind != "c" and isinstance(number, complex)
    ):
        raise TypeError(f"neutral must be a str or a number of type {dtype}, not {type(number).__name__}")
    if dtype.kind == "c":
        value = complex(number)
        return f"{dtype_to_ctype(dtype)}({value.real!r}, {value.imag!r})"
    if dtype.kind in "iu":
        suffix = "ULL" if int(number) > 2**63 - 1 else "LL"
        return f"({int(number)}{suffix})"
    if dtype.kind == "b":
        return "true" if number else "false"
    value = float(number)
    if value != value:
        return "__longlong_as_double(0x7ff8000000000000ll)"
    if value in (float("inf"), float("-inf")):
        return f"({'-' if value < 0 else ''}__longlong_as_double(0x7ff0000000000000ll))"
    return f"({value!r})"


def __dir__():
    return list(__all__)
