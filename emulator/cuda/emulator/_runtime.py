# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The CUDA runtime for Python packages: fills the table by which cuda.bindings' runtime functions are called.

``cuda.bindings.cyruntime`` contains NVIDIA's runtime, which works with NVIDIA's driver only. Modules that cimport it
take its functions from its table ``__pyx_capi__``, so the table gets the functions of the software device as soon as
that module was imported, before any module can have read it. A function with another signature than ours, or that the
software device lacks, returns ``cudaErrorNotSupported``.
"""

from __future__ import annotations

import ctypes
import importlib.util
import re
import sys

_MODULE = "cuda.bindings.cyruntime"


def serve(library, text):
    """Replace the functions of the table when its module is imported, or now if it was imported.

    Parameters
    ----------
    library : ctypes.CDLL
        The library of the software device.
    text : callable
        Returns the text of a function of the library.
    """
    if _MODULE in sys.modules:
        _fill(sys.modules[_MODULE], library, text)
    else:
        sys.meta_path.insert(0, _Finder(library, text))


class _Finder:
    """Finds that one module, and removes itself."""

    def __init__(self, library, text):
        self._served = library, text

    def find_spec(self, name, path=None, target=None):
        if name != _MODULE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None:
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                _fill(module, *self._served)

            spec.loader.exec_module = exec_module
        return spec


def _fill(module, library, text):
    served = {}
    for line in text(library.emulator_runtime_functions).splitlines():
        name, address, parameters = line.split(" ", 2)
        served[name] = _types(parameters, named=True), int(address)
    get_name, set_pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_SetPointer
    get_name.argtypes, get_name.restype = (ctypes.py_object,), ctypes.c_char_p
    set_pointer.argtypes = ctypes.py_object, ctypes.c_void_p
    for name, capsule in module.__pyx_capi__.items():
        result, _, parameters = get_name(capsule).decode().partition("(")
        types, address = served.get(name, (None, None))
        if types != _types(f"({parameters}"):
            if result.strip() != "cudaError_t":
                continue  # a function such as make_cudaExtent, which calls nothing
            address = library.emulator_missing_runtime_function(name.encode())
        if address:
            set_pointer(capsule, address)


def _types(parameters, named=False):
    """Return the types of ``"(int* count, size_t)"`` without qualifiers, as a tuple; ``named``: names may follow."""
    types = []
    for parameter in parameters.strip("()").replace("PY_LONG_LONG", "long long").split(","):
        words = [w for w in re.findall(r"\w+|\*", parameter) if w not in ("const", "struct", "enum")]
        if named and len(words) > 1 and words[-1] not in ("*", "int", "long", "char"):
            words.pop()
        types.append(" ".join(words))
    return tuple(types)
