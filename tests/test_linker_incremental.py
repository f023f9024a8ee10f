# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Incremental links, and links to LTO IR: results that another link takes."""

import pytest

from cuda.core import Linker, LinkerOptions, NotSupportedError, Program, ProgramOptions, _linker
from support.code import ARCH, MAIN, compiled

pytestmark = pytest.mark.requires(nvrtc=True, nvjitlink_version=(13, 3), software=False)

MIDDLE = 'extern "C" __device__ int last(int); extern "C" __device__ int part(int y) { return last(y) + 1; }'
LAST = 'extern "C" __device__ int last(int y) { return 3 * y; }'


def ltoir(source):
    return Program(source, "c++", ProgramOptions(arch=ARCH, link_time_optimization=True)).compile("ltoir")


def link(*object_codes, target="cubin", **options):
    return Linker(*object_codes, options=LinkerOptions(arch=ARCH, **options)).link(target)


def test_incremental_link_leaves_references_for_the_next_link():
    inner = link(compiled(MAIN, "cubin"), compiled(MIDDLE, "cubin"), incremental=True)
    assert inner.code_type == "cubin"
    whole = link(inner, compiled(LAST, "cubin"))
    assert whole.code.startswith(b"\x7fELF")
    assert whole.code != inner.code


def test_incremental_lto_link_leaves_references_for_the_next():
    inner = link(ltoir(MAIN), ltoir(MIDDLE), target="ltoir", incremental=True, link_time_optimization=True)
    assert inner.code_type == "ltoir"
    assert link(inner, ltoir(LAST), link_time_optimization=True).code.startswith(b"\x7fELF")


def test_incremental_link_makes_no_ptx():
    linker = Linker(ltoir(MAIN), options=LinkerOptions(arch=ARCH, incremental=True, link_time_optimization=True))
    with pytest.raises(ValueError, match="must be 'cubin' or 'ltoir' with incremental=True, not 'ptx'"):
        linker.link("ptx")


def test_link_to_lto_ir_needs_link_time_optimization():
    with pytest.raises(ValueError, match="'ltoir' needs the option link_time_optimization=True"):
        link(compiled(MAIN, "cubin"), target="ltoir", incremental=True)


@pytest.mark.parametrize("kind", ["cubin", "ptx"])
def test_link_to_lto_ir_rejects_inputs_without_it(kind):
    with pytest.raises(ValueError, match=f"input of type '{kind}', which contain no LTO IR"):
        link(ltoir(MAIN), compiled(MIDDLE, kind), target="ltoir", incremental=True, link_time_optimization=True)


def test_older_nvjitlink_is_named(monkeypatch):
    linker = Linker(ltoir(MAIN), options=LinkerOptions(arch=ARCH, incremental=True, link_time_optimization=True))
    monkeypatch.setattr(_linker, "nvjitlink_version", lambda: (13, 1))
    with pytest.raises(NotSupportedError, match=r"incremental=True needs nvJitLink 13\.2, but nvJitLink 13\.1"):
        Linker(ltoir(MAIN), options=LinkerOptions(arch=ARCH, incremental=True))
    with pytest.raises(NotSupportedError, match=r"target_type 'ltoir' needs nvJitLink 13\.3, but nvJitLink 13\.1"):
        linker.link("ltoir")
