# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The classic driver-style interface on primary contexts: ``import cuda.core.driver as drv``."""

from cuda.core.driver._constants import *
from cuda.core.driver._context import *
from cuda.core.driver._copies import *
from cuda.core.driver._cuda_arrays import *
from cuda.core.driver._device_memory import *
from cuda.core.driver._errors import *
from cuda.core.driver._host_memory import *
from cuda.core.driver._ipc import *
from cuda.core.driver._linker import *
from cuda.core.driver._module import *
from cuda.core.driver._pools import *
from cuda.core.driver._streams import *
from cuda.core.driver._textures import *

__all__ = [name for name in dir() if not name.startswith("_")]
