# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The limit for the bytes of a kernel's parameters, as NVRTC 13.5 and nvJitLink apply it."""

import sys

import pytest

from support.compiled import Program

KERNEL = "struct S {{ char v[{}]; }};\n\n__global__ void f(S s, char* x) {{ *x = s.v[*x]; }}\n"
FRONT = (
    "default_program(3): Error: Formal parameter space overflowed ({} bytes required, max 32764 bytes allowed) "
    "in function"
)
PTXAS = "Entry function '_Z1f1SPc' uses too much parameter space (0x8000 bytes, 0x7ffc max)."


@pytest.mark.parametrize("option", ["-arch=sm_75", "-arch=sm_90", "-rdc=true"])
@pytest.mark.parametrize(
    ("size", "text"),
    [(4089, ""), (32752, ""), (32756, PTXAS), (32757, FRONT.format(32765)), (40000, FRONT.format(40008))],
)
def test_limit_is_that_of_nvrtc(driver, size, text, option):
    options = [option] if "arch" in option else ["-arch=sm_90", option]
    program = Program(KERNEL.format(size), *options)
    assert program.result == ("COMPILATION" if text else "SUCCESS")
    assert text in program.log


def test_limit_names_each_kernel(driver):
    source = KERNEL.format(40000) + "template <class T> __global__ void g(S s, T* x) { *x = s.v[*x]; }\n"
    lines = Program(source, "-arch=sm_90", names=("g<int>",)).log.splitlines()
    assert f"{FRONT.format(40008)} _Z1f1SPc" in lines
    assert f"{FRONT.format(40008)} _Z1gIiEv1SPT_".replace("(3)", "") in lines


def test_limit_of_text_is_applied_when_it_is_loaded(driver, context):
    text = Program(KERNEL.format(32756), "-arch=compute_90")
    assert text.result == "SUCCESS"
    assert driver.result("cuLibraryLoadData", text.output("PTX"), [], [], 0, [], [], 0) == "INVALID_PTX"
    module = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .align 8 .b8 p[{}]) {{ ret; }}\n"
    for size, result in ((32760, "SUCCESS"), (32768, "INVALID_PTX")):
        image = module.format(size).encode() + b"\0"
        assert driver.result("cuModuleLoadData", image) == result


@pytest.mark.parametrize("size", [32756, 40000])
def test_limit_of_ltoir_is_applied_when_it_is_linked(driver, size):
    from cuda.bindings import nvjitlink

    code = Program(KERNEL.format(size), "-arch=sm_90", "-dlto", "-rdc=true")
    assert code.result == "SUCCESS"
    linker = nvjitlink.create(2, ["-arch=sm_90", "-lto"])
    data = code.output("LTOIR")
    nvjitlink.add_data(linker, nvjitlink.InputType.LTOIR, data, len(data), "part")
    with pytest.raises(nvjitlink.nvJitLinkError):
        nvjitlink.complete(linker)
    log = bytearray(nvjitlink.get_error_log_size(linker))
    nvjitlink.get_error_log(linker, log)
    nvjitlink.destroy(linker)
    assert b"uses too much parameter space" in log


OLDER = f"""
import sys
sys.path[:0] = {sys.path!r}
from support.compiled import Program
for size in (4088, 4089):
    program = Program({KERNEL!r}.format(size), "-arch=sm_90")
    print(program.result, program.log)
"""


@pytest.mark.parametrize(("version", "fits"), [("12.0", False), ("11.8", False), ("12.1", True)])
def test_limit_before_cuda_12_1_is_smaller(child, version, fits):
    first, second = child(OLDER, DRIVER_VERSION=version).split("\n", 1)
    assert first == "SUCCESS "
    assert second.startswith("SUCCESS" if fits else "COMPILATION")
    assert fits or "(4097 bytes required, max 4096 bytes allowed) in function" in second
