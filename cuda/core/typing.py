# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Enums, protocols and aliases of the public interface."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol

__all__ = [
    "CompilerBackendType",
    "IsStreamType",
    "ObjectCodeFormatType",
    "PCHStatusType",
    "SourceCodeType",
]


class SourceCodeType(StrEnum):
    """What :class:`~cuda.core.Program` compiles."""

    CXX = "c++"
    PTX = "ptx"
    NVVM = "nvvm"


class ObjectCodeFormatType(StrEnum):
    """What an :class:`~cuda.core.ObjectCode` is."""

    PTX = "ptx"
    CUBIN = "cubin"
    LTOIR = "ltoir"
    FATBIN = "fatbin"
    OBJECT = "object"
    LIBRARY = "library"


class CompilerBackendType(StrEnum):
    """What does the compiling or linking."""

    NVRTC = "NVRTC"
    NVVM = "NVVM"
    NVJITLINK = "nvJitLink"
    DRIVER = "driver"


class PCHStatusType(StrEnum):
    """The outcome of the creation of a precompiled header."""

    CREATED = "created"
    NOT_ATTEMPTED = "not_attempted"
    FAILED = "failed"


class IsStreamType(Protocol):
    """An object that gives a CUDA stream to other libraries."""

    def __cuda_stream__(self) -> tuple[int, int]:
        """Return ``(0, address)``: the version of the protocol and the address of the ``cudaStream_t``."""
        ...
