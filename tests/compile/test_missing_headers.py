# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Advice for headers that a compiler did not find."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest

from cuda.core import LaunchConfig, LegacyPinnedMemoryResource, NVRTCError, Program, ProgramOptions, launch
from cuda.core._compile import _missing_headers
from cuda.core._compile._missing_headers import missing_header_advice
from cuda.core._compile._request import compile_settings
from cuda.core.typing import SourceCodeType
from cuda.core.utils import InMemoryProgramCache

LOGS = (
    'a.cu(1): catastrophic error: could not open source file "{}" (no directories in search list)\n',
    'a.cu(1): catastrophic error: cannot open source file "{}"\n',
)


def advice(header, version=(13, 0), has_bundled_headers=False, log=LOGS[0]):
    return missing_header_advice(log.format(header), version, has_bundled_headers)


@pytest.fixture
def installed_headers(monkeypatch):
    """A list with the directory of the installed headers of all libraries; at first None."""
    found = [None]
    monkeypatch.setattr(_missing_headers, "header_directory", lambda library: found[0])
    _missing_headers.find_installed_headers.cache_clear()
    yield found
    _missing_headers.find_installed_headers.cache_clear()


@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize(
    "header, package, library",
    [
        ("cuda/std/type_traits", "nvidia-cuda-cccl", "cccl"),
        ("cub/block/block_reduce.cuh", "nvidia-cuda-cccl", "cccl"),
        ("thrust/device_vector.h", "nvidia-cuda-cccl", "cccl"),
        ("nv/target", "nvidia-cuda-cccl", "cccl"),
        ("cuda_fp16.h", "nvidia-cuda-runtime", "cudart"),
        ("cuda_runtime.h", "nvidia-cuda-runtime", "cudart"),
        ("cuda.h", "nvidia-cuda-runtime", "cudart"),
        ("cooperative_groups/reduce.h", "nvidia-cuda-runtime", "cudart"),
        ("mma.h", "nvidia-cuda-runtime", "cudart"),
        ("crt/host_defines.h", "nvidia-cuda-crt", "cudart"),
        ("curand_kernel.h", "nvidia-curand", "curand"),
    ],
)
@pytest.mark.usefixtures("installed_headers")
def test_advice_names_the_package_of_a_header(header, package, library, log):
    text = advice(header, log=log)
    assert text == (
        f"'{header}' comes with the CUDA Toolkit or `pip install {package}`: "
        f"add its directory, cuda.pathfinder.find_nvidia_header_directory('{library}'), to include_path"
    )
    assert f"`pip install {package}-cu12`" in advice(header, (12, 9), log=log)


@pytest.mark.parametrize(
    "header, package",
    [
        ("cutlass/cutlass.h", "nvidia-cutlass"), ("cute/tensor.hpp", "nvidia-cutlass"),
        ("cublasdx.hpp", "nvidia-mathdx"), ("nvshmem.h", "nvidia-nvshmem-cu13"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("installed_headers")
def test_advice_names_packages_beside_the_toolkit(header, package):
    for version in ((12, 9), (13, 0)):
        assert advice(header, version).startswith(f"'{header}' comes with `pip install {package}`: ")


def test_advice_names_the_folder_of_an_installed_header(installed_headers, tmp_path):
    (tmp_path / "cuda_fp16.h").touch()
    installed_headers[0] = str(tmp_path)
    assert advice("cuda_fp16.h") == f"'cuda_fp16.h' is in '{tmp_path}': add this directory to include_path"
    assert "`pip install nvidia-cuda-runtime`" in advice("cuda_bf16.h")


@pytest.mark.parametrize(
    "header, is_bundled", [("cuda_fp16.h", True), ("cub/cub.cuh", True), ("cuda_runtime.h", False)]
)
def test_advice_names_the_option_for_bundled_headers(header, is_bundled):
    assert advice(header, has_bundled_headers=True).endswith(", or set use_bundled_headers=True") is is_bundled
    assert "use_bundled_headers" not in advice(header)


@pytest.mark.parametrize(
    "header, other", [("vector", "vector"), ("stdint.h", "cstdint"), ("type_traits", "type_traits")]
)
def test_advice_replaces_the_host_standard_library(header, other):
    text = advice(header)
    assert f"no headers of the host's standard library, such as '{header}'" in text
    assert f"<cuda/std/{other}> of nvidia-cuda-cccl" in text


@pytest.mark.parametrize("header", ["math.h", "cassert", "stdio.h"])
def test_advice_leaves_out_headers_of_built_in_functions(header):
    assert advice(header) == (
        f"remove the #include of '{header}': NVRTC has the functions that device code can use of it built in"
    )


@pytest.mark.requires(nvrtc=True, software=False)
def test_built_in_functions_need_no_header():
    source = '__global__ void f(float x) { assert(x > 0); printf("%f", sqrtf(x)); }'
    assert Program(source, "c++", ProgramOptions(arch="sm_90")).compile("cubin").code


def test_headers_of_users_belong_in_include_path():
    assert advice("mine.h") == "add the directory of 'mine.h' to include_path"


@pytest.mark.parametrize("log", [None, "", "a.cu(1): error: expected a declaration\n"])
def test_other_messages_have_no_advice(log):
    assert missing_header_advice(log, (13, 0), False) == ""


@pytest.mark.parametrize("error", [AttributeError, RuntimeError, ValueError])
def test_advice_works_with_a_pathfinder_without_the_headers(monkeypatch, error):
    def fail(library):
        raise error(library)

    pathfinder = types.SimpleNamespace(find_nvidia_header_directory=fail)
    monkeypatch.setitem(sys.modules, "cuda.pathfinder", pathfinder)
    assert "`pip install nvidia-curand`" in advice("curand_kernel.h")


@pytest.mark.requires(nvrtc=True, software=False)
@pytest.mark.parametrize("header", ["<curand_kernel.h>", '"curand_kernel.h"'])
@pytest.mark.usefixtures("installed_headers")
def test_error_has_the_advice(header):
    program = Program(f"#include {header}\n", "c++", ProgramOptions(arch="sm_90"))
    with pytest.raises(NVRTCError, match="`pip install nvidia-curand") as caught:
        program.compile("cubin")
    assert "pip install" not in caught.value.log
    assert caught.value.diagnostics[0].line == 1


@pytest.mark.requires(nvrtc=True)
@pytest.mark.requires(cuda_headers=True)
@pytest.mark.parametrize("header", ["cuda_fp16.h", "cuda/std/type_traits", "cub/block/block_reduce.cuh"])
def test_headers_of_installed_packages_are_found(header):
    source = f"#include <{header}>\n__global__ void f(int* x) {{ *x = 1; }}"
    assert Program(source, "c++", ProgramOptions(arch="sm_90")).compile("ptx").code


def test_include_path_comes_before_installed_headers(monkeypatch, tmp_path):
    monkeypatch.setattr(_missing_headers.libraries, "compiler_build", lambda: "")
    monkeypatch.setattr(_missing_headers, "header_directory", lambda library: f"/opt/{library}")
    _missing_headers.find_installed_headers.cache_clear()
    options = ProgramOptions(arch="sm_90", include_path=[str(tmp_path)])
    arguments = compile_settings(SourceCodeType.CXX, options, "#include <x.h>").arguments
    found = [item.decode() for item in arguments if item.startswith(b"--include-path")]
    _missing_headers.find_installed_headers.cache_clear()
    assert found == [f"--include-path={tmp_path}", "--include-path=/opt/cudart", "--include-path=/opt/cccl"]
    for source, more in (("__global__ void f() {}", {}), ("#include <x.h>", {"use_bundled_headers": True})):
        assert _missing_headers.installed_header_directories(source, ProgramOptions(arch="sm_90", **more)) == []


@pytest.fixture
def own_cccl(monkeypatch, tmp_path):
    """The directory of an installed CCCL with one header, which a source does not name directly."""
    (tmp_path / "cccl" / "cub").mkdir(parents=True)
    (tmp_path / "user.h").write_text("#include <cub/number.cuh>\n")
    monkeypatch.setattr(_missing_headers, "header_directory", lambda library: str(tmp_path / library))
    _missing_headers.find_installed_headers.cache_clear()
    yield tmp_path / "cccl"
    _missing_headers.find_installed_headers.cache_clear()


@pytest.mark.requires(software=True)
def test_software_device_finds_headers_of_packages(own_cccl, device, stream):
    source = '#include "user.h"\n__global__ void f(int* x, float) { *x = NUMBER; }'
    options, cache = ProgramOptions(include_path=str(own_cccl.parent)), InMemoryProgramCache()
    found = LegacyPinnedMemoryResource().allocate(4)
    numbers, sizes = [], []
    for number in (1, 2, 1):
        (own_cccl / "cub" / "number.cuh").write_text(f"#define NUMBER {number}\n")
        kernel = Program(source, "c++", options).compile("cubin", name_expressions=["f"], cache=cache).get_kernel("f")
        launch(stream, LaunchConfig(grid=1, block=1), kernel, found, 2)  # the int fits, because the type is known
        stream.sync()
        numbers += np.from_dlpack(found).view(np.int32).tolist()
        sizes.append(len(cache))
    assert numbers == [1, 2, 1] and sizes[0] < sizes[1] == sizes[2]


@pytest.mark.requires(software=True)
def test_missing_header_of_an_installed_package_is_an_error(own_cccl):
    with pytest.raises(NVRTCError, match="cub/other.cuh"):
        Program("#include <cub/other.cuh>\n", "c++", ProgramOptions(arch="sm_90")).compile("cubin")


@pytest.mark.parametrize(
    ("header", "has_advice"),
    [("curand_kernel.h", True), ("cub/cub.cuh", True), ("cuda_fp8.h", False), ("vector", False)],
)
def test_software_device_is_told_where_headers_of_packages_are(header, has_advice):
    log = f'a(1): catastrophic error: cannot open source file "{header}"\nnote: not available on the software device'
    assert ("include_path" in missing_header_advice(log, (13, 5), False)) == has_advice
