# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The driver's linker, which is used when nvJitLink is missing."""

import gc
import subprocess
import sys
import warnings

import pytest

from cuda.core import CUDAError, Linker, LinkerOptions, ObjectCode, Program, ProgramOptions, _linker
from cuda.core._linker import DriverLinker
from cuda.core.typing import CompilerBackendType, ObjectCodeFormatType
from support.code import (
    MAIN,
    PART,
    PTX,
    RUNTIME,
    compiled,
    run_on_int,
    runtime_fatbin,
    runtime_library,
    runtime_object,
)

pytestmark = pytest.mark.requires(nvrtc=True, software=False)


@pytest.fixture
def by_driver(without_nvjitlink):
    """Lets the driver link, without the warning about it."""
    with pytest.warns(RuntimeWarning, match="driver's linker"):
        assert Linker.which_backend() is CompilerBackendType.DRIVER


def parts(stream, kind="cubin"):
    arch = f"sm_{stream.device.arch}"
    options = ProgramOptions(arch=arch, relocatable_device_code=True, name="source")
    return [Program(source, "c++", options).compile(kind) for source in (MAIN, PART)]


def check_part(stream, code):
    """Run the kernel of MAIN and PART, and check its result."""
    assert run_on_int(stream, code.get_kernel("f"), 13) == 3 * 13 + 1


# Without a device


@pytest.mark.requires(device=False)
def test_missing_driver_or_device_is_an_error(by_driver):
    with pytest.raises((RuntimeError, CUDAError)):
        Linker(ObjectCode.from_ptx(PTX.encode()), options=LinkerOptions(arch="sm_90"))


class FakeLinker:
    """Records the inputs and settings of the driver's linker, and links nothing."""

    backend = CompilerBackendType.DRIVER
    input_types = DriverLinker.input_types
    is_closed = False

    def __init__(self, settings):
        self.settings = settings
        self.added = []

    def add(self, kind, code, name):
        self.added.append((kind, code, name))

    def link(self, target):
        return b"\x7fELF linked"

    def log(self, kind):
        return f"the {kind} log"

    def close(self):
        self.is_closed = True


@pytest.fixture
def fake_linker(by_driver, monkeypatch):
    monkeypatch.setattr(_linker, "make_driver_linker", lambda options: FakeLinker(_linker.driver_settings(options)))


def test_inputs_and_settings_reach_the_driver(fake_linker, tmp_path):
    options = LinkerOptions(arch="sm_90", max_register_count=32, no_cache=True, debug=False)
    cubin = ObjectCode.from_cubin(bytearray(b"b"), name="mine")
    inputs = ObjectCode.from_ptx(b"a"), cubin, ObjectCode.from_library("/c")
    linker = Linker(*inputs, options=options)
    assert linker.backend == "driver"
    assert linker._linker.settings == [("CU_JIT_TARGET", 90), ("CU_JIT_MAX_REGISTERS", 32), ("CU_JIT_CACHE_MODE", 0)]
    assert linker._linker.added == [("ptx", b"a", "input 0"), ("cubin", b"b", "mine"), ("library", "/c", "input 2")]
    code = linker.link("cubin")
    assert (code.code, code.code_type) == (b"\x7fELF linked", "cubin")
    assert linker.get_error_log() == "the error log"
    assert linker.get_info_log() == "the info log"


def test_without_an_architecture_the_driver_chooses(fake_linker):
    assert Linker(ObjectCode.from_ptx(b"a"))._linker.settings == []


def test_driver_makes_cubin_only(fake_linker):
    linker = Linker(ObjectCode.from_ptx(b"a"))
    with pytest.raises(ValueError, match="must be 'cubin' for the driver's linker, not 'ptx'"):
        linker.link("ptx")
    assert linker.link("cubin").code


def test_driver_rejects_ltoir(fake_linker):
    with pytest.raises(ValueError, match="cannot link input 1, which is 'ltoir'.*nvidia-nvjitlink"):
        Linker(ObjectCode.from_ptx(b"a"), ObjectCode.from_ltoir(b"b"))


def test_options_that_the_driver_lacks_are_rejected(fake_linker):
    with pytest.raises(ValueError, match="does not support the options time, ptxas_options"):
        Linker(ObjectCode.from_ptx(b"a"), options=LinkerOptions(time=True, ptxas_options="-v"))


@pytest.mark.parametrize(
    "ignored",
    [
        {"ftz": True},
        {"prec_div": False},
        {"prec_sqrt": True},
        {"fma": True},
        {"kernels_used": "f"},
        {"variables_used": ["v"]},
        {"optimize_unused_variables": True},
    ],
)
def test_options_that_the_driver_ignores_warn_at_the_caller(fake_linker, ignored):
    with pytest.warns(DeprecationWarning, match=f"ignores {next(iter(ignored))}, which is deprecated") as caught:
        linker = Linker(ObjectCode.from_ptx(b"a"), options=LinkerOptions(**ignored))
    assert caught[0].filename == __file__
    assert linker._linker.settings == []


def test_ptx_options_that_the_driver_ignores_warn_at_the_caller(fake_linker):
    with pytest.warns(DeprecationWarning, match="ignores ftz") as caught:
        program = Program(PTX, "ptx", ProgramOptions(arch="sm_90", ftz=True))
    assert caught[0].filename == __file__
    assert program.backend is CompilerBackendType.DRIVER
    assert program.compile("cubin").code


# On a device


@pytest.mark.requires(ptx=True)
@pytest.mark.parametrize("kind", ["cubin", "ptx"])
def test_linked_code_runs(stream, by_driver, kind):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        linker = Linker(*parts(stream, kind), options=LinkerOptions(name="mine", verbose=True, optimization_level=3))
    assert int(linker.handle) != 0
    code = linker.link("cubin")
    assert code.name == "mine"
    assert linker.get_error_log() == ""
    linker.close()
    linker.close()
    assert linker.is_closed
    assert int(linker.handle) == 0
    check_part(stream, code)


def test_files_are_linked(stream, by_driver, tmp_path):
    main, part = parts(stream)
    (tmp_path / "main.cubin").write_bytes(main.code)
    check_part(stream, Linker(ObjectCode.from_cubin(tmp_path / "main.cubin"), part).link("cubin"))


@pytest.mark.requires(cudadevrt=True)
@pytest.mark.parametrize(
    "kind, code",
    [
        ("object", runtime_object),
        ("fatbin", runtime_fatbin),
        ("library", runtime_library),
    ],
)
def test_host_code_and_fat_binaries_are_linked(device, by_driver, kind, code):
    linked = Linker(compiled(RUNTIME, "cubin"), getattr(ObjectCode, f"from_{kind}")(code())).link("cubin")
    assert linked.code.startswith(b"\x7fELF")


def test_failed_link_raises_with_the_log(stream, by_driver):
    linker = Linker(parts(stream)[0])
    with pytest.raises(CUDAError, match="linking to cubin failed[^$]*part") as caught:
        linker.link("cubin")
    assert caught.value.api == "cuLinkComplete"
    assert "Undefined reference to 'part'" in caught.value.log
    linker.close()
    assert "Undefined reference to 'part'" in linker.get_error_log()
    with pytest.raises(RuntimeError, match="this Linker is closed"):
        linker.link("cubin")


def test_closed_linker_rejects_to_link(stream, by_driver):
    linker = Linker(*parts(stream))
    linker._linker.close()
    with pytest.raises(RuntimeError, match="this Linker is closed"):
        linker._linker.link(ObjectCodeFormatType.CUBIN)


@pytest.mark.parametrize(
    "module, text",
    [
        (ObjectCode.from_cubin(b""), "cubin input 'input 0' of 0 bytes failed"),
        (ObjectCode.from_cubin(b"\x7fELF"), "cut off[^$]*cubin input 'input 0' of 4 bytes failed"),
        (ObjectCode.from_ptx(b"garbage"), "ptx input 'input 0' of 7 bytes failed"),
        (ObjectCode.from_cubin("/no/such.cubin"), "cubin file '/no/such.cubin' failed"),
    ],
)
def test_malformed_inputs_are_rejected(device, by_driver, module, text):
    with pytest.raises(CUDAError, match=text):
        Linker(module).link("cubin")


def test_null_character_in_a_path_is_rejected(device, by_driver):
    with pytest.raises(ValueError, match="path of the module contains a null character"):
        Linker(ObjectCode.from_cubin("a\0b"))


def test_uninitialized_linker_counts_as_closed():
    link = DriverLinker.__new__(DriverLinker)
    assert link.is_closed
    assert link.log("error") == ""
    link.close()
    with pytest.raises(RuntimeError, match="this Linker is closed"):
        link.add(ObjectCodeFormatType.PTX, b"a", "name")
    with pytest.raises(RuntimeError, match="this Linker is closed"):
        link.link(ObjectCodeFormatType.CUBIN)


def test_unknown_setting_is_rejected():
    with pytest.raises(KeyError, match="CU_JIT_NO_SUCH"):
        DriverLinker([("CU_JIT_NO_SUCH", 1)])


def test_linkers_dropped_before_they_link_are_destroyed(stream, by_driver):
    for _ in range(20):
        linker = Linker(*parts(stream))
        del linker
        gc.collect()
    check_part(stream, Linker(*parts(stream)).link("cubin"))


def test_ptx_program_is_compiled_by_the_driver(stream, by_driver):
    program = Program(PTX, "ptx", ProgramOptions(lineinfo=True, max_register_count=32))
    assert program.backend is CompilerBackendType.DRIVER
    code = program.compile("cubin")
    assert run_on_int(stream, code.get_kernel("triple"), 14) == 42
    assert int(program.handle) != 0
    program.close()
    assert int(program.handle) == 0


def test_exit_with_open_linkers_is_silent(device):
    script = (
        "import sys\nfrom cuda.core import Device, Linker, LinkerOptions, ObjectCode\n"
        "Device(0).set_current()\n"
        "sys.modules['cuda.bindings.nvjitlink'] = None\n"
        f"kept = Linker(ObjectCode.from_ptx({PTX.encode()!r}))\n"
        "kept.again = kept\n"
        "print(len(kept.link('cubin').code) > 100)\n"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")
