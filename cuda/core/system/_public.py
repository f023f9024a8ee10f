# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Public names that exist only with a compatible NVML module in the bindings."""

from __future__ import annotations

from cuda.core.system._support import CUDA_BINDINGS_NVML_IS_COMPATIBLE

__all__ = []

if CUDA_BINDINGS_NVML_IS_COMPATIBLE:
    from cuda.core.system._device import Device, NvlinkInfo, get_p2p_status, get_topology_common_ancestor
    from cuda.core.system._system_events import register_events

    __all__ = ["Device", "NvlinkInfo", "get_p2p_status", "get_topology_common_ancestor", "register_events"]
