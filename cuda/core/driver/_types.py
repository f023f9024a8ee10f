# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""C type names for NumPy data types, and parameters of generated kernels."""

from __future__ import annotations

import re

import numpy as np

from cuda.core._classic import RLock, list_argument, shown
from cuda.core.driver._checks import numpy_dtype, text_argument, texts_argument

__all__ = [
    "SCALARS",
    "ScalarArg",
    "TypeNameNotKnown",
    "VectorArg",
    "dtype_to_ctype",
    "get_arg_type",
    "get_or_register_dtype",
    "parse_argument_list",
    "parse_c_arg",
    "register_dtype",
    "vec",
]

# NumPy scalar types with a C counterpart. Kernels accept their scalars as arguments.
SCALARS = frozenset(
    getattr(np, name)
    for name in (
        *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "longlong", "ulonglong"),
        *("bool_", "float16", "float32", "float64", "complex64", "complex128"),
    )
)


class TypeNameNotKnown(ValueError, RuntimeError):
    """A C type name without a registered dtype.

    Parameters
    ----------
    message : str
        The message.
    """

    def __init__(self, message: str):
        super().__init__(message)


class Argument:
    """A parameter of a generated kernel."""

    def __init__(self, dtype, name: str):
        self.dtype = numpy_dtype(dtype)
        self.name = text_argument("name", name)

    def __repr__(self):
        return f"{type(self).__name__}({dtype_to_ctype(self.dtype)!r}, {self.name!r})"

    def __eq__(self, other):
        if type(other) is not type(self):
            return NotImplemented
        return (self.dtype, self.name) == (other.dtype, other.name)

    def __hash__(self):
        return hash((type(self), self.dtype, self.name))


class VectorArg(Argument):
    """A pointer parameter, for an array.

    Parameters
    ----------
    dtype : dtype
        The data type of the elements.
    name : str
        The name of the parameter in the kernel.

    Attributes
    ----------
    struct_char : str
        The format character for :meth:`Function.prepare`: ``"P"``.
    """

    struct_char = "P"

    def declarator(self) -> str:
        """Return the C declaration of the parameter, such as ``float *x``."""
        return f"{dtype_to_ctype(self.dtype)} *{self.name}"


class ScalarArg(Argument):
    """A parameter passed by value.

    Parameters
    ----------
    dtype : dtype
        The data type of the parameter.
    name : str
        The name of the parameter in the kernel.
    """

    def declarator(self) -> str:
        """Return the C declaration of the parameter, such as ``float a``."""
        return f"{dtype_to_ctype(self.dtype)} {self.name}"

    @property
    def struct_char(self) -> str | np.dtype:
        """The format character for :meth:`Function.prepare`, or the dtype for structures, which have none."""
        return self.dtype if self.dtype.kind == "V" else self.dtype.char


def dtype_to_ctype(dtype, with_fp_tex_hack: bool = False) -> str:
    """Return the C type name of a dtype, such as ``unsigned int`` or ``pycuda::complex<float>``.

    Parameters
    ----------
    dtype : dtype
        A NumPy scalar type, or a structure registered with :func:`get_or_register_dtype`.
    with_fp_tex_hack : bool, optional
        Whether to return the special names of types that are read through integer textures: ``fp_tex_double``,
        ``fp_tex_cfloat`` and ``fp_tex_cdouble``. Defaults to False.

    Raises
    ------
    ValueError
        If the type has no C name, or ``dtype`` is None.
    """
    if dtype is None:
        raise ValueError("dtype must be a data type, not None")
    dtype = numpy_dtype(dtype)
    if with_fp_tex_hack and dtype in _TEXTURE_NAMES:
        return _TEXTURE_NAMES[dtype]
    name = _names.get(dtype)
    if name is None:
        raise ValueError(f"dtype {dtype} has no C name; register one with get_or_register_dtype(name, dtype)")
    return name


def get_or_register_dtype(names, dtype=None) -> np.dtype:
    """Register C names for a dtype, or return the dtype of a C name.

    Parameters
    ----------
    names : str or sequence of str
        The C names of the type. Generated kernels use the first.
    dtype : dtype, optional
        The data type. By default, the first name is looked up.

    Returns
    -------
    dtype
        The registered data type.

    Raises
    ------
    RuntimeError
        If a name is registered for another type. In that case, nothing is registered.
    ValueError
        If ``names`` is empty, or ``dtype`` is None and the name is not registered.
    """
    names = texts_argument("names", names)
    if not names:
        raise ValueError("names must contain at least one name")
    if dtype is None:
        return dtype_of_name(names[0])
    dtype = numpy_dtype(dtype)
    with _lock:
        for name in names:
            known = _dtypes.get(" ".join(name.split()))
            if known is not None and known != dtype:
                raise RuntimeError(f"cannot register {name!r} for dtype {dtype}; it is already registered for {known}")
        for name in names:
            _dtypes[" ".join(name.split())] = dtype
        _names.setdefault(dtype, names[0])
    return dtype


def register_dtype(dtype, name) -> None:
    """Register C names for a dtype. New code should use :func:`get_or_register_dtype`.

    Parameters
    ----------
    dtype : dtype
        The data type.
    name : str or sequence of str
        The C names of the type.

    Raises
    ------
    RuntimeError
        If a name is already registered, even for the same type.
    """
    names = texts_argument("name", name)
    for one in names:
        if " ".join(one.split()) in _dtypes:
            raise RuntimeError(f"{shown(one)} is already registered for dtype {_dtypes[' '.join(one.split())]}")
    get_or_register_dtype(names, dtype)


def parse_c_arg(c_arg: str) -> VectorArg | ScalarArg:
    """Return the parameter for a C declaration.

    Parameters
    ----------
    c_arg : str
        A declaration such as ``"const float *x"``, ``"float x[]"`` or ``"unsigned int n"``. Qualifiers have no effect.

    Raises
    ------
    ValueError
        If ``c_arg`` does not declare a single parameter, or its type is not registered.
    """
    words, stars = _QUALIFIERS.sub(" ", c_arg), 0
    match = _DECLARATION.fullmatch(words)
    if match is None:
        raise ValueError(f"c_arg must be a C parameter, such as 'float *x' or 'int n', not {shown(c_arg)}")
    stars = match["stars"].count("*") + match["brackets"].count("[")
    if stars > 1:
        raise ValueError(f"c_arg must be an array ('float *x') or a value, not a pointer to a pointer: {shown(c_arg)}")
    dtype = dtype_of_name(match["type"])
    return (VectorArg if stars else ScalarArg)(dtype, match["name"])


def get_arg_type(c_arg: str) -> np.dtype | str:
    """Return the format character of a C parameter: ``"P"`` for a pointer, else its type's character.

    Parameters
    ----------
    c_arg : str
        A declaration accepted by :func:`parse_c_arg`.

    Raises
    ------
    ValueError
        If ``c_arg`` does not declare a single parameter, or its type is not registered.
    """
    return parse_c_arg(c_arg).struct_char


def parse_argument_list(arguments) -> list[VectorArg | ScalarArg]:
    """Return the parameters of a kernel from a C parameter list, or from a list of parameters.

    Raises
    ------
    ValueError
        If a declaration is invalid, or a name is declared twice.
    TypeError
        If ``arguments`` is neither a str nor a list of parameters.
    """
    if isinstance(arguments, str):
        parsed = [parse_c_arg(part) for part in split_at_commas(arguments)]
    else:
        items = list_argument("arguments", arguments, "a str, or a list of VectorArg and ScalarArg")
        parsed = [parse_c_arg(item) if isinstance(item, str) else item for item in items]
    for item in parsed:
        if not (hasattr(item, "declarator") and hasattr(item, "struct_char")):
            raise TypeError(f"arguments must contain VectorArg and ScalarArg objects, not {type(item).__name__}")
    names = [item.name for item in parsed]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"the parameter {name!r} is declared {names.count(name)} times")
    return parsed


class VectorTypes:
    """The CUDA vector types as dtypes with fields x, y, z and w, and a function per type that creates values.

    ``vec.float3`` is a dtype. ``vec.make_float3(1, 2, 3)`` returns a 0-d array of that type, which kernels accept by
    value. ``char``, ``uchar``, ``short``, ``ushort``, ``int``, ``uint``, ``long``, ``ulong`` and ``float`` vectors have
    1 to 4 fields, and ``longlong``, ``ulonglong`` and ``double`` vectors have 1 or 2.
    """

    def __init__(self):
        counts = {"longlong": 2, "ulonglong": 2, "double": 2}
        for base, scalar in _VECTOR_BASES.items():
            for count in range(1, counts.get(base, 4) + 1):
                dtype = np.dtype([(field, scalar) for field in "xyzw"[:count]])
                name = f"{base}{count}"
                get_or_register_dtype(name, dtype) if name not in _dtypes else None
                setattr(self, name, dtype)
                setattr(self, f"make_{name}", maker_of(name, dtype))
        self.types = {name: value for name, value in vars(self).items() if isinstance(value, np.dtype)}

    def __repr__(self):
        return f"<{len(self.types)} vector types>"


def maker_of(name: str, dtype: np.dtype):
    def make(*values):
        if len(values) > len(dtype.names):
            raise TypeError(f"make_{name}() takes at most {len(dtype.names)} values, {len(values)} given")
        filled = (*values, *([0] * (len(dtype.names) - len(values))))
        return np.array(filled, dtype=dtype)

    make.__name__ = make.__qualname__ = f"make_{name}"
    make.__doc__ = f"Return a 0-d array of type {name}, with 0 for missing values."
    return make


def dtype_of_name(name: str) -> np.dtype:
    plain = " ".join(name.split())
    dtype = _dtypes.get(plain) or _dtypes.get(canonical_name(plain))
    if dtype is None:
        raise TypeNameNotKnown(f"unknown type {shown(plain)}; register it with get_or_register_dtype(name, dtype)")
    return dtype


def canonical_name(name: str) -> str:
    """Return the canonical spelling of a C type, such as ``unsigned long`` for ``long unsigned int``."""
    words = name.split()
    if not set(words) <= {"signed", "unsigned", "char", "short", "int", "long"}:
        return re.sub(r"\s*([<>:,])\s*", r"\1", name).replace("std::complex", "pycuda::complex")
    is_unsigned = "unsigned" in words
    base = "long" if words.count("long") == 1 else "long long" if words.count("long") == 2 else "int"
    base = next((word for word in ("char", "short") if word in words), base)
    if base == "char":
        return "unsigned char" if is_unsigned else "signed char" if "signed" in words else "char"
    return f"unsigned {base}" if is_unsigned else base


def split_at_commas(text: str) -> list[str]:
    """Split a parameter list at commas outside angle brackets. An empty list has no parts."""
    parts, depth, start = [], 0, 0
    for found in re.finditer("[<>,]", text):
        depth += {"<": 1, ">": -1}.get(found.group(), 0)
        if found.group() == "," and depth == 0:
            parts.append(text[start : found.start()])
            start = found.end()
    parts.append(text[start:])
    return parts if len(parts) > 1 or parts[0].strip() else []


_lock = RLock()
_QUALIFIERS = re.compile(r"\b(?:const|volatile|restrict|__restrict__|__restrict)\b")
_DECLARATION = re.compile(
    r"\s*(?P<type>[A-Za-z_][\w:\s]*?(?:<[\w\s:,<>]*>)?)(?P<stars>[\s*]+)(?P<name>[A-Za-z_]\w*)\s*"
    r"(?P<brackets>(?:\[\s*\w*\s*\]\s*)*)"
)
# The C name of each dtype in generated code. Several C types have the same size.
_names: dict[np.dtype, str] = {
    np.dtype(np.bool_): "bool",
    np.dtype(np.int8): "signed char",
    np.dtype(np.uint8): "unsigned char",
    np.dtype(np.int16): "short",
    np.dtype(np.uint16): "unsigned short",
    np.dtype(np.int32): "int",
    np.dtype(np.uint32): "unsigned int",
    np.dtype(np.int64): "long",
    np.dtype(np.uint64): "unsigned long",
    np.dtype(np.float16): "__half",
    np.dtype(np.float32): "float",
    np.dtype(np.float64): "double",
    np.dtype(np.complex64): "pycuda::complex<float>",
    np.dtype(np.complex128): "pycuda::complex<double>",
}
_dtypes: dict[str, np.dtype] = {name: dtype for dtype, name in _names.items()} | {
    "char": np.dtype(np.int8),
    "long long": np.dtype(np.int64),
    "unsigned long long": np.dtype(np.uint64),
    "size_t": np.dtype(np.uint64),
    "ptrdiff_t": np.dtype(np.int64),
    "intptr_t": np.dtype(np.int64),
    "uintptr_t": np.dtype(np.uint64),
    "uchar": np.dtype(np.uint8),
    "ushort": np.dtype(np.uint16),
    "uint": np.dtype(np.uint32),
    "ulong": np.dtype(np.uint64),
    "half": np.dtype(np.float16),
    "complex64": np.dtype(np.complex64),
    "complex128": np.dtype(np.complex128),
    **{f"{sign}int{bits}_t": np.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
_TEXTURE_NAMES = {
    np.dtype(np.float64): "fp_tex_double",
    np.dtype(np.complex64): "fp_tex_cfloat",
    np.dtype(np.complex128): "fp_tex_cdouble",
}
_VECTOR_BASES = {
    "char": np.int8,
    "uchar": np.uint8,
    "short": np.int16,
    "ushort": np.uint16,
    "int": np.int32,
    "uint": np.uint32,
    "long": np.int64,
    "ulong": np.uint64,
    "float": np.float32,
    "longlong": np.int64,
    "ulonglong": np.uint64,
    "double": np.float64,
}
vec = VectorTypes()
