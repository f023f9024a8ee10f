# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Checks of compiled code before loading, loading on first use, and errors that name the code."""

import pickle
import struct
import threading
from pathlib import Path

import pytest

from cuda.core import CUDAError, ObjectCode, Program, ProgramOptions

SOURCE = """
extern "C" __global__ void scale(float* x, float factor, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) x[i] *= factor;
}
"""


def compiled(target, arch):
    return Program(SOURCE, "c++", ProgramOptions(arch=arch)).compile(target)


@pytest.fixture
def code(device):
    """Code for the current device, not yet loaded."""
    return compiled("cubin", f"sm_{device.arch}")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "is empty"),
        (b"\x50\xed\x55\xba\x01\x00", "is cut off"),
        (b"\x7fELF\x02", "is cut off"),
        (struct.pack("<IHHQ", 0xBA55ED50, 1, 16, 100), "is cut off: it has 16 bytes and needs 116"),
    ],
    ids=lambda value: str(len(value)),
)
def test_damaged_images_are_rejected_with_the_reason(device, data, reason):
    with pytest.raises(CUDAError, match=reason) as error:
        ObjectCode.from_fatbin(data).get_kernel("scale")
    assert isinstance(error.value, ValueError)


# Loading on first use


@pytest.mark.requires(cuda=(12, 4))
@pytest.mark.parametrize("target", ["cubin", pytest.param("ptx", marks=pytest.mark.requires(ptx=True))])
@pytest.mark.parametrize("kind", [bytes, bytearray, str, Path])
def test_load_from_memory_and_from_files(device, tmp_path, target, kind):
    content = compiled(target, f"sm_{device.arch}").code
    path = tmp_path / f"module with ünusual name.{target}"
    path.write_bytes(content)
    module = kind(content) if kind in (bytes, bytearray) else kind(path)
    assert getattr(ObjectCode, f"from_{target}")(module).get_kernel("scale").num_arguments == 3


def test_reading_the_handle_loads_the_code(code):
    assert "handle=0x0 " in repr(code)
    address = int(code.handle)
    assert address != 0
    assert repr(code) == f"<ObjectCode handle={address:#x} code_type='cubin'>"
    assert int(code.handle) == address
    assert type(code.handle).__name__ == "CUlibrary"


def test_module_of_the_current_context(code):
    module = code.get_module()
    assert type(module).__name__ == "CUmodule"
    assert int(module) != 0
    assert int(code.get_module()) == int(module)


def test_equality_follows_the_library(code):
    other = pickle.loads(pickle.dumps(code))
    assert code == code
    assert code != other
    assert hash(code) == hash(code) != hash(other)
    assert len({code, other}) == 2


@pytest.mark.parametrize("kind", ["cubin", "ptx", "fatbin"])
def test_errors_of_malformed_code_name_the_module(device, kind):
    code = getattr(ObjectCode, f"from_{kind}")(b"this is no code at all, whatever it claims to be", name="broken")
    for use in (lambda: code.get_kernel("f"), lambda: code.handle, lambda: hash(code), code.get_module):
        with pytest.raises(CUDAError, match=f"the {kind} module 'broken' of 48 bytes"):
            use()


def test_truncated_code_is_rejected(device, code):
    with pytest.raises(CUDAError, match="cut off"):
        ObjectCode.from_cubin(code.code[:-8]).get_kernel("scale")


@pytest.mark.requires(ptx=True, software=False)
def test_malformed_ptx_is_explained_by_the_driver(device):
    text = compiled("ptx", f"sm_{device.arch}").code.replace(b"ret;", b"no_such_instruction;")
    with pytest.raises(CUDAError, match="no_such_instruction") as caught:
        ObjectCode.from_ptx(text).get_kernel("scale")
    assert caught.value.name == "CUDA_ERROR_INVALID_PTX"


def test_missing_file_is_named(device, tmp_path):
    with pytest.raises(CUDAError, match="the cubin module of the file '.*missing.cubin'"):
        ObjectCode.from_cubin(tmp_path / "missing.cubin").get_kernel("f")


def test_null_character_in_a_path_is_rejected(device):
    with pytest.raises(ValueError, match="null character"):
        ObjectCode.from_cubin("/a\0b").get_kernel("f")


@pytest.mark.parametrize("module", [None, 5, [b"x"], object()])
def test_module_of_wrong_type_is_rejected_when_loaded(device, module):
    code = ObjectCode.from_cubin(module)
    with pytest.raises(TypeError, match="module must be bytes, a bytearray or a path"):
        code.get_kernel("f")


def test_many_threads_load_once(code):
    start = threading.Barrier(8)
    kernels = []

    def work():
        start.wait()
        kernels.append((code.get_kernel("scale"), int(code.handle)))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(kernels) == 8
    assert len({address for _, address in kernels}) == 1
    assert all(kernel is kernels[0][0] for kernel, _ in kernels)
