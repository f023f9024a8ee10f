# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""NVML's exceptions: the classes of ``cuda.bindings.nvml``, under the same names.

``TimeoutError`` and ``MemoryError`` are NVML's, not the builtin exceptions.
"""

from __future__ import annotations

from cuda.core.system._support import CUDA_BINDINGS_NVML_IS_COMPATIBLE, nvml

__all__ = []

if CUDA_BINDINGS_NVML_IS_COMPATIBLE:
    # Read from the module, so exception classes that newer bindings add are also exported.
    _classes = {
        name: value
        for name, value in vars(nvml).items()
        if isinstance(value, type) and issubclass(value, nvml.NvmlError) and name == value.__name__.removeprefix("Nvml")
    }
    _classes["NvmlError"] = nvml.NvmlError
    globals().update(_classes)
    __all__ = sorted(_classes)


def __dir__():
    return list(__all__)
