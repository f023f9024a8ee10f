# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The back end of NVRTC: precompiled headers, by the real NVRTC or a failing fake, and the recorded version."""

import types

import pytest

from cuda.core import NVRTCError, Program, ProgramOptions
from cuda.core._compile import _nvrtc, _nvrtc_calls
from cuda.core.typing import PCHStatusType
from cuda.core.utils import InMemoryProgramCache
from support.processes import uncollected

pytestmark = [pytest.mark.requires(nvrtc=True, software=False), pytest.mark.usefixtures("any_driver_age")]


def header_program(tmp_path, **options):
    (tmp_path / "header.h").write_text("struct A { int x; };\n")
    source = f'#include "{tmp_path}/header.h"\n__global__ void f(A* a) {{ a->x = 1; }}'
    return Program(source, "c++", ProgramOptions(arch="sm_90", **options))


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


def test_automatic_precompiled_header_is_made_once(tmp_path):
    for expected in (PCHStatusType.CREATED, PCHStatusType.NOT_ATTEMPTED):
        program = header_program(tmp_path, pch=True, pch_dir=str(tmp_path))
        program.compile("cubin")
        assert program.pch_status is expected


def test_programs_without_precompiled_headers_have_no_status():
    program = Program("__global__ void f() {}", "c++", ProgramOptions(arch="sm_90"))
    program.compile("cubin")
    assert program.pch_status is None


class FakeNVRTC:
    """NVRTC, but the creation of precompiled headers ends with the statuses that the test chooses."""

    def __init__(self, real, statuses):
        self.real = real
        self.statuses = statuses
        self.calls = []

    def __getattr__(self, name):
        return getattr(self.real, name)

    def nvrtcGetPCHCreateStatus(self, program):
        return (getattr(self.real.nvrtcResult, self.statuses.pop(0)),)

    def nvrtcGetPCHHeapSizeRequired(self, program):
        return (self.real.nvrtcResult.NVRTC_SUCCESS, 1 << 20)

    def nvrtcSetPCHHeapSize(self, size):
        self.calls.append(("heap", size))
        return (self.real.nvrtcResult.NVRTC_SUCCESS,)

    def nvrtcCompileProgram(self, *args):
        self.calls.append("compile")
        return self.real.nvrtcCompileProgram(*args)


@pytest.fixture
def fake_nvrtc(monkeypatch):
    """A function that replaces NVRTC by a fake with the given statuses."""

    def replace(*statuses):
        fake = FakeNVRTC(_nvrtc.load_nvrtc(), list(statuses))
        monkeypatch.setattr(_nvrtc, "load_nvrtc", lambda: fake)
        return fake

    return replace


def test_a_small_heap_is_enlarged_once(tmp_path, fake_nvrtc):
    fake = fake_nvrtc("NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED", "NVRTC_SUCCESS")
    program = header_program(tmp_path, create_pch=str(tmp_path / "a.pch"))
    assert program.compile("cubin").code
    assert program.pch_status is PCHStatusType.CREATED
    assert fake.calls == ["compile", ("heap", 1 << 20), "compile"]


@pytest.mark.parametrize(
    "statuses",
    [["NVRTC_ERROR_PCH_CREATE"], ["NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED"] * 2],
)
def test_failed_precompiled_header_warns_at_the_caller(tmp_path, fake_nvrtc, statuses):
    fake_nvrtc(*statuses)
    program = header_program(tmp_path, create_pch=str(tmp_path / "a.pch"))
    with pytest.warns(RuntimeWarning, match="precompiled header could not be created: .*a.pch") as caught:
        program.compile("cubin")
    assert caught[0].filename == __file__
    assert program.pch_status is PCHStatusType.FAILED


def test_other_errors_of_the_creation_are_raised(tmp_path, fake_nvrtc):
    fake_nvrtc("NVRTC_ERROR_INTERNAL_ERROR")
    program = header_program(tmp_path, create_pch=str(tmp_path / "a.pch"))
    with pytest.raises(NVRTCError, match="INTERNAL_ERROR.*nvrtcGetPCHCreateStatus"):
        program.compile("cubin")


def test_an_old_nvrtc_is_not_asked_for_precompiled_headers(tmp_path, fake_nvrtc, monkeypatch):
    fake_nvrtc()
    monkeypatch.setattr(_nvrtc, "nvrtc_version", lambda: (12, 6))
    program = header_program(tmp_path)
    program._open_back_end()._makes_pch = True
    program.compile("cubin")
    assert program.pch_status is None


def test_the_heap_of_the_real_nvrtc_is_enlarged(tmp_path):
    before = _nvrtc.call_nvrtc("nvrtcGetPCHHeapSize")
    _nvrtc.call_nvrtc("nvrtcSetPCHHeapSize", 1 << 16)
    try:
        program = header_program(tmp_path, create_pch=str(tmp_path / "a.pch"))
        program.compile("ptx")
        assert program.pch_status is PCHStatusType.CREATED
        assert (tmp_path / "a.pch").stat().st_size > 0
        assert _nvrtc.call_nvrtc("nvrtcGetPCHHeapSize") > 1 << 16
    finally:
        _nvrtc.call_nvrtc("nvrtcSetPCHHeapSize", before)


@pytest.mark.parametrize(
    "options, reason",
    [
        ({"create_pch": "{tmp}/none/a.pch"}, "cannot open precompiled header file"),
        ({"use_pch": "{tmp}/none.pch"}, "cannot open precompiled header file"),
        ({"pch": True, "pch_dir": "{tmp}/none"}, "invalid PCH directory"),
    ],
)
def test_precompiled_headers_that_cannot_be_opened_are_an_error(tmp_path, options, reason):
    given = {name: value if value is True else value.replace("{tmp}", str(tmp_path)) for name, value in options.items()}
    program = header_program(tmp_path, **given)
    with pytest.raises(NVRTCError, match=reason):
        program.compile("ptx")
    assert program.pch_status is None


def test_status_is_that_of_the_latest_compilation(tmp_path):
    program = header_program(tmp_path, create_pch=str(tmp_path / "a.pch"))
    program.compile("ptx")
    assert program.pch_status is PCHStatusType.CREATED
    (tmp_path / "header.h").write_text("broken")
    with pytest.raises(NVRTCError, match="broken"):
        program.compile("ptx")
    assert program.pch_status is None
    program.close()
    assert program.pch_status is None


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
    """NVRTC seems not to be loaded, and its recorded version is another one."""
    fake = types.SimpleNamespace(**{name: getattr(_nvrtc_calls, name) for name in _nvrtc_calls.__all__})
    fake.is_loaded = lambda: False
    with uncollected(), monkeypatch.context() as patch:  # releasing a program would load NVRTC
        patch.setattr(_nvrtc, "_nvrtc_calls", fake)
        patch.setattr(_nvrtc.libraries, "nvrtc", lambda is_thorough: "libnvrtc.so.13")
        patch.setattr(_nvrtc, "recorded_version", lambda path: (99, 1))
        for function in (_nvrtc.recorded_nvrtc_version, _nvrtc.load_nvrtc):
            function.cache_clear()
        yield fake
    for function in (_nvrtc.recorded_nvrtc_version, _nvrtc.load_nvrtc):
        function.cache_clear()


def test_a_wrong_recorded_version_is_corrected_when_nvrtc_is_loaded(unloaded):
    assert _nvrtc.nvrtc_version() == (99, 1)
    unloaded.is_loaded = lambda: True
    _nvrtc.load_nvrtc()
    assert _nvrtc.nvrtc_version() == _nvrtc.loaded_nvrtc_version() != (99, 1)


def test_code_is_not_stored_under_the_key_of_another_version(unloaded):
    cache = InMemoryProgramCache()
    with Program("__global__ void f() {}", "c++", ProgramOptions(arch="sm_90")) as program:
        assert _nvrtc.nvrtc_version() == (99, 1)
        unloaded.is_loaded = lambda: True  # another module has loaded it
        assert program.compile("cubin", cache=cache).code
        assert len(cache) == 0
        assert program.compile("cubin", cache=cache).code
        assert len(cache) == 1
