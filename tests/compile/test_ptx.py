# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Programs in PTX, compiled by the real nvJitLink, which needs no driver."""

import gc
import io
import threading
import warnings
import weakref

import pytest

from cuda.core import CUDAError, Linker, NotSupportedError, ObjectCode, Program, ProgramOptions
from cuda.core.typing import CompilerBackendType
from support.code import ARCH, PTX, run_on_int

pytestmark = pytest.mark.requires(nvjitlink=True, software=False)


def program(source=PTX, **options):
    return Program(source, "ptx", ProgramOptions(**{"arch": ARCH, **options}))


def test_ptx_is_compiled_to_cubin():
    code = program(name="mine").compile("CUBIN")
    assert isinstance(code, ObjectCode)
    assert (code.code_type, code.name, code.symbol_mapping) == ("cubin", "mine", {})
    assert code.code.startswith(b"\x7fELF")
    assert b"triple" in code.code


def test_null_character_at_the_end_of_ptx_is_allowed():
    assert program(PTX + "\0").compile("cubin").code == program().compile("cubin").code


def test_name_expressions_are_ignored():
    assert program().compile("cubin", ["triple"]).symbol_mapping == {}


def test_program_has_a_handle_until_it_is_closed():
    made = program()
    assert made.backend is CompilerBackendType.NVJITLINK
    assert made.backend is Linker.which_backend()
    assert repr(made) == f"<Program 'default_program' for {ARCH}>"
    assert made.handle != 0
    assert made.pch_status is None
    made.close()
    made.close()
    assert made.is_closed
    assert made.handle == 0
    assert made.backend is CompilerBackendType.NVJITLINK
    with pytest.raises(RuntimeError, match="this Program is closed"):
        made.compile("cubin")
    with pytest.raises(RuntimeError, match="this Program is closed"):
        made._back_end.compile("cubin", [])


def test_linker_is_created_at_its_first_use():
    made = program("garbage")
    assert made._back_end is None
    made.close()
    assert made.handle == 0
    assert made.backend is CompilerBackendType.NVJITLINK


def test_empty_source_is_rejected_immediately():
    with pytest.raises(CUDAError, match="is empty"):
        program("")


def test_one_program_compiles_repeatedly():
    made = program()
    assert made.compile("cubin").code == made.compile("cubin").code
    made.close()


def test_target_ptx_is_rejected_with_a_reason():
    with pytest.raises(CUDAError, match="linking to ptx failed; for PTX, link LTO IR with"):
        program().compile("ptx")


@pytest.mark.parametrize("target", ["ltoir", "fatbin", "", None])
def test_unknown_target_is_rejected(target):
    with pytest.raises(ValueError, match="'cubin', 'ptx' for nvJitLink"):
        program().compile(target)


@pytest.mark.parametrize("source, log", [("garbage", "bad input"), (PTX.replace("mul.lo", "mul.no"), "ptxas")])
def test_errors_in_ptx_have_the_log(source, log):
    from cuda.bindings.nvjitlink import nvJitLinkError

    with pytest.raises(nvJitLinkError, match="adding the ptx input 'mine' of") as caught:
        program(source, name="mine").compile("cubin")
    assert log in caught.value.log
    assert isinstance(caught.value, CUDAError)


@pytest.mark.parametrize("code", [b"x", bytearray(b"x"), None, 5])
def test_ptx_must_be_text(code):
    with pytest.raises(TypeError, match="code of type 'ptx' must be a str"):
        program(code)


def test_null_character_inside_is_rejected():
    with pytest.raises(ValueError, match="null character at position 1"):
        program("a\0b")


def test_extra_sources_are_not_for_ptx():
    with pytest.raises(ValueError, match="extra_sources are for code of type 'nvvm', not 'ptx'"):
        program(extra_sources=[("a", "b")])


def test_messages_of_the_linker_are_written_to_logs():
    logs = io.StringIO()
    # Without nvJitLink's cache, whose hits lack a part of the log.
    program(time=True, ptxas_options=["-v"], no_cache=True).compile("cubin", logs=logs)
    assert "ptxas info" in logs.getvalue()
    assert "time" in logs.getvalue()


def test_numba_debug_warns_at_the_caller():
    with pytest.warns(UserWarning, match="numba_debug has no effect") as caught:
        assert program(numba_debug=True).compile("cubin").code
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    "options",
    [
        {"max_register_count": 32},
        {"debug": True},
        {"lineinfo": True},
        {"ftz": True},
        {"prec_sqrt": False},
        {"prec_div": True},
        {"fma": False},
        {"ptxas_options": ("-v", "-O2")},
        {"time": "any"},
        {"time": True},
        {"split_compile": 2},
        {"split_compile": True},
        {"no_cache": True},
        {"name": "mine"},
    ],
)
def test_linker_accepts_the_options(options):
    assert program(**options).compile("cubin").code


@pytest.mark.parametrize(
    "options",
    [
        {"std": "c++17"},
        {"use_fast_math": True},
        {"include_path": "x"},
        {"use_libdevice": True},
        {"pch": True},
        {"relocatable_device_code": True},
        {"define_macro": "A"},
    ],
)
def test_options_that_the_linker_lacks_are_rejected(options):
    with pytest.raises(NotSupportedError, match=f"'ptx': {next(iter(options))}"):
        program(**options)


def test_disabled_switches_are_not_rejected():
    assert program(use_fast_math=False, debug=False, no_cache=False, numba_debug=False).compile("cubin").code


def test_debug_file_is_for_cxx_only(tmp_path, own_tempdir):
    assert program(lineinfo=True).compile("cubin").name == "default_program"
    assert list(tmp_path.iterdir()) == []


def test_first_fallback_warns_at_the_caller(without_nvjitlink):
    with pytest.warns(RuntimeWarning, match="pip install nvidia-nvjitlink") as caught:
        try:
            Program(PTX, "ptx", ProgramOptions(arch=ARCH)).close()
        except (RuntimeError, CUDAError):
            pass  # a machine without a device has no driver linker
    assert caught[0].filename == __file__


def test_program_is_collected():
    made = program()
    reference = weakref.ref(made)
    del made
    gc.collect()
    assert reference() is None


def test_many_threads_compile_one_program():
    made = program()
    results = []
    threads = [threading.Thread(target=lambda: results.append(made.compile("cubin").code)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert len(set(results)) == 1


def test_no_warnings_on_success():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert program().compile("cubin").code


def test_compiled_ptx_runs(stream):
    code = program(arch=f"sm_{stream.device.arch}").compile("cubin")
    assert run_on_int(stream, code.get_kernel("triple"), 14) == 42
