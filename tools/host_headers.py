# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Writes the small host headers of the classic interface while the package is built; not part of the wheel.

Sources for nvcc include headers that NVRTC does not have, and does not need: device code can use next to nothing of
them, or it is built in. They have to be files. NVRTC prefers headers in memory to all include directories, so a
``memory.h`` in memory would hide the ``memory.h`` of a program. Headers with more to say are in
``cuda/core/driver/include``.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["HEADERS", "write_headers"]

EMPTY = """
assert.h builtin_types.h common_functions.h ctype.h cuda_runtime.h cuda_runtime_api.h device_atomic_functions.h
device_functions.h device_launch_parameters.h driver_types.h host_defines.h iomanip iostream math_functions.h memory.h
signal.h sm_20_atomic_functions.h sm_20_intrinsics.h sm_30_intrinsics.h sm_32_atomic_functions.h sm_35_intrinsics.h
stdbool.h string.h sys/time.h sys/types.h unistd.h vector_functions.h vector_types.h
""".split()

# Headers that only include another one.
FORWARDING = {
    "cassert": "assert.h",
    "cerrno": "errno.h",
    "cfloat": "float.h",
    "cinttypes": "inttypes.h",
    "climits": "limits.h",
    "cmath": "math.h",
    "cstdio": "stdio.h",
    "cstdlib": "stdlib.h",
    "cstring": "string.h",
    "ctime": "time.h",
    "limits.h": "driver_numbers.h",
    "math.h": "driver_numbers.h",
}

SMALL = {
    "cstddef": """
#include "stddef.h"

extern "C++" {
namespace std {
using ::ptrdiff_t;
typedef unsigned long size_t;
}  // namespace std
}  // extern "C++"
""",
    "errno.h": """
#ifndef EINVAL
#define EPERM 1
#define ENOENT 2
#define ENOMEM 12
#define EINVAL 22
#define EDOM 33
#define ERANGE 34
#endif
""",
    "stddef.h": """
#include "driver_numbers.h"

#ifndef __cplusplus
typedef unsigned long size_t;
#endif
typedef long ptrdiff_t;
""",
    "stdio.h": """
#include "driver_numbers.h"

#ifndef EOF
#define EOF (-1)
#endif
#ifndef BUFSIZ
#define BUFSIZ 8192
#endif
""",
    "stdlib.h": """
#include "driver_numbers.h"

#ifndef EXIT_SUCCESS
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#endif
""",
    "time.h": """
#include "driver_numbers.h"

#ifndef CLOCKS_PER_SEC
#define CLOCKS_PER_SEC 1000000L
#endif
""",
}

HEADERS = {
    **dict.fromkeys(EMPTY, ""),
    **{name: f'\n#include "{included}"\n' for name, included in FORWARDING.items()},
    **SMALL,
}


def write_headers(directory: Path) -> None:
    """Write the headers below a directory."""
    for name, text in HEADERS.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"// Written by tools/host_headers.py.\n#pragma once\n{text}")
