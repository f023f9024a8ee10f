# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The machine instructions of cubins, which NVIDIA's disassembler prints."""

import os
import sys

import pytest

from cuda.core import NotSupportedError, ObjectCode, Program, ProgramOptions

SOURCE = """
extern "C" __global__ void first(int* x) { *x = 1; }
template <class T> __global__ void second(T* x) { *x = 2; }
"""


@pytest.fixture(scope="module")
def code():
    options = ProgramOptions(arch="sm_90")
    return Program(SOURCE, "c++", options).compile("cubin", name_expressions=("second<int>",))


@pytest.fixture
def tool(tmp_path, monkeypatch):
    """Return a function that puts a program in the place of nvdisasm; it prints its options and the end of the file."""

    def make(source="print(sys.argv[1:-1], open(sys.argv[-1], 'rb').read()[:4])"):
        path = tmp_path / "nvdisasm"
        path.write_text(f"#!{sys.executable}\nimport sys\n{source}\n")
        path.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)

    return make


def test_text_of_the_tool_is_returned_unread(code, tool):
    tool()
    assert code.sass() == "['--print-code'] b'\\x7fELF'\n"


@pytest.mark.parametrize("name", ["first", b"first", "second<int>"])
def test_kernel_is_chosen_by_its_symbol(code, tool, name):
    tool()
    text = code.sass(name)
    assert text.startswith("['--print-code', '--cuda-function-index', '")
    others = {code.sass("first"), code.sass("second<int>")}
    assert len(others) == 2 and text in others


def test_code_in_a_file_is_disassembled(code, tool, tmp_path):
    tool()
    path = tmp_path / "code.cubin"
    path.write_bytes(code.code)
    assert ObjectCode.from_cubin(str(path)).sass("first") == code.sass("first")


def test_unknown_kernel_is_rejected(code, tool):
    tool()
    with pytest.raises(ValueError, match="no symbol 'third'"):
        code.sass("third")
    with pytest.raises(TypeError, match="name must be a str or bytes, not int"):
        code.sass(3)


def test_only_cubins_have_instructions(tool):
    tool()
    ptx = Program(SOURCE, "c++", ProgramOptions(arch="sm_90")).compile("ptx")
    with pytest.raises(RuntimeError, match="only a cubin has machine instructions, not 'ptx'; compile to 'cubin'"):
        ptx.sass()
    ptx.close()
    with pytest.raises(RuntimeError, match="closed"):
        ptx.sass()


def test_message_of_a_failed_tool_is_raised(code, tool):
    tool("sys.exit('not a cubin')")
    with pytest.raises(RuntimeError, match="nvdisasm failed: not a cubin"):
        code.sass()
    tool("sys.exit(3)")
    with pytest.raises(RuntimeError, match="nvdisasm failed: exit status 3"):
        code.sass()


def test_missing_tool_is_named(code, tmp_path, monkeypatch):
    from cuda import pathfinder

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(pathfinder, "find_nvidia_binary_utility", lambda name: None, raising=False)
    with pytest.raises(NotSupportedError, match="nvdisasm was not found; install nvidia-cuda-nvdisasm"):
        code.sass()


@pytest.mark.requires(nvdisasm=True, software=False)
def test_instructions_of_one_kernel_or_all(code):
    one, every = code.sass("first"), code.sass()
    assert ".text.first" in one and "EXIT" in one and "second" not in one
    assert ".text.first" in every and "second" in every
