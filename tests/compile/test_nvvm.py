# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Programs in NVVM IR, compiled by the real libnvvm, which needs no driver."""

import gc
import io
import subprocess
import sys
import threading
import types
import weakref

import pytest

from cuda.core import (
    CUDAError,
    CUDAWarning,
    Linker,
    LinkerOptions,
    NotSupportedError,
    ObjectCode,
    Program,
    ProgramOptions,
)
from cuda.core._compile import _nvvm
from cuda.core.typing import CompilerBackendType, SourceCodeType
from support.code import INTERRUPT, run_on_int
from support.processes import uncollected

pytestmark = pytest.mark.requires(nvvm=True, software=False)

ARCH = "sm_90"
HEAD = """target triple = "nvptx64-unknown-cuda"
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-\
v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
"""
# A linker that optimizes would remove a kernel that is not marked as used.
KERNEL = """
@llvm.used = appending global [1 x i8*] [i8* bitcast (void (float*)* @k to i8*)], section "llvm.metadata"

declare float @change(float)

define void @k(float* %p) {
entry:
  %v = load float, float* %p
  %r = call float @change(float %v)
  store float %r, float* %p
  ret void
}

!nvvm.annotations = !{!0}
!0 = !{void (float*)* @k, !"kernel", i32 1}
"""
CHANGE = """
define float @change(float %x) {
  %y = fadd float %x, 3.0
  ret float %y
}
"""


def module(body, number=9):
    """Return a module with the compiler's IR version."""
    version = ", ".join(f"i32 {part}" for part in _nvvm.load_nvvm().ir_version())
    return f"{HEAD}{body}\n!nvvmir.version = !{{!{number}}}\n!{number} = !{{{version}}}\n"


def kernel(function="change"):
    return module(KERNEL.replace("change", function))


def program(code, **options):
    return Program(code, "nvvm", ProgramOptions(**{"arch": ARCH, **options}))


@pytest.mark.parametrize("made_of", [str, str.encode, lambda text: bytearray(text.encode())])
def test_text_is_compiled_to_ptx(made_of):
    code = program(made_of(kernel()), name="mine").compile("PTX")
    assert isinstance(code, ObjectCode)
    assert (code.code_type, code.name, code.symbol_mapping) == ("ptx", "mine", {})
    assert b".entry k(" in code.code
    assert b".target sm_90" in code.code


@pytest.mark.requires(nvrtc_version=(13, 0))
def test_bitcode_is_compiled():
    # The math library itself is bitcode. CUDA 12's does not pass NVVM's verification.
    code = program(_nvvm.libdevice(), extra_sources=[("kernel", kernel("__nv_sqrtf"))]).compile("ptx").code
    assert b".entry k(" in code
    assert b"sqrt" in code


@pytest.mark.requires(nvjitlink=True)
def test_compiled_ltoir_can_be_linked():
    code = program(kernel()).compile("ltoir")
    assert code.code_type == "ltoir"
    part = program(module(CHANGE)).compile("ltoir")
    linked = Linker(code, part, options=LinkerOptions(arch=ARCH, link_time_optimization=True)).link("cubin")
    assert linked.code.startswith(b"\x7fELF")


@pytest.mark.parametrize("encode", [str, str.encode])
def test_extra_sources_are_compiled_into_the_program(encode):
    code = program(kernel(), extra_sources=[("part", encode(module(CHANGE)))]).compile("ptx").code
    assert b".entry k(" in code
    assert b"add.f32" in code
    assert b".extern" not in code


def test_libdevice_is_linked_on_demand():
    without = program(kernel("__nv_sinf")).compile("ptx").code
    assert b".extern" in without
    made = program(kernel("__nv_sinf"), use_libdevice=True)
    code = made.compile("ptx").code
    assert b".extern" not in code
    assert b"__nv_sinf" not in code
    assert made.compile("ptx").code == code
    assert made.compile("ltoir").code_type == "ltoir"


def test_missing_libdevice_error_names_the_package(monkeypatch):
    def fail(name):
        raise RuntimeError(f"{name} not found")

    fake = types.SimpleNamespace(find_bitcode_lib=fail)
    monkeypatch.setitem(sys.modules, "cuda.pathfinder", fake)
    with pytest.raises(RuntimeError, match="libdevice.10.bc.*pip install nvidia-nvvm.*device not found"):
        _nvvm.libdevice()


@pytest.mark.parametrize("error", [RuntimeError("no library"), None])
def test_missing_nvvm_error_names_the_package(monkeypatch, error):
    def fail():
        raise error

    with uncollected(), monkeypatch.context() as patch:
        _nvvm.load_nvvm.cache_clear()
        patch.setitem(sys.modules, "cuda.bindings.nvvm", error and types.SimpleNamespace(version=fail))
        try:
            with pytest.raises(RuntimeError, match="libnvvm.*pip install nvidia-nvvm.*(no library|cuda.bindings.nvvm)"):
                program("x", name=f"not made before, {error}")
        finally:
            _nvvm.load_nvvm.cache_clear()


def test_errors_have_the_log():
    from cuda.bindings.nvvm import nvvmError

    made = program(kernel().replace("%r = ", "%q = "), name="mine")
    with pytest.raises(nvvmError, match="INVALID_IR.*nvvmVerifyProgram") as caught:
        made.compile("ptx")
    error = caught.value
    assert isinstance(error, CUDAError)
    assert "mine (" in error.log
    assert "undefined value '%r'" in error.log
    assert error.log in str(error)
    assert error.status == 6


def test_messages_of_errors_are_written_to_logs():
    logs = io.StringIO()
    with pytest.raises(CUDAError):
        program("garbage").compile("ptx", logs=logs)
    assert "expected top-level entity" in logs.getvalue()


def test_nothing_is_written_to_logs_without_messages():
    logs = io.StringIO()
    program(kernel()).compile("ptx", logs=logs)
    assert logs.getvalue() == ""


@pytest.mark.parametrize("code", ["", b""])
def test_empty_source_is_rejected(code):
    with pytest.raises(CUDAError, match="adding the module 'mine' of 0 bytes failed"):
        program(code, name="mine")


@pytest.mark.parametrize("code", [b"BC\xc0\xde", b"BC\xc0\xde" + bytes(64), b"\xff" * 50])
def test_broken_bitcode_is_rejected(code):
    with pytest.raises(CUDAError, match="nvvm"):
        program(code).compile("ptx")


def test_truncated_bitcode_is_rejected():
    code = _nvvm.libdevice()
    for size in (20, 1000, len(code) // 2):
        with pytest.raises(CUDAError, match="nvvm"):
            program(code[:size]).compile("ptx")


@pytest.mark.parametrize("code", [None, 5, memoryview(b"x"), ["x"]])
def test_code_of_wrong_type_is_rejected(code):
    with pytest.raises(TypeError, match="code of type 'nvvm' must be a str, bytes or a bytearray"):
        program(code)


def test_null_character_in_text_is_rejected():
    with pytest.raises(ValueError, match="null character at position 1"):
        program("a\0b")


@pytest.mark.parametrize("target", ["cubin", "fatbin", "", None])
def test_unknown_target_is_rejected(target):
    with pytest.raises(ValueError, match="'ptx', 'ltoir' for NVVM"):
        program(kernel()).compile(target)


@pytest.mark.parametrize(
    "options",
    [
        {"debug": True},
        {"device_code_optimize": False},
        {"device_code_optimize": True},
        {"ftz": True},
        {"prec_sqrt": False},
        {"prec_div": False},
        {"fma": False},
        {"arch": "sm_80"},
        {"arch": "compute_90"},
        {"arch": "sm_90a"},
    ],
)
def test_options_are_known_to_the_compiler(options):
    assert b".entry k(" in program(kernel(), **options).compile("ptx").code


def test_options_reach_the_compiler():
    assert b".target sm_80" in program(kernel(), arch="sm_80").compile("ptx").code
    part = module(CHANGE.replace("fadd", "fdiv"))
    assert b"div.rn.f32" in program(part).compile("ptx").code
    assert b"div.full" in program(part, prec_div=False).compile("ptx").code
    assert b"div.rn.ftz.f32" in program(part, ftz=True).compile("ptx").code


@pytest.mark.parametrize("options", [{"arch": "sm_1"}, {"arch": "nonsense"}])
def test_errors_of_options_name_the_versions(options):
    with pytest.raises(CUDAError, match=r"INVALID_OPTION.*\nNVVM \d+\.\d+ for IR \d+\.\d+ is loaded"):
        program(kernel(), **options).compile("ptx")


def test_option_that_is_too_new_has_both_versions():
    # libnvvm reports only the versions of its interface and of IR.
    text = _nvvm.describe_nvvm(ProgramOptions(arch=ARCH, numba_debug=True))
    assert text.endswith("is loaded; numba_debug needs the NVVM of CUDA 13.1")


@pytest.mark.parametrize(
    "options",
    [
        {"std": "c++17"},
        {"lineinfo": True},
        {"pch": True},
        {"no_cache": True},
        {"use_fast_math": True},
    ],
)
def test_options_that_nvvm_lacks_are_rejected(options):
    with pytest.raises(NotSupportedError, match=f"NVVM backend: {next(iter(options))}"):
        program(kernel(), **options)


def test_default_arch_matches_the_current_device(set_current_arch):
    set_current_arch("80")
    assert b".target sm_80" in Program(kernel(), "nvvm").compile("ptx").code


def test_program_has_a_handle_until_it_is_closed():
    made = program(kernel())
    assert made.backend is CompilerBackendType.NVVM
    assert repr(made) == f"<Program 'default_program' for {ARCH}>"
    assert isinstance(made.handle, int)
    assert made.handle != 0
    assert made.pch_status is None
    code = made.compile("ptx")
    made.close()
    made.close()
    assert made.handle == 0
    assert made.is_closed
    assert b".entry k(" in code.code
    with pytest.raises(RuntimeError, match="this Program is closed"):
        made.compile("ptx")
    with pytest.raises(RuntimeError, match="this Program is closed"):
        made._back_end.compile("ptx", [])


def test_case_of_the_code_type_does_not_matter():
    assert Program(kernel(), "NVVM", ProgramOptions(arch=ARCH)).backend == "NVVM"
    assert Program(kernel(), SourceCodeType.NVVM, ProgramOptions(arch=ARCH)).backend == "NVVM"


def test_program_of_nvvm_is_created_at_its_first_use():
    made = program(kernel())
    assert made._back_end is None
    made.close()
    assert made.handle == 0


def test_later_changes_of_sources_have_no_effect():
    source, extra = bytearray(kernel().encode()), bytearray(module(CHANGE).encode())
    made = program(source, extra_sources=[("extra", extra)])
    expected = made.compile("ptx").code
    made = program(source, extra_sources=[("extra", extra)])
    source[:], extra[:] = b"x" * len(source), b"x" * len(extra)
    assert made.compile("ptx").code == expected


def test_program_is_collected():
    made = program(kernel())
    reference = weakref.ref(made)
    del made
    gc.collect()
    assert reference() is None


def test_failed_release_warns(monkeypatch):
    made = program(kernel())
    assert made.handle != 0
    real = _nvvm.call_nvvm

    def destroy(api, *args, **names):
        real(api, *args, **names)
        return real("add_module_to_program", 0, b"", 0, "")

    monkeypatch.setattr(_nvvm, "call_nvvm", destroy)
    with pytest.warns(CUDAWarning, match="releasing the CUDA resource 0x[0-9a-f]+ failed: .*nvvmAddModuleToProgram"):
        made.close()


def test_many_threads_compile_one_program():
    made = program(kernel("__nv_sinf"), use_libdevice=True)
    results = []
    threads = [
        threading.Thread(target=lambda target=target: results.append(made.compile(target).code))
        for target in ("ptx", "ltoir", "ptx", "ltoir")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert len(set(results)) == 2


def test_exit_with_open_programs_is_silent():
    script = (
        "from cuda.core import Program, ProgramOptions\n"
        "kept = Program('x', 'nvvm', ProgramOptions(arch='sm_90'))\n"
        "kept.again = kept\n"
        "print('made')\n"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "made\n", "")


@pytest.mark.requires(nvjitlink=True)
def test_compiled_ir_runs(stream):
    arch = f"sm_{stream.device.arch}"
    lto = [program(source, arch=arch).compile("ltoir") for source in (kernel(), module(CHANGE))]
    code = Linker(*lto, options=LinkerOptions(arch=arch, link_time_optimization=True)).link("cubin")
    # The kernel adds 3 to a float, here by its bits.
    half, three_and_a_half = 0x3F000000, 0x40600000
    assert run_on_int(stream, code.get_kernel("k"), half) == three_and_a_half


def test_ctrl_c_ends_a_compilation_and_the_next_one_works():
    chain = "".join(f"  %v{i} = fdiv float %v{i - 1}, %w\n" for i in range(1, 60000))
    body = (
        "define void @k(float* %p) {\nentry:\n  %v0 = load float, float* %p\n  %w = fadd float %v0, 1.0\n"
        f"{chain}  store float %v59999, float* %p\n  ret void\n}}\n"
        '!nvvm.annotations = !{!0}\n!0 = !{void (float*)* @k, !"kernel", i32 1}\n'
    )
    script = (
        INTERRUPT
        + """
from cuda.core import Program, ProgramOptions
program = Program(sys.stdin.read(), 'nvvm', ProgramOptions(arch='sm_90'))
threading.Thread(target=send).start()
try: program.compile('ptx')
except KeyboardInterrupt: back(); print('interrupted')
print(program.handle != 0, program.is_closed)
program.close()
print(program.handle, program.is_closed, flush=True)
"""
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], input=module(body), capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\nTrue False\n0 True\n", "")
