# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Enums, protocols and aliases of the public interface."""

from __future__ import annotations

from typing import Protocol

__all__ = ["IsStreamType"]


class IsStreamType(Protocol):
    """An object that gives a CUDA stream to other libraries."""

    def __cuda_stream__(self) -> tuple[int, int]:
        """Return ``(0, address)``: the version of the protocol and the address of the ``cudaStream_t``."""
        ...
