# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Linking, and code compiled at load time."""

import numpy as np
import pytest

import cuda.core.driver as drv
from cuda.core.driver import compiler
from cuda.core.driver._errors import logic_error
from cuda.core.driver.compiler import DynamicModule, DynamicSourceModule, SourceModule, compile

pytestmark = pytest.mark.usefixtures("context")

PART = "__device__ int triple(int x) { return 3 * x; }"
MAIN = "__device__ int triple(int); __global__ void f(int *x) { x[0] = triple(7); }"


def result(module):
    x = np.zeros(1, np.int32)
    module.get_function("f")(drv.Out(x), block=(1, 1, 1))
    return x[0]


def relocatable(source):
    return compile(source, options=["-rdc=true"], cache_dir=False)


@pytest.mark.requires(cuda=(12, 4))
def test_several_sources_are_linked():
    module = DynamicModule()
    with pytest.raises(drv.LogicError, match=r"call link\(\) first"):
        module.get_function("f")
    assert module.add_source(MAIN) is module and module.add_source(PART, ["-w"], "part") is module
    assert module.link() is module
    assert result(module) == 21


def test_code_from_memory_and_files_is_linked(tmp_path):
    (tmp_path / "part.cubin").write_bytes(relocatable(PART))
    module = DynamicModule().add_data(relocatable(MAIN), drv.jit_input_type.CUBIN)
    assert result(module.add_file(str(tmp_path / "part.cubin"), drv.jit_input_type.CUBIN).link()) == 21


def test_message_handler_gets_the_log_of_the_linker(tmp_path):
    said = []
    linker = drv.Linker(lambda *what: said.append(what), [(drv.jit_option.MAX_REGISTERS, 64)], log_verbose=True)
    linker.add_data(relocatable(MAIN), drv.jit_input_type.CUBIN, "main")
    linker.add_data(relocatable(PART), drv.jit_input_type.CUBIN)
    assert result(linker.link_module()) == 21
    [(ok, info, error)] = said
    assert ok is True and isinstance(info, str) and isinstance(error, str)


def test_unlinkable_code_raises():
    said = []
    linker = drv.Linker(lambda *what: said.append(what))
    with pytest.raises(drv.LogicError, match="no code was added"):
        linker.link_module()
    linker.add_data(relocatable(MAIN), drv.jit_input_type.CUBIN)
    with pytest.raises(drv.Error, match="triple"):
        linker.link_module()
    assert said and said[0][0] is False and "triple" in said[0][2]
    with pytest.raises(drv.RuntimeError, match="cuLinkAddFile failed: file not found"):
        linker.add_file("nowhere", drv.jit_input_type.PTX)
    with pytest.raises(drv.LogicError, match="99 is not a jit_input_type"):
        linker.add_data(b"", 99)


def test_jit_options_become_linker_options():
    for option in (drv.jit_option.MAX_REGISTERS, 32), (drv.jit_option.OPTIMIZATION_LEVEL, 4), (2, 0):
        linker = drv.Linker(options=[option], log_verbose=True)
        linker.add_data(relocatable(MAIN), drv.jit_input_type.CUBIN)
        linker.add_data(relocatable(PART), drv.jit_input_type.CUBIN)
        assert result(linker.link_module()) == 21
    with pytest.raises(drv.LogicError, match="1000 is not a jit_option"):
        drv.Linker(options=[(1000, 0)])
    with pytest.raises(drv.LogicError, match="TARGET must be a jit_target"):
        drv.Linker(options=[(drv.jit_option.TARGET, 3 << 16 | 90)])


def test_code_is_loaded_with_a_handler_for_messages():
    said = []
    code = compile("__global__ void f(int *x) { x[0] = 5; }")
    assert result(drv.module_from_buffer(code, message_handler=lambda *what: said.append(what))) == 5
    assert said == [(True, "", "")]
    ptx = compile("__global__ void f(int *x) { x[0] = 5; }", target="ptx")
    options = [(drv.jit_option.MAX_REGISTERS, 32)]
    assert result(drv.module_from_buffer(memoryview(ptx), options, lambda *what: said.append(what))) == 5
    assert said[1][0] is True


def test_dynamic_source_modules_are_linked_and_run():
    assert result(DynamicSourceModule("__global__ void f(int *x) { x[0] = 9; }")) == 9
    assert result(SourceModule("__global__ void f(int *x) { x[0] = 9; }")) == 9


def test_a_missing_device_runtime_matters_if_a_kernel_needs_it(monkeypatch):
    def find_library(name, directory=None):
        raise logic_error("cuLinkAddFile", 301, f"lib{name}.a was not found")

    monkeypatch.setattr(compiler, "find_library", find_library)
    assert result(DynamicSourceModule("__global__ void f(int *x) { x[0] = 9; }")) == 9
    with pytest.raises(drv.RuntimeError, match=r"libcudadevrt\.a was not found"):
        DynamicSourceModule(MAIN)


def test_another_error_of_linking_is_raised_as_it_is():
    with pytest.raises(drv.LogicError, match="triple"):
        DynamicSourceModule(MAIN)


def test_libraries_are_found_or_named_in_the_error(tmp_path):
    with pytest.raises(drv.RuntimeError, match=r"libnone\.a was not found in"):
        DynamicModule(cuda_libdir=str(tmp_path)).add_stdlib("none")
    with pytest.raises(drv.RuntimeError, match="pass cuda_libdir"):
        DynamicModule().add_stdlib("certainly_not_there")
    with pytest.raises(drv.RuntimeError, match="nothing_like_it"):
        DynamicModule().add_stdlib("nothing_like_it")


@pytest.mark.requires(software=False)
def test_kernel_launches_a_kernel():
    source = """
    __global__ void child(int *x) { x[threadIdx.x] = threadIdx.x; }
    __global__ void f(int *x) { child<<<1, 4>>>(x); }
    """
    x = np.zeros(4, np.int32)
    DynamicSourceModule(source).get_function("f")(drv.InOut(x), block=(1, 1, 1))
    assert x.tolist() == [0, 1, 2, 3]
