# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""System management: devices and the driver through NVML, without a CUDA context.

Importing this package needs neither a driver nor a GPU. NVML starts on the first query.
"""

from typing import TYPE_CHECKING

from cuda.core.system import _system, exceptions, typing
from cuda.core.system._system import *
from cuda.core.system.exceptions import *

__all__ = [*_system.__all__, *exceptions.__all__]

if _system.CUDA_BINDINGS_NVML_IS_COMPATIBLE:
    from cuda.core.system._device import Device, NvlinkInfo, get_p2p_status, get_topology_common_ancestor
    from cuda.core.system._system_events import register_events

    __all__ += ["Device", "NvlinkInfo", "get_p2p_status", "get_topology_common_ancestor", "register_events"]

if TYPE_CHECKING:
    # Checkers cannot see the classes that are read from the bindings. These are the documented ones.
    class NvmlError(Exception): ...

    class NotSupportedError(NvmlError): ...

    class NoPermissionError(NvmlError): ...

    class NotFoundError(NvmlError): ...

    class TimeoutError(NvmlError): ...


def __dir__():
    return [*__all__, "exceptions", "typing"]
