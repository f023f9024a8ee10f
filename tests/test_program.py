# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Program compiles CUDA C++ to PTX, CUBIN and LTO IR by NVRTC, which needs no driver."""

import copy
import gc
import io
import pickle
import re
import threading
import traceback
import types
import warnings
import weakref
from pathlib import Path

import pytest

from cuda.core import (
    CUDAError,
    NotSupportedError,
    NVRTCError,
    ObjectCode,
    Program,
    ProgramOptions,
    _program,
)
from cuda.core.typing import CompilerBackendType, ObjectCodeFormatType, SourceCodeType
from support.contract import _can_load_generated_ptx
from support.interpreter import run

pytestmark = [pytest.mark.requires(nvrtc=True), pytest.mark.usefixtures("any_driver_age")]

ARCH = ProgramOptions(arch="sm_90")
SAXPY = 'extern "C" __global__ void saxpy(float a, const float* x, float* y) { *y += a * *x; }'
SCALE = "template <class T> __global__ void scale(T* x, T f) { *x *= f; }"
BROKEN = 'extern "C" __global__ void broken(int* x) {\n    *x = no_such_name;\n}'
WARNS = "__global__ void f() { int never_used; }"


@pytest.mark.requires(software=False)
@pytest.mark.parametrize(
    "target, start",
    [("ptx", b"//"), ("CUBIN", b"\x7fELF"), (ObjectCodeFormatType.CUBIN, b"\x7fELF"), ("LtoIR", b"\xed\x43\x4e\x7f")],
)
def test_compile_returns_code_of_the_target(target, start):
    code = Program(SAXPY, "c++", ARCH).compile(target)
    assert isinstance(code, ObjectCode)
    assert code.code_type == target.lower()
    assert isinstance(code.code, bytes)
    assert len(code.code) > 100
    assert code.code.lstrip().startswith(start)
    assert code.name == "default_program"
    assert code.symbol_mapping == {}


@pytest.mark.requires(software=False)
def test_ptx_names_the_kernel_and_the_architecture():
    text = Program(SAXPY, "c++", ProgramOptions(arch="sm_80")).compile("ptx").code.decode()
    assert ".visible .entry saxpy(" in text
    assert ".target sm_80" in text


def test_options_are_passed_to_the_compiler():
    source = "__global__ void f(int* x) { *x = VALUE; }"
    options = {"arch": "sm_90", "define_macro": ("VALUE", "12345")}
    assert b"12345" in Program(source, "c++", options).compile("ptx").code


@pytest.mark.requires(software=False)
def test_options_are_copied():
    options = ProgramOptions(arch="sm_80")
    program = Program(SAXPY, "c++", options)
    options.arch = "sm_90"
    assert b".target sm_80" in program.compile("ptx").code


def test_lists_of_options_are_copied():
    options = ProgramOptions(arch="sm_90", define_macro=["VALUE=123"])
    source = "__global__ void f(int* x) { *x = VALUE; }"
    program = Program(source, "c++", options)
    options.define_macro[0] = "VALUE=456"
    assert b"123" in program.compile("ptx").code
    assert b"456" in Program(source, "c++", options).compile("ptx").code


def test_headers_are_found_in_the_include_path(tmp_path):
    (tmp_path / "value.h").write_text("#define VALUE 54321")
    source = "#include <value.h>\n__global__ void f(int* x) { *x = VALUE; }"
    program = Program(source, "c++", ProgramOptions(arch="sm_90", include_path=tmp_path))
    assert b"54321" in program.compile("ptx").code


def test_program_compiles_repeatedly():
    program = Program(SAXPY, "c++", ARCH)
    first, again, cubin = program.compile("ptx"), program.compile("ptx"), program.compile("cubin")
    assert first.code == again.code
    assert cubin.code_type == "cubin"


def test_name_is_in_messages_and_in_the_code():
    program = Program(BROKEN, "c++", ProgramOptions(arch="sm_90", name="my_file.cu"))
    with pytest.raises(NVRTCError, match=r"my_file\.cu\(2\)"):
        program.compile("cubin")
    assert Program(SAXPY, "c++", ProgramOptions(arch="sm_90", name="my_file.cu")).compile("ptx").name == "my_file.cu"


@pytest.mark.requires(software=False)
def test_name_expressions_are_mapped_to_symbols():
    code = Program(SCALE, "c++", ARCH).compile("ptx", name_expressions=["scale<float>", b"scale<int>"])
    mapping = code.symbol_mapping
    assert list(mapping) == ["scale<float>", b"scale<int>"]
    assert all(isinstance(symbol, bytes) and symbol in code.code for symbol in mapping.values())


def test_name_expressions_are_rejected_after_the_first_compile():
    program = Program(SCALE, "c++", ARCH)
    program.compile("ptx", ("scale<float>",))
    with pytest.raises(NVRTCError, match="NO_NAME_EXPRESSIONS_AFTER_COMPILATION"):
        program.compile("ptx", ("scale<int>",))


def test_unknown_name_expression_is_named():
    with pytest.raises(NVRTCError, match="no_such_kernel"):
        Program(SCALE, "c++", ARCH).compile("ptx", ["no_such_kernel<float>"])


@pytest.mark.parametrize("expressions", ["scale<float>", b"scale<float>", 5, [5], (None,)])
def test_name_expressions_of_another_type_are_rejected(expressions):
    with pytest.raises(TypeError, match="name_expressions"):
        Program(SCALE, "c++", ARCH).compile("ptx", expressions)


def test_name_expressions_may_be_none():
    assert Program(SAXPY, "c++", ARCH).compile("ptx", name_expressions=None).symbol_mapping == {}


def test_errors_show_the_users_lines():
    with pytest.raises(NVRTCError) as caught:
        Program(BROKEN, "c++", ARCH).compile("cubin")
    error = caught.value
    assert isinstance(error, CUDAError)
    assert str(error).startswith("NVRTC_ERROR_COMPILATION: ")
    assert 'default_program(2): error: identifier "no_such_name" is undefined' in error.log
    assert "*x = no_such_name;" in error.log
    assert error.log in str(error)
    assert (error.code, error.name, error.api) == (6, "NVRTC_ERROR_COMPILATION", "nvrtcCompileProgram")


def test_program_that_failed_fails_again():
    program = Program(BROKEN, "c++", ARCH)
    for _ in range(2):
        with pytest.raises(NVRTCError, match="no_such_name"):
            program.compile("cubin")


def test_compile_error_shows_users_line_and_one_library_frame():
    with pytest.raises(NVRTCError) as caught:
        Program(BROKEN, "c++", ARCH).compile("cubin")
    files = [Path(frame.filename).name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert files == [Path(__file__).name, "_program.py"]
    assert caught.value.__context__ is None


def test_error_for_a_bad_option_shows_the_options():
    with pytest.raises(NVRTCError, match="INVALID_OPTION[^$]*arch"):
        Program(SAXPY, "c++", ProgramOptions(arch="sm_9x")).compile("cubin")


def test_warnings_are_written_to_logs():
    logs = io.StringIO()
    Program(WARNS, "c++", ARCH).compile("cubin", logs=logs)
    assert "never_used" in logs.getvalue()


def test_errors_are_written_to_logs():
    logs = io.StringIO()
    with pytest.raises(NVRTCError):
        Program(BROKEN, "c++", ARCH).compile("cubin", logs=logs)
    assert "no_such_name" in logs.getvalue()


def test_nothing_is_written_to_logs_without_messages():
    written = []
    Program(SAXPY, "c++", ARCH).compile("cubin", logs=types.SimpleNamespace(write=written.append))
    assert written == []


def test_source_with_surrogates_is_rejected():
    with pytest.raises(UnicodeEncodeError, match="surrogates not allowed"):
        Program('#error "\udcff"', "c++", ARCH)


def test_logs_without_a_write_method_are_rejected():
    with pytest.raises(TypeError, match="logs must be an object with a method write"):
        Program(SAXPY, "c++", ARCH).compile("ptx", logs="file")


@pytest.mark.parametrize("cache", [5, {}, "path"])
def test_caches_of_another_type_are_rejected(cache):
    with pytest.raises(TypeError, match="cache"):
        Program(SAXPY, "c++", ARCH).compile("ptx", cache=cache)


@pytest.mark.parametrize("target", ["fatbin", "object", "", "elf", None, 5, ObjectCodeFormatType.LIBRARY])
def test_unknown_targets_are_rejected(target):
    with pytest.raises(ValueError, match="'ptx', 'cubin', 'ltoir'"):
        Program(SAXPY, "c++", ARCH).compile(target)


@pytest.mark.parametrize("code", [b"void f();", bytearray(b"x"), None, 5])
def test_cxx_source_must_be_a_str(code):
    with pytest.raises(TypeError, match="must be a str"):
        Program(code, "c++", ARCH)


def test_null_character_in_the_source_is_rejected():
    with pytest.raises(ValueError, match="null character at position 4"):
        Program("void\0", "c++", ARCH)


def test_code_type_is_taken_in_any_case():
    assert Program(SAXPY, "C++", ARCH).backend is CompilerBackendType.NVRTC
    assert Program(SAXPY, SourceCodeType.CXX, ARCH).backend == "NVRTC"


@pytest.mark.parametrize("code_type", ["c", "", "fortran", "cubin"])
def test_unknown_code_types_are_rejected(code_type):
    with pytest.raises(RuntimeError, match="Unsupported code_type"):
        Program(SAXPY, code_type, ARCH)


def test_code_types_of_another_type_are_rejected():
    with pytest.raises(TypeError, match="code_type"):
        Program(SAXPY, 5, ARCH)


@pytest.mark.parametrize("options", [5, "sm_90", [("arch", "sm_90")]])
def test_options_of_another_type_are_rejected(options):
    with pytest.raises(TypeError, match="program options must be ProgramOptions"):
        Program(SAXPY, "c++", options)


def test_extra_sources_are_rejected_for_cxx():
    with pytest.raises(ValueError, match="extra_sources"):
        Program(SAXPY, "c++", ProgramOptions(arch="sm_90", extra_sources=[("a", "b")]))


def test_options_that_nvrtc_lacks_are_rejected():
    with pytest.raises(NotSupportedError, match="use_libdevice"):
        Program(SAXPY, "c++", ProgramOptions(arch="sm_90", use_libdevice=True))


@pytest.mark.requires(software=False)
def test_default_arch_matches_the_current_device(set_current_arch):
    set_current_arch("75")
    assert b".target sm_75" in Program(SAXPY, "c++").compile("ptx").code


def test_ltoir_needs_no_option():
    with_option = ProgramOptions(arch="sm_90", link_time_optimization=True)
    code = Program(SAXPY, "c++", ARCH).compile("ltoir").code
    assert len(code) == len(Program(SAXPY, "c++", with_option).compile("ltoir").code) > 100


@pytest.mark.parametrize("lto, target", [(True, "ptx"), (True, "cubin"), (False, "ltoir")])
def test_empty_code_warns(lto, target):
    program = Program(SAXPY, "c++", ProgramOptions(arch="sm_90", link_time_optimization=lto))
    with pytest.warns(RuntimeWarning, match=f"generated no {target}.*link_time_optimization is {lto}") as caught:
        code = program.compile(target)
    assert caught[0].filename == __file__
    assert code.code in (b"", b"\0")


@pytest.mark.requires(software=False)
def test_virtual_architecture_has_no_cubin():
    program = Program(SAXPY, "c++", ProgramOptions(arch="compute_90"))
    with pytest.warns(RuntimeWarning, match="generated no cubin, because arch 'compute_90' is virtual"):
        assert not program.compile("cubin").code
    assert b".target sm_90" in program.compile("ptx").code


@pytest.mark.requires(software=False)
@pytest.mark.parametrize("arch", ["", "sm_5", "sm_999", "hopper"])
def test_unknown_architecture_lists_the_known_ones(arch):
    program = Program(SAXPY, "c++", ProgramOptions(arch=arch))
    with pytest.raises(NVRTCError, match=f"'sm_NUMBER' with the numbers .*90.*the options were -arch={arch}$"):
        program.compile("cubin")


@pytest.mark.requires(software=False)
@pytest.mark.parametrize(
    "options, reason",
    [
        ({"pch": True, "create_pch": "a.pch"}, "-pch and -create-pch cannot be specified at the same time"),
        ({"use_pch": "a.pch", "create_pch": "a.pch"}, "-create-pch and -use-pch cannot be specified at the same time"),
        ({"extensible_whole_program": True, "relocatable_device_code": True}, "is not compatible with"),
    ],
    ids=str,
)
def test_error_for_contradicting_options_shows_them(options, reason):
    program = Program(SAXPY, "c++", ProgramOptions(arch="sm_90", **options))
    with pytest.raises(NVRTCError, match=f"{reason}[^$]*\nthe options were -arch=sm_90 --"):
        program.compile("cubin")


def test_empty_source_has_no_kernels():
    code = Program("", "c++", ARCH).compile("cubin")
    assert code.code
    assert code.symbol_mapping == {}


@pytest.mark.requires(nvrtc_version=(13, 0))
def test_ptx_newer_than_the_driver_warns(set_driver_version):
    set_driver_version((12, 2, 0))
    program = Program(SAXPY, "c++", ARCH)
    with pytest.warns(RuntimeWarning, match="newer than the driver, which supports CUDA 12.2") as caught:
        program.compile("ptx")
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert program.compile("cubin").code


@pytest.mark.requires(nvrtc_version=(13, 0))
@pytest.mark.parametrize(
    "found", [(12, 2, 0), (13, 9, 0), (14, 1, 0), RuntimeError("none"), CUDAError("none")], ids=str
)
def test_driver_can_load_ptx_of_an_nvrtc_no_newer_than_it(set_driver_version, found):
    set_driver_version(found)
    assert _can_load_generated_ptx() is (isinstance(found, Exception) or found > (13,))


def test_closed_program_has_no_handle_and_cannot_compile():
    program = Program(SAXPY, "c++", ARCH)
    assert int(program.handle) != 0
    assert not program.is_closed
    program.close()
    program.close()
    assert program.is_closed
    assert int(program.handle) == 0
    assert program.backend == "NVRTC"
    assert program.pch_status is None
    assert repr(program) == "<Program 'default_program' closed>"
    with pytest.raises(RuntimeError, match="this Program is closed"):
        program.compile("ptx")


def test_program_of_nvrtc_is_created_at_the_first_use():
    program = Program(SAXPY, "c++", ARCH)
    assert program._back_end is None
    assert int(program.handle) == int(program.handle) != 0
    unused = Program(SAXPY, "c++", ARCH)
    unused.close()
    assert unused._back_end is None
    assert int(unused.handle) == 0


def test_threads_share_one_program_of_nvrtc():
    program = Program(SAXPY, "c++", ARCH)
    handles = []
    threads = [threading.Thread(target=lambda: handles.append(int(program.handle))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(handles) == 8
    assert len(set(handles)) == 1


def test_close_during_creation_destroys_the_nvrtc_program():
    program = Program(SAXPY, "c++", ARCH)
    settings, is_opening, may_open = program._settings, threading.Event(), threading.Event()

    def open_late(source, name, _):
        is_opening.set()
        assert may_open.wait(10)
        return settings.back_end(source, name, settings)

    program._settings = types.SimpleNamespace(back_end=open_late, prefix=b"")
    errors = []

    def open_it():
        try:
            program._open_back_end()
        except RuntimeError as error:
            errors.append(str(error))

    opening = threading.Thread(target=open_it)
    opening.start()
    assert is_opening.wait(10)
    closing = threading.Thread(target=program.close)
    closing.start()
    closing.join()
    assert program.is_closed
    may_open.set()
    opening.join()
    assert errors == ["this Program is closed"]
    assert program._back_end._program == 0


def test_code_outlives_its_program():
    with Program(SAXPY, "c++", ARCH) as program:
        code = program.compile("ptx")
    assert program.is_closed
    assert b"saxpy" in code.code


def test_programs_compare_by_identity_and_support_weakrefs():
    program, other = Program(SAXPY, "c++", ARCH), Program(SAXPY, "c++", ARCH)
    assert program == program
    assert program != other
    assert len({program, other}) == 2
    reference = weakref.ref(program)
    del program
    gc.collect()
    assert reference() is None


@pytest.mark.parametrize("use", [copy.copy, pickle.dumps])
def test_programs_are_not_pickled(use):
    with pytest.raises(TypeError, match="Program cannot be pickled or copied; pickle the ObjectCode"):
        use(Program(SAXPY, "c++", ARCH))


def test_threads_compile_different_programs_concurrently():
    results = {}

    def work(number):
        source = f"__global__ void f(int* x) {{ *x = {70000 + number}; }}"
        results[number] = Program(source, "c++", ARCH).compile("ptx").code

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(str(70000 + number).encode() in results[number] for number in range(8))


def test_threads_compile_one_program_concurrently():
    program = Program(SAXPY, "c++", ARCH)
    results = []
    threads = [
        threading.Thread(target=lambda target=target: results.append(program.compile(target).code))
        for target in ("ptx", "cubin", "ptx", "cubin")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert len(set(results)) == 2


@pytest.mark.requires(software=False)
def test_gil_is_released_during_a_compilation():
    lines = "\n".join(f"__global__ void f{i}(float* x) {{ *x = sinf(*x) + powf(*x, {i}.5f); }}" for i in range(8))
    program = Program(lines, "c++", ARCH)
    thread = threading.Thread(target=program.compile, args=("cubin",))
    thread.start()
    steps = 0
    while thread.is_alive():
        steps += 1
        thread.join(0.001)
    assert steps > 3


def test_missing_nvrtc_error_names_the_package():
    code = (
        "import sys, types\nfrom cuda.core import Program, ProgramOptions\n"
        "class Missing(RuntimeError): pass\n"
        "def fail(*names): raise Missing('libnvrtc.so.13: not found')\n"
        "sys.modules['cuda.pathfinder'] = types.SimpleNamespace(load_nvidia_dynamic_lib=fail)\n"
        "sys.path[:] = []\n"
        "try: Program('', 'c++', ProgramOptions(arch='sm_90')).compile('ptx')\n"
        "except Missing as error: print(error)"
    )
    assert re.search("pip install nvidia-cuda-nvrtc.*libnvrtc.so.13", run(code, CUDA_CORE_DEVICE="hardware"))


def test_type_of_handles_includes_int():
    assert int in _program.ProgramHandleT.__args__
    with pytest.raises(AttributeError, match="no_such_name"):
        _program.no_such_name  # noqa: B018
