# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The NVML module of the bindings, and whether it is compatible."""

from __future__ import annotations

from cuda.core._utils.cuda_utils import binding_version

try:
    from cuda.bindings import nvml
except ImportError:
    nvml = None

__all__ = ["CUDA_BINDINGS_NVML_IS_COMPATIBLE", "nvml", "require"]


def _is_compatible(version: tuple[int, ...]) -> bool:
    return version >= (13, 2, 0) or (12, 9, 6) <= version < (13,)


CUDA_BINDINGS_NVML_IS_COMPATIBLE = nvml is not None and _is_compatible(binding_version())


def require(what: str) -> None:
    """Raise RuntimeError if the bindings have no compatible NVML module; ``what`` names the caller."""
    if not CUDA_BINDINGS_NVML_IS_COMPATIBLE:
        raise RuntimeError(f"{what} needs cuda-bindings 13.2 or later, or 12.9.6 or later of the 12 series, with NVML")
