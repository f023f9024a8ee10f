# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Compile CUDA C++ at run time: ``SourceModule``."""

from __future__ import annotations

from cuda.core._program import Program, ProgramOptions
from cuda.core._utils.cuda_utils import NVRTCError
from cuda.core.driver._context import current_context
from cuda.core.driver._errors import CompileError
from cuda.core.driver._module import Module

__all__ = ["SourceModule", "compile"]


def compile(
    source, nvcc="nvcc", options=None, keep=False, no_extern_c=False, arch=None, code=None, cache_dir=None,
    include_dirs=None, target="cubin",
):  # fmt: skip
    """Compile a source, and return the code as bytes."""
    if not no_extern_c:
        source = f'extern "C" {{\n#line 1\n{source}\n}}\n'
    if arch is None:
        arch = "sm_{}{}".format(*current_context("cuCtxGetDevice")._device.compute_capability())
    try:
        program = Program(source, "c++", ProgramOptions(arch=arch, include_path=list(include_dirs or ()) or None))
        return program.compile(target).code
    except NVRTCError as error:
        raise CompileError("nvrtc compilation failed", [f"-arch={arch}"], stderr=error.log) from None


class SourceModule:
    """A module of a source that is compiled, or found in the cache."""

    def __init__(
        self, source, nvcc="nvcc", options=None, keep=False, no_extern_c=False, arch=None, code=None, cache_dir=None,
        include_dirs=None,
    ):  # fmt: skip
        image = compile(source, nvcc, options, keep, no_extern_c, arch, code, cache_dir, include_dirs)
        self.module = Module(image)
        self.get_function = self.module.get_function
        self.get_global = self.module.get_global
