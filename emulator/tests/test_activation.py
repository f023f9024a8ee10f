# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Activating the software device, and the functions that its library exports."""

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cuda.emulator
from support.compiled import Code, Program

VERSIONS_OF_CONTEXT = {4000: "cuCtxCreate_v2", 12000: "cuCtxCreate_v3", 12060: "cuCtxCreate_v4"}


def address_of(driver, name, version=13050, flags=0):
    return driver.cuGetProcAddress(name.encode(), version, flags)


def test_activating_twice_has_no_effect(driver):
    cuda.emulator.activate()
    assert cuda.emulator.is_active()


@pytest.mark.parametrize(("files", "todo"), [(["CMakeLists.txt"], "cmake -S . -B build"), ([], "it is built on Linux")])
def test_unbuilt_package_says_so_in_one_sentence(tmp_path, files, todo):
    package = Path(cuda.emulator.__file__).parent
    shutil.copytree(package, tmp_path / "cuda" / "emulator", ignore=shutil.ignore_patterns("*.so*", "device_include"))
    for name in files:
        (tmp_path / name).touch()
    command = [sys.executable, "-m", "cuda.emulator", "-c", "print('ran')"]
    done = subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1), done.stderr
    assert "the software device was not built" in done.stderr and todo in done.stderr


def test_version_matches_headers(driver):
    assert driver.cuDriverGetVersion() == 13050


@pytest.mark.parametrize(("version", "symbol"), VERSIONS_OF_CONTEXT.items())
def test_older_version_returns_an_older_function(driver, version, symbol):
    library = ctypes.CDLL(cuda.emulator.library_path())
    expected = ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value
    assert address_of(driver, "cuCtxCreate", version)[0] == expected


def test_only_functions_with_a_stream_have_a_per_thread_variant(driver):
    plain, per_thread = (address_of(driver, "cuMemcpyAsync", 13050, flags)[0] for flags in (0, 2))
    assert plain != per_thread
    assert address_of(driver, "cuMemAlloc", 13050, 0) == address_of(driver, "cuMemAlloc", 13050, 2)


def test_unknown_and_too_new_names_have_different_results(driver):
    status = driver.CUdriverProcAddressQueryResult
    assert address_of(driver, "cuNoSuchCall") == (0, status.CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND)
    assert address_of(driver, "cuLibraryLoadData", 11000)[1] == status.CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT


def test_older_driver_lacks_newer_functions(child):
    out = child(
        "from cuda.bindings import driver as d; d.cuInit(0); print(d.cuDriverGetVersion()[1]);"
        "print(d.cuGetProcAddress(b'cuKernelGetName', 13050, 0)[2].name)",
        DRIVER_VERSION="12.0",
    )
    assert out.split() == ["12000", "CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND"]


def test_calls_before_initialization_fail(child):
    out = child("from cuda.bindings import driver as d; print(d.cuDeviceGetCount()[0].name, d.cuDriverGetVersion()[1])")
    assert out.split() == ["CUDA_ERROR_NOT_INITIALIZED", "13050"]


def test_initialization_without_devices_fails(child):
    out = child("from cuda.bindings import driver as d; print(d.cuInit(0)[0].name)", DEVICES=0)
    assert out.split() == ["CUDA_ERROR_NO_DEVICE"]


def test_unimplemented_calls_are_counted(driver):
    before = cuda.emulator.unsupported_calls().get("cuGLInit", 0)
    assert driver.result("cuGetProcAddress", b"cuGLInit", 13050, 0) == "SUCCESS"
    ctypes.CDLL(cuda.emulator.library_path()).cuGLInit()
    assert cuda.emulator.unsupported_calls()["cuGLInit"] == before + 1


def test_private_tables_are_not_exported(driver):
    table = ctypes.c_void_p(1)
    library = ctypes.CDLL(cuda.emulator.library_path())
    assert library.cuGetExportTable(ctypes.byref(table), None) == 500
    assert table.value is None


def test_activating_after_loading_another_driver_fails(child, tmp_path):
    import subprocess

    source = tmp_path / "other.c"
    source.write_text("int cuInit(unsigned flags) { return (int)flags; }\n")
    other = tmp_path / "libother.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", source, "-o", other], check=True)
    out = child(
        f"import ctypes; ctypes.CDLL({str(other)!r})\nimport cuda.emulator\n"
        "try: cuda.emulator.activate()\nexcept RuntimeError as e: print('error:', e)",
        device=False,
    )
    assert out.startswith("error: libcuda.so.1 is already loaded")


def test_missing_library_is_named(child):
    out = child(
        "import cuda.emulator as e\ne.library_path = lambda: '/nowhere/x.so'\n"
        "try: e.activate()\nexcept RuntimeError as x: print(x)",
        device=False,
    )
    assert "/nowhere/x.so is missing" in out


def test_functions_need_an_active_device(child):
    out = child("import cuda.emulator as e\ntry: e.leaks()\nexcept RuntimeError as x: print(x)", device=False)
    assert "call cuda.emulator.activate() first" in out


def test_program_is_run_with_its_arguments(child, tmp_path):
    import os
    import subprocess
    import sys

    program = tmp_path / "program.py"
    program.write_text(
        "import sys, os\nfrom cuda.bindings import driver\n"
        "print(driver.cuInit(0)[0].name, sys.argv[1:], __name__, os.environ['CUDA_CORE_DEVICE'])\n"
    )
    out = subprocess.run(
        [sys.executable, "-m", "cuda.emulator", str(program), "a", "b"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    ).stdout
    assert out.strip() == "CUDA_SUCCESS ['a', 'b'] __main__ software"


def test_every_error_has_a_name_and_a_message(driver):
    for result in driver.CUresult:
        assert driver.cuGetErrorName(result).decode() == result.name
        assert driver.cuGetErrorString(result)
    name = ctypes.c_char_p(b"?")
    library = ctypes.CDLL(cuda.emulator.library_path())
    assert library.cuGetErrorName(12345, ctypes.byref(name)) == 1
    assert name.value is None


def test_trace_lists_calls_with_arguments_and_results(child):
    out = child("from cuda.bindings import driver as d; d.cuInit(0); d.cuDeviceGet(5)", TRACE="stderr")
    assert "cuInit(Flags=0) = CUDA_SUCCESS" in out
    assert "ordinal=5) = CUDA_ERROR_INVALID_DEVICE" in out


@pytest.mark.requires(software=True)
@pytest.mark.parametrize("name", ["f", "i", "v", "x"])
def test_kernel_name_of_one_letter_is_not_demangled_as_a_type(driver, context, capfd, name):
    source = f'extern "C" __global__ void {name}(int* p) {{ *p = 1; }}'
    code = Code(driver, Program(source, "-arch=sm_90").image)
    with pytest.raises(Exception, match="ILLEGAL_ADDRESS"):
        code(name, 1, 1, np.uint64(8))
    report = capfd.readouterr().err
    assert f"kernel {name}: " in report
    assert f" in {name}\n" in report  # also in the source location
    code.close()


def test_runtime_library_fails_with_one_message(child):
    out = child(
        "from cuda.bindings import driver\n"
        "for _ in range(2): print(driver.cuGetExportTable(driver.CUuuid())[0].name)\n"
        "print(driver.cuInit(0)[0].name, driver.cuDeviceGetCount()[1])"
    )
    assert out.startswith("CUDA_ERROR_NOT_FOUND\nCUDA_ERROR_NOT_FOUND\nCUDA_SUCCESS 2\n")
    assert out.count("use cuda.core, cuda.bindings") == 1


def test_library_behind_links_finds_its_headers(child, tmp_path):
    for path in Path(cuda.emulator.library_path()).parent.glob("*.so*"):
        (tmp_path / path.name).symlink_to(path)
    out = child(
        f"import ctypes; ctypes.CDLL({str(tmp_path / '_emulator.so')!r}, ctypes.RTLD_GLOBAL)\n"
        "from cuda.bindings import nvrtc\n"
        "source = b'#include <cuda_fp16.h>\\n__global__ void f(__half* p) { *p = 1; }'\n"
        "program = nvrtc.nvrtcCreateProgram(source, b'f.cu', 0, [], [])[1]\n"
        "print(nvrtc.nvrtcCompileProgram(program, 0, [])[0].name)",
        device=False,
    )
    assert out == "NVRTC_SUCCESS\n"
