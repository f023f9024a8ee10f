# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Programs and kernels from files: their language, name, headers and errors."""

import numpy as np
import pytest

from cuda.core import NVRTCError, Program, ProgramOptions
from cuda.core.utils import kernel

ARCH = {"arch": "sm_90"}


@pytest.fixture
def file(tmp_path):
    """A source that includes a header beside it."""
    (tmp_path / "value.h").write_text("#define VALUE 7\n")
    path = tmp_path / "set.cu"
    path.write_text('#include "value.h"\nextern "C" __global__ void set(int* x) { *x = VALUE; }\n')
    return path


@pytest.mark.parametrize("convert", [lambda path: path, str], ids=["path", "str"])
def test_headers_beside_the_file_are_found(file, convert):
    code = Program.from_file(convert(file), ARCH).compile("cubin")
    assert code.name == str(file) and code.code


def test_messages_name_the_file(file):
    file.write_text("void f() { y = 1; }\n")
    with pytest.raises(NVRTCError) as caught:
        Program.from_file(file, ProgramOptions(arch="sm_90")).compile("ptx")
    assert caught.value.diagnostics[0].file == str(file)


def test_options_keep_their_name_and_are_not_changed(file):
    named, unnamed = ProgramOptions(arch="sm_90", name="mine"), ProgramOptions(arch="sm_90", include_path=[file.parent])
    assert Program.from_file(file, {**ARCH, "name": "mine", "include_path": [str(file.parent)]})._options.name == "mine"
    Program.from_file(file, unnamed)
    assert (named.name, unnamed.name) == ("mine", "default_program")


@pytest.mark.parametrize(("suffix", "backend"), [(".ptx", "nvJitLink"), (".PTX", "nvJitLink"), (".cpp", "NVRTC")])
def test_suffix_tells_the_language(file, suffix, backend):
    path = file.with_suffix(suffix)
    path.write_bytes(file.read_bytes() if backend == "NVRTC" else Program.from_file(file, ARCH).compile("ptx").code)
    assert Program.from_file(path, ARCH).backend in (backend, "driver")
    assert Program.from_file(file, ARCH, code_type="c++").backend == "NVRTC"


def test_missing_and_malformed_files_raise(file):
    with pytest.raises(FileNotFoundError):
        Program.from_file(file.with_name("missing.cu"))
    with pytest.raises(FileNotFoundError):
        kernel(file.with_name("missing.cu"), "set")
    file.write_bytes(b"\xff")
    with pytest.raises(UnicodeDecodeError):
        Program.from_file(file, ARCH)
    with pytest.raises(TypeError):
        Program.from_file(3)
    with pytest.raises(ValueError, match="path must have no null characters"):
        Program.from_file("a\0b.cu")


def test_kernel_from_a_file(device, stream, file):
    x = device.to_device(np.zeros(1, np.int32), stream=stream)
    kernel(file, "set", cache=False)(x, grid=1, block=1, stream=stream)
    assert x.to_host(stream=stream).tolist() == [7]
