# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The C++ compilers that the software device supports."""

import shutil
import sys

import pytest

COMPILERS = {
    "g++": "g++",
    "clang++": "clang++",
    "zig": "zig c++" if shutil.which("zig") else f"{sys.executable} -m ziglang c++",
}
INSTALLED = [pytest.param(name, marks=pytest.mark.requires(command=name)) for name in COMPILERS]
