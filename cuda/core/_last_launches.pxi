# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The last launches, for messages about failed kernels; a part of ``_module.pyx``."""

cimport cython

from cuda.core._utils._cpython cimport PyCode_Addr2Line, PyCodeObject

import operator

from cuda.core._code._conversions import shown_argument
from cuda.core._utils import slots


cdef dict _last_launches = {}   # (symbol, parameters) -> LastLaunch
cdef Py_ssize_t MOST_KERNELS = 10_000


cdef LastLaunch last_launch_of(str symbol, tuple parameters):
    cdef LastLaunch launched = LastLaunch.__new__(LastLaunch)
    launched.symbol, launched.parameters = symbol, parameters
    if len(_last_launches) >= MOST_KERNELS:  # the program generates names, so nobody asks for the oldest
        for key in list(_last_launches)[:MOST_KERNELS // 2]:
            _last_launches.pop(key, None)
    return _last_launches.setdefault((symbol, parameters), launched)


def describe_last_launches() -> str:
    """Return a list of the kernels launched last, newest first, or an empty string if there were no launches."""
    cdef LastLaunch launched
    numbered = [(launched.record.number(), launched) for launched in list(_last_launches.values())]
    found = sorted([item for item in numbered if item[0]], key=operator.itemgetter(0), reverse=True)[:8]
    lines = ["Kernels launched last, newest first:"] if found else []
    return "\n".join(lines + [f"  {LastLaunch_describe(launched)}" for _, launched in found])


cdef str LastLaunch_describe(LastLaunch self):
    sizes = tuple(self.record.sizes)
    block = self.record.block[:sizeof(self.record.block)]
    arguments = ""
    if self.parameters is not None:
        arguments = f"({', '.join([shown_argument(block, *parameter) for parameter in self.parameters])})"
    with cython.critical_section(self):
        code, instruction = self.code, self.instruction
    place = "" if code is None else f" at {code.co_filename}:{PyCode_Addr2Line(<PyCodeObject*>code, instruction)}"
    name = function_name(self.symbol) or "a kernel without a name"
    return f"{name}{arguments}{place} with grid {sizes[:3]} and block {sizes[3:]}"


slots.register("last launches", describe_last_launches)
