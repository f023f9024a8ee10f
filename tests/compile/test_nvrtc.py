# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The NVRTC back end: its calls, precompiled headers by the real NVRTC or a failing fake, and the recorded version."""

import gc

import pytest
from cuda.bindings import nvrtc

from cuda.core import CUDAWarning, NotSupportedError, NVRTCError, Program, ProgramOptions
from cuda.core._compile import _nvrtc
from cuda.core.typing import PCHStatusType
from cuda.core.utils import InMemoryProgramCache
from support import interpreter
from support.processes import uncollected

pytestmark = [pytest.mark.requires(nvrtc=True), pytest.mark.usefixtures("any_driver_age")]
needs_nvidia = pytest.mark.requires(software=False)

SAXPY = 'extern "C" __global__ void saxpy(float a, const float* x, float* y) { *y += a * *x; }'


def header_program(tmp_path, **options):
    (tmp_path / "header.h").write_text("struct A { int x; };\n")
    source = f'#include "{tmp_path}/header.h"\n__global__ void f(A* a) {{ a->x = 1; }}'
    return Program(source, "c++", ProgramOptions(arch="sm_90", **options))


@needs_nvidia
def test_precompiled_header_is_made_and_used(tmp_path):
    path = tmp_path / "made.pch"
    program = header_program(tmp_path, create_pch=str(path))
    assert program.pch_status is None
    program.compile("cubin")
    assert program.pch_status is PCHStatusType.CREATED
    assert program.pch_status == "created"
    assert path.stat().st_size > 0
    user = header_program(tmp_path, use_pch=str(path))
    user.compile("cubin")
    assert user.pch_status is None


@needs_nvidia
def test_automatic_precompiled_header_is_made_once(tmp_path):
    for expected in (PCHStatusType.CREATED, PCHStatusType.NOT_ATTEMPTED):
        program = header_program(tmp_path, pch=True, pch_dir=str(tmp_path))
        program.compile("cubin")
        assert program.pch_status is expected


@needs_nvidia
def test_programs_without_precompiled_headers_have_no_status():
    program = Program("__global__ void f() {}", "c++", ProgramOptions(arch="sm_90"))
    program.compile("cubin")
    assert program.pch_status is None


@pytest.fixture
def pch_statuses(monkeypatch):
    """Lets the creation of precompiled headers end with the given statuses, and returns the list of calls."""

    def replace(*statuses):
        calls, left, real = [], [int(getattr(nvrtc.nvrtcResult, name)) for name in statuses], _nvrtc.compile_program
        monkeypatch.setattr(_nvrtc, "pch_create_status", lambda program: left.pop(0))
        monkeypatch.setattr(_nvrtc, "enlarge_pch_heap", lambda program: calls.append("heap"))
        monkeypatch.setattr(_nvrtc, "compile_program", lambda *args: (calls.append("compile"), real(*args)))
        return calls

    return replace


@needs_nvidia
def test_small_heap_is_enlarged_once(tmp_path, pch_statuses):
    calls = pch_statuses("NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED", "NVRTC_SUCCESS")
    program = header_program(tmp_path, create_pch=str(tmp_path / "a.pch"))
    assert program.compile("cubin").code
    assert program.pch_status is PCHStatusType.CREATED
    assert calls == ["compile", "heap", "compile"]


@pytest.mark.parametrize(
    "statuses",
    [["NVRTC_ERROR_PCH_CREATE"], ["NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED"] * 2],
)
@needs_nvidia
def test_failed_precompiled_header_warns_at_the_caller(tmp_path, pch_statuses, statuses):
    pch_statuses(*statuses)
    program = header_program(tmp_path, create_pch=str(tmp_path / "a.pch"))
    with pytest.warns(RuntimeWarning, match="precompiled header could not be created: .*a.pch") as caught:
        program.compile("cubin")
    assert caught[0].filename == __file__
    assert program.pch_status is PCHStatusType.FAILED


@needs_nvidia
def test_other_errors_of_the_creation_are_raised(tmp_path, pch_statuses):
    pch_statuses("NVRTC_ERROR_INTERNAL_ERROR")
    program = header_program(tmp_path, create_pch=str(tmp_path / "a.pch"))
    with pytest.raises(NVRTCError, match="INTERNAL_ERROR.*nvrtcGetPCHCreateStatus"):
        program.compile("cubin")


@needs_nvidia
def test_old_nvrtc_is_not_asked_for_precompiled_headers(tmp_path, pch_statuses, nvrtc_12_6):
    pch_statuses()
    program = header_program(tmp_path)
    program._open_back_end()._makes_pch = True
    program.compile("cubin")
    assert program.pch_status is None


@needs_nvidia
def test_heap_of_the_real_nvrtc_is_enlarged(tmp_path):
    before = nvrtc.nvrtcGetPCHHeapSize()[1]
    assert nvrtc.nvrtcSetPCHHeapSize(1 << 16) == (0,)
    try:
        program = header_program(tmp_path, create_pch=str(tmp_path / "a.pch"))
        program.compile("ptx")
        assert program.pch_status is PCHStatusType.CREATED
        assert (tmp_path / "a.pch").stat().st_size > 0
        assert nvrtc.nvrtcGetPCHHeapSize()[1] > 1 << 16
    finally:
        nvrtc.nvrtcSetPCHHeapSize(before)


@pytest.mark.parametrize(
    "options, reason",
    [
        ({"create_pch": "{tmp}/none/a.pch"}, "cannot open precompiled header file"),
        ({"use_pch": "{tmp}/none.pch"}, "cannot open precompiled header file"),
        ({"pch": True, "pch_dir": "{tmp}/none"}, "invalid PCH directory"),
    ],
)
@needs_nvidia
def test_precompiled_headers_that_cannot_be_opened_are_an_error(tmp_path, options, reason):
    given = {name: value if value is True else value.replace("{tmp}", str(tmp_path)) for name, value in options.items()}
    program = header_program(tmp_path, **given)
    with pytest.raises(NVRTCError, match=reason):
        program.compile("ptx")
    assert program.pch_status is None


@needs_nvidia
def test_version_matches_the_bindings():
    assert (0, *_nvrtc.loaded_nvrtc_version()) == nvrtc.nvrtcVersion()


@needs_nvidia
def test_handle_is_a_bindings_program():
    program = Program("__global__ void f() {}", "c++", ProgramOptions(arch="sm_90"))
    code = program.compile("cubin").code
    assert nvrtc.nvrtcGetCUBINSize(program.handle) == (0, len(code))


@needs_nvidia
def test_names_and_outputs_of_an_invalid_program_are_errors():
    for call in (
        lambda: _nvrtc.add_name_expression(0, b"f"),
        lambda: _nvrtc.lowered_name(0, b"f"),
        lambda: _nvrtc.program_text("PTX", 0),
        lambda: _nvrtc.enlarge_pch_heap(0),
    ):
        with pytest.raises(NVRTCError, match="NVRTC_ERROR_INVALID"):
            call()


@needs_nvidia
def test_status_matches_the_latest_compilation(tmp_path):
    program = header_program(tmp_path, create_pch=str(tmp_path / "a.pch"))
    program.compile("ptx")
    assert program.pch_status is PCHStatusType.CREATED
    (tmp_path / "header.h").write_text("broken")
    with pytest.raises(NVRTCError, match="broken"):
        program.compile("ptx")
    assert program.pch_status is None
    program.close()
    assert program.pch_status is None


@needs_nvidia
def test_messages_about_precompiled_headers_are_optional(tmp_path):
    written = []
    logs = type("Logs", (), {"write": staticmethod(written.append)})
    header_program(tmp_path, create_pch=str(tmp_path / "a.pch"), pch_messages=True).compile("ptx", logs=logs)
    assert "creating precompiled header file" in "".join(written)
    written.clear()
    header_program(tmp_path, use_pch=str(tmp_path / "a.pch"), pch_messages=False).compile("ptx", logs=logs)
    assert written == []


@pytest.fixture
def unloaded(monkeypatch):
    """NVRTC seems not to be loaded, and another version is recorded. Returns a function that makes it seem loaded."""
    functions = (_nvrtc.recorded_nvrtc_version, _nvrtc.loaded_nvrtc_version)
    with uncollected(), monkeypatch.context() as patch:
        patch.setattr(_nvrtc, "is_loaded", lambda: False)
        patch.setattr(_nvrtc.libraries, "nvrtc", lambda is_thorough: "libnvrtc.so.13")
        patch.setattr(_nvrtc, "recorded_version", lambda path: (99, 1))
        for function in functions:
            function.cache_clear()
        yield lambda: patch.setattr(_nvrtc, "is_loaded", lambda: True)
    for function in functions:
        function.cache_clear()


@needs_nvidia
def test_wrong_recorded_version_is_corrected_when_nvrtc_loads(unloaded):
    assert _nvrtc.nvrtc_version() == (99, 1)
    unloaded()
    assert _nvrtc.loaded_nvrtc_version() != (99, 1)
    assert _nvrtc.nvrtc_version() == _nvrtc.loaded_nvrtc_version()


@needs_nvidia
def test_code_is_not_stored_under_the_key_of_another_version(unloaded):
    cache = InMemoryProgramCache()
    with Program("__global__ void f() {}", "c++", ProgramOptions(arch="sm_90")) as program:
        assert _nvrtc.nvrtc_version() == (99, 1)
        unloaded()  # another module has loaded it
        assert program.compile("cubin", cache=cache).code
        assert len(cache) == 0
        assert program.compile("cubin", cache=cache).code
        assert len(cache) == 1


@needs_nvidia
def test_compiling_again_faults_few_pages():
    code = """if True:
        import resource
        from cuda.core import Program, ProgramOptions

        def faults():
            before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
            Program('extern "C" __global__ void f() {}', "c++", ProgramOptions(arch="sm_90")).compile("cubin")
            return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

        print(min(faults() for _ in range(6)))
    """
    assert int(interpreter.run(code)) < 400  # the GNU C library faults 1,400 if freed memory returns to the system


def test_undecodable_bytes_in_the_log_are_escaped(monkeypatch):
    monkeypatch.setattr(_nvrtc, "program_text", lambda kind, program: b"line 1: \xff\0")
    assert _nvrtc.program_log(None) == "line 1: \\xff"


def test_finalizer_may_close_the_program_while_it_compiles(monkeypatch):
    class Closer:
        def __init__(self):
            self.itself = self

        def __del__(self):
            program.close()
            closed.append(program.is_closed)

    def compile_after_collection(*arguments):
        gc.collect()
        return original(*arguments)

    closed, original = [], _nvrtc.compile_program
    program = Program(SAXPY, "c++", ProgramOptions(arch="sm_90"))
    program._open_back_end()
    Closer()
    monkeypatch.setattr(_nvrtc, "compile_program", compile_after_collection)
    assert b"saxpy" in program.compile("ptx", name_expressions=("saxpy",)).code
    assert closed == [True]
    assert program._back_end._program == 0
    with pytest.raises(RuntimeError, match="closed"):
        program.compile("ptx")


def test_failed_release_warns():
    with pytest.warns(CUDAWarning, match="INVALID_PROGRAM.*nvrtcDestroyProgram"):
        _nvrtc.destroy_program(0)


def test_old_nvrtc_rejects_bundled_headers(monkeypatch):
    monkeypatch.setattr(_nvrtc, "has_bundled_headers", lambda: False)
    with pytest.raises(NotSupportedError, match="use_bundled_headers needs (an NVRTC with bundled headers|NVRTC 13)"):
        Program(SAXPY, "c++", ProgramOptions(arch="sm_90", use_bundled_headers=True))


def test_nvrtc_without_the_function_has_no_bundled_headers(monkeypatch):
    def fail():
        raise RuntimeError("nvrtcGetBundledHeadersInfo")

    monkeypatch.setattr(_nvrtc, "call_bundled_headers", fail)
    _nvrtc.has_bundled_headers.cache_clear()
    assert _nvrtc.has_bundled_headers() is False
    _nvrtc.has_bundled_headers.cache_clear()


def test_compile_error_needs_no_bindings():
    lines = interpreter.run(
        "import sys\n"
        "sys.modules['cuda.bindings'] = None\n"
        "from cuda.core import NVRTCError, Program, ProgramOptions\n"
        "try:\n"
        "    Program('__device__ int x = unknown_name;', 'c++', ProgramOptions(arch='sm_90')).compile('cubin')\n"
        "except NVRTCError as error:\n"
        "    print(error.code, error.name)\n"
        "    print(error)\n"
    ).splitlines()
    assert lines[0] == "6 NVRTC_ERROR_COMPILATION"
    assert any('identifier "unknown_name" is undefined' in line for line in lines)


def test_every_nvrtc_result_has_the_name_of_its_constant():
    names = {int(result): result.name for result in nvrtc.nvrtcResult}
    loaded = {code: _nvrtc.result_name(code) for code in names}
    assert loaded[6] == "NVRTC_ERROR_COMPILATION"
    assert {code for code in names if loaded[code] not in (names[code], "NVRTC_ERROR unknown")} == set()
