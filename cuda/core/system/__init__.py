# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""System management: devices and the driver through NVML, with no CUDA context.

Importing this package needs neither a driver nor a GPU; NVML starts at the first query.
"""

from cuda.core.system import _public, _system, exceptions, typing
from cuda.core.system._public import *
from cuda.core.system._system import *
from cuda.core.system.exceptions import *

__all__ = _system.__all__ + _public.__all__ + exceptions.__all__


def __dir__():
    return [*__all__, "exceptions", "typing"]
