# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""ProgramOptions: the arguments of each option, which the real compilers must understand."""

import copy
import pickle
from dataclasses import fields

import pytest

from cuda.core import CUDAError, LinkerOptions, NotSupportedError, NVRTCError, Program, ProgramOptions
from cuda.core._compile import _nvrtc
from cuda.core._compile._linker_options import linker_options
from cuda.core.typing import CompilerBackendType, ObjectCodeFormatType
from cuda.core.utils import make_program_cache_key

ARCH = "sm_90"
SOURCE = "__global__ void f(int* x) { *x = 1; }"

# For each option a value, and the arguments that it renders to; {tmp} is a directory of the test.
NVRTC_ROWS = {
    "arch": ("sm_80", ["-arch=sm_80"]),
    "relocatable_device_code": (True, ["--relocatable-device-code=true"]),
    "extensible_whole_program": (True, ["--extensible-whole-program"]),
    "debug": (True, ["--device-debug"]),
    "lineinfo": (True, ["--generate-line-info"]),
    "device_code_optimize": (True, ["--dopt=on"]),
    "ptxas_options": (["-v", "-O2"], ["--ptxas-options=-v", "--ptxas-options=-O2"]),
    "max_register_count": (32, ["--maxrregcount=32"]),
    "ftz": (True, ["--ftz=true"]),
    "prec_sqrt": (False, ["--prec-sqrt=false"]),
    "prec_div": (False, ["--prec-div=false"]),
    "fma": (False, ["--fmad=false"]),
    "use_fast_math": (True, ["--use_fast_math"]),
    "extra_device_vectorization": (True, ["--extra-device-vectorization"]),
    "link_time_optimization": (True, ["--dlink-time-opt"]),
    "gen_opt_lto": (True, ["--gen-opt-lto"]),
    "define_macro": (["A", ("B", "2")], ["--define-macro=A", "--define-macro=B=2"]),
    "undefine_macro": (("A", "B"), ["--undefine-macro=A", "--undefine-macro=B"]),
    "include_path": ("{tmp}", ["--include-path={tmp}"]),
    "use_bundled_headers": (True, ["--use-bundled-headers={tmp}/cuda-python/nvrtc-bundled-headers"]),
    "pre_include": ("{tmp}/first.h", ["--pre-include={tmp}/first.h"]),
    "no_source_include": (True, ["--no-source-include"]),
    "std": ("c++20", ["--std=c++20"]),
    "builtin_move_forward": (False, ["--builtin-move-forward=false"]),
    "builtin_initializer_list": (False, ["--builtin-initializer-list=false"]),
    "disable_warnings": (True, ["--disable-warnings"]),
    "restrict": (True, ["--restrict"]),
    "device_as_default_execution_space": (True, ["--device-as-default-execution-space"]),
    "device_int128": (True, ["--device-int128"]),
    "optimization_info": ("inline", ["--optimization-info=inline"]),
    "no_display_error_number": (True, ["--no-display-error-number"]),
    "diag_error": (1234, ["--diag-error=1234"]),
    "diag_suppress": ([177, 1234], ["--diag-suppress=177", "--diag-suppress=1234"]),
    "diag_warn": ((1234,), ["--diag-warn=1234"]),
    "brief_diagnostics": (True, ["--brief-diagnostics=true"]),
    "time": ("{tmp}/time.csv", ["--time={tmp}/time.csv"]),
    "split_compile": (2, ["--split-compile=2"]),
    "fdevice_syntax_only": (True, ["--fdevice-syntax-only"]),
    "minimal": (True, ["--minimal"]),
    "no_cache": (True, ["--no-cache"]),
    "fdevice_time_trace": ("{tmp}/trace.json", ["--fdevice-time-trace={tmp}/trace.json"]),
    "device_float128": (True, ["--device-float128"]),
    "frandom_seed": ("7", ["--frandom-seed=7"]),
    "ofast_compile": ("min", ["--Ofast-compile=min"]),
    "pch": (True, ["--pch"]),
    "create_pch": ("{tmp}/made.pch", ["--create-pch={tmp}/made.pch"]),
    "use_pch": ("{tmp}/missing.pch", ["--use-pch={tmp}/missing.pch"]),
    "pch_dir": ("{tmp}", ["--pch-dir={tmp}"]),
    "pch_verbose": (False, ["--pch-verbose=false"]),
    "pch_messages": (False, ["--pch-messages=false"]),
    "instantiate_templates_in_pch": (False, ["--instantiate-templates-in-pch=false"]),
    "numba_debug": (True, ["--numba-debug"]),
    "wconversion": (True, ["--Wconversion"]),
    "wreorder": (True, ["--Wreorder"]),
    "warning_as_error": (["reorder", "conversion"], ["--warning-as-error=reorder", "--warning-as-error=conversion"]),
    "fmax_errors": (3, ["--fmax-errors=3"]),
    "ffinite_math_only": (True, ["--ffinite-math-only"]),
    "fno_signed_zeros": (True, ["--fno-signed-zeros"]),
    "jump_table_density": (50, ["--jump-table-density=50"]),
    "device_stack_protector": (True, ["--device-stack-protector=true"]),
    "modify_stack_limit": (False, ["--modify-stack-limit=false"]),
    "enable_tile": (True, ["--enable-tile"]),
    "tile_only": (True, ["--tile-only"]),
    "simt_only": (True, ["--simt-only"]),
    "diagnose_implicit_tile_var": (True, ["--diagnose-implicit-tile-var"]),
    "extra": (["--fmax-errors=3", "-lineinfo"], ["--fmax-errors=3", "-lineinfo"]),
    "first_line": (7, []),
}

# Options that NVRTC understands, but whose value here it rejects, with a text in its log.
REJECTED = {
    "use_pch": "missing.pch",
}

# Options of newer NVRTCs, which older ones reject as unknown.
NEW = {
    *("wconversion", "fmax_errors", "ffinite_math_only", "fno_signed_zeros", "device_stack_protector", "enable_tile"),
    *("tile_only", "simt_only", "diagnose_implicit_tile_var", "extra", "wreorder", "warning_as_error"),
    *("device_float128", "frandom_seed", "numba_debug", "ofast_compile", "use_bundled_headers"),
}

NVVM_ROWS = {
    "arch": ("sm_80", ["-arch=compute_80"]),
    "debug": (True, ["-g"]),
    "device_code_optimize": (False, ["-opt=0"]),
    "ftz": (True, ["-ftz=1"]),
    "prec_sqrt": (False, ["-prec-sqrt=0"]),
    "prec_div": (True, ["-prec-div=1"]),
    "fma": (False, ["-fma=0"]),
    "extra_sources": ([("a", b"b")], []),
    "use_libdevice": (True, []),
    "numba_debug": (True, ["-numba-debug"]),
    "extra": (["-new-option"], ["-new-option"]),
}

# The program options that apply to PTX, and their values as linker options.
PTX_ROWS = {
    "arch": ("sm_80", "sm_80"),
    "debug": (True, True),
    "lineinfo": (True, True),
    "ptxas_options": (["-v"], ["-v"]),
    "max_register_count": (32, 32),
    "ftz": (True, True),
    "prec_sqrt": (False, False),
    "prec_div": (True, True),
    "fma": (False, False),
    "link_time_optimization": (True, True),
    "time": ("any", True),
    "split_compile": (2, 2),
    "no_cache": (True, True),
    "numba_debug": (True, None),
    "jump_table_density": (50, 50),
    "device_stack_protector": (True, True),
    "extra": (["-new-option"], ["-new-option"]),
}


def rendered(value, tmp_path):
    if isinstance(value, str):
        return value.replace("{tmp}", str(tmp_path))
    return [item.replace("{tmp}", str(tmp_path)) for item in value] if isinstance(value, list) and tmp_path else value


def arguments(backend="nvrtc", target=None, **options):
    return [item.decode() for item in ProgramOptions(**{"arch": ARCH, **options}).as_bytes(backend, target)]


@pytest.fixture
def cache_home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "first.h").write_text("")
    return tmp_path


def names_of(backend):
    return {row.name for row in fields(ProgramOptions) if backend in row.metadata.get("renderers", {})}


@pytest.mark.parametrize("backend, rows", [("nvrtc", NVRTC_ROWS), ("nvvm", NVVM_ROWS)])
def test_every_row_is_in_the_table_of_this_test(backend, rows):
    assert names_of(backend) == set(rows)


@pytest.mark.parametrize("name", NVRTC_ROWS)
def test_nvrtc_gets_its_argument(name, cache_home):
    value, expected = NVRTC_ROWS[name]
    value = value if name in ("define_macro", "ptxas_options", "diag_suppress") else rendered(value, cache_home)
    first = [] if name == "arch" else [f"-arch={ARCH}"]
    assert arguments(**{name: value}) == first + rendered(expected, cache_home)


@pytest.mark.parametrize("name", NVVM_ROWS)
def test_nvvm_gets_its_argument(name):
    value, expected = NVVM_ROWS[name]
    first = [] if name == "arch" else ["-arch=compute_90"]
    assert arguments("nvvm", **{name: value}) == first + expected


@pytest.mark.requires(software=False)
@pytest.mark.requires(nvrtc=True)
@pytest.mark.parametrize("name", [name for name in NVRTC_ROWS if name != "tile_only"])
def test_nvrtc_understands_the_option(name, cache_home):
    value = NVRTC_ROWS[name][0]
    value = value if isinstance(value, list) else rendered(value, cache_home)
    # For the trace of other targets, NVRTC 12.9 looks for a file that it does not write.
    target = "ltoir" if name in ("link_time_optimization", "gen_opt_lto", "fdevice_time_trace") else "cubin"
    options = ProgramOptions(**{"arch": ARCH, name: value})
    try:
        with Program(SOURCE, "c++", options) as program:
            size = len(program.compile(target).code)
    except CUDAError as error:
        log = error.log or str(error)
        assert name in REJECTED or name in NEW, log
        assert REJECTED.get(name, "") in log
    else:
        assert size > 0
        assert name not in REJECTED


@pytest.mark.parametrize("name", sorted(names_of("nvrtc") - names_of("nvvm")))
def test_nvvm_rejects_by_name(name):
    options = ProgramOptions(**{"arch": ARCH, name: NVRTC_ROWS[name][0]})
    with pytest.raises(NotSupportedError, match=f"NVVM.*{name}"):
        options.as_bytes("nvvm")


def test_rejection_names_all_options():
    with pytest.raises(CUDAError, match="NVVM.*lineinfo, std"):
        ProgramOptions(arch=ARCH, std="c++17", lineinfo=True).as_bytes("nvvm")


def test_disabled_switches_are_not_rejected():
    assert arguments("nvvm", lineinfo=False, pch=False) == ["-arch=compute_90"]


@pytest.mark.parametrize("name", ["use_libdevice", "extra_sources"])
def test_nvrtc_rejects_options_of_nvvm(name):
    with pytest.raises(NotSupportedError, match=f"NVRTC.*{name}"):
        arguments(**{name: NVVM_ROWS[name][0]})


def test_false_is_rendered_by_toggles_only():
    names = {name: False for name, (value, _) in NVRTC_ROWS.items() if value is True}
    toggles = {"relocatable_device_code", "ftz", "brief_diagnostics", "device_stack_protector"}
    rendered_toggles = arguments(**names)[1:]
    assert len(rendered_toggles) == len(toggles)
    assert all(argument.endswith("=false") for argument in rendered_toggles)


def test_order_of_arguments_that_differs_from_the_rows(cache_home):
    given = arguments(
        include_path=["a"],
        use_bundled_headers=True,
        undefine_macro="m",
        device_float128=True,
        device_int128=True,
        pch=True,
        optimization_info="inline",
    )
    flags = [argument.split("=")[0] for argument in given]
    assert flags == [
        "-arch",
        "--undefine-macro",
        "--use-bundled-headers",
        "--include-path",
        "--device-int128",
        "--device-float128",
        "--optimization-info",
        "--pch",
    ]
    assert arguments("nvvm", debug=True, numba_debug=True, ftz=True)[1:] == ["-g", "-numba-debug", "-ftz=1"]


def test_target_ltoir_has_an_argument_of_nvvm():
    assert arguments("nvvm", "ltoir") == ["-arch=compute_90", "-gen-lto"]
    assert arguments("nvvm", "LTOIR", link_time_optimization=True)[-1] == "-gen-lto"
    assert arguments(CompilerBackendType.NVVM, ObjectCodeFormatType.PTX) == ["-arch=compute_90"]


@pytest.mark.parametrize("backend", ["nvJitLink", "", None, 5])
def test_unknown_backend_is_rejected(backend):
    with pytest.raises(ValueError, match="must be one of|Must be one of"):
        ProgramOptions(arch=ARCH).as_bytes(backend)


def test_case_of_the_backend_does_not_matter():
    assert arguments("NVRTC") == arguments("nvrtc") == [f"-arch={ARCH}"]


@pytest.mark.parametrize(
    "macros, expected",
    [
        ("A", ["A"]),
        (("A", "1"), ["A=1"]),
        (["A", ("B", "1")], ["A", "B=1"]),
        (("A", ("B", "1"), "C"), ["A", "B=1", "C"]),
        ((("A", "1"), ("B", "2"), ("C", "3")), ["A=1", "B=2", "C=3"]),
        ([], []),
    ],
)
def test_macros_are_rendered(macros, expected):
    assert arguments(define_macro=macros)[1:] == [f"--define-macro={item}" for item in expected]


@pytest.mark.parametrize("macros", [5, ("A", 1), (("A", "1"), "B"), ["A", ("B",)], [("B", "1", "2")], [None]])
def test_malformed_macros_are_rejected_when_rendered(macros):
    options = ProgramOptions(arch=ARCH, define_macro=macros)
    with pytest.raises(RuntimeError, match="define_macro"):
        options.as_bytes("nvrtc")


@pytest.mark.parametrize(
    "name, value",
    [
        ("debug", "false"),
        ("ftz", "no"),
        ("pch", [True]),
        ("std", 1.5),
        ("arch", True),
        ("include_path", [None]),
        ("max_register_count", True),
        ("ptxas_options", [b"-v"]),
        ("time", object()),
    ],
)
def test_wrong_type_names_the_option(name, value):
    with pytest.raises(TypeError, match=name):
        ProgramOptions(**{name: value})


def test_include_path_that_was_not_found_is_explained():
    with pytest.raises(TypeError, match="^include_path must be .* not NoneType; the directory was not found$"):
        ProgramOptions(include_path=["/usr/include", None])
    with pytest.raises(TypeError, match="^undefine_macro must be .* not NoneType$"):
        ProgramOptions(undefine_macro=[None])


def test_paths_may_be_path_objects(tmp_path):
    assert arguments(include_path=tmp_path, time=tmp_path / "t")[1:] == [
        f"--include-path={tmp_path}",
        f"--time={tmp_path}/t",
    ]


def test_program_has_a_default_name():
    assert ProgramOptions().name == ProgramOptions(name=None).name == "default_program"
    with pytest.raises(TypeError, match="name"):
        ProgramOptions(name=5)


def test_unknown_option_is_rejected():
    with pytest.raises(TypeError, match="no_such_option"):
        ProgramOptions(no_such_option=True)
    with pytest.raises(AttributeError, match="no_such_option"):
        ProgramOptions().no_such_option = True


def test_assigned_options_are_checked_when_they_are_used():
    options = ProgramOptions(arch=ARCH)
    options.debug = "yes"
    with pytest.raises(TypeError, match="debug"):
        options.as_bytes("nvrtc")
    with pytest.raises(TypeError, match="debug"):
        Program("", "c++", options)
    options.debug = True
    assert options.as_bytes("nvrtc")[-1] == b"--device-debug"


def test_options_compare_by_value():
    options = ProgramOptions(arch=ARCH, std="c++17", define_macro=[("A", "1")])
    assert options == copy.copy(options) == pickle.loads(pickle.dumps(options))
    assert options != ProgramOptions(arch=ARCH)
    assert repr(options) == "ProgramOptions(name='default_program', arch='sm_90')"
    with pytest.raises(TypeError):
        hash(options)


def test_every_row_is_documented():
    for row in fields(ProgramOptions):
        if row.name != "name":
            assert row.metadata["doc"].endswith(".")
            assert f"    {row.name} : " in ProgramOptions.__doc__


@pytest.mark.parametrize("sources", [5, "ab", b"ab", [("a",)], ["ab"], [(1, "b")], [("a", 5)]])
def test_malformed_extra_sources_are_rejected(sources):
    with pytest.raises(TypeError, match="source"):
        ProgramOptions(extra_sources=sources)


def test_extra_sources_must_not_be_empty():
    with pytest.raises(ValueError, match="'a' .index 0. cannot be empty"):
        ProgramOptions(extra_sources=[("a", b"")])


def test_default_arch_matches_the_current_device(set_current_arch):
    set_current_arch("75")
    assert ProgramOptions().as_bytes("nvrtc") == [b"-arch=sm_75"]
    assert ProgramOptions(ftz=True).as_bytes("nvvm") == [b"-arch=compute_75", b"-ftz=1"]


@pytest.mark.parametrize("kind", [RuntimeError, CUDAError])
def test_options_without_architecture_and_device_are_rejected(set_current_arch, kind):
    set_current_arch(kind("no driver"))
    with pytest.raises(kind, match="pass for example ProgramOptions.arch=.*no driver"):
        ProgramOptions().as_bytes("nvrtc")


@pytest.mark.requires(nvrtc=True)
def test_option_newer_than_the_loaded_nvrtc_has_both_versions(nvrtc_12_6):
    options = ProgramOptions(arch=ARCH, pch=True, numba_debug=True, use_bundled_headers=True)
    needs = "use_bundled_headers needs NVRTC 13.3, pch needs NVRTC 12.8, numba_debug needs NVRTC 13.2"
    for kind in (NotSupportedError, NVRTCError):
        with pytest.raises(kind, match=f"{needs}, but NVRTC 12.6 is loaded; install a newer"):
            Program(SOURCE, "c++", options)
    with Program(SOURCE, "c++", ProgramOptions(arch=ARCH, pch=False, numba_debug=False)) as program:
        assert program.compile("cubin").code


@pytest.mark.requires(nvrtc=True)
def test_error_of_an_unknown_option_names_the_version():
    with Program(SOURCE, "c++", ProgramOptions(arch=ARCH)) as program:
        program._open_back_end()._arguments.append(b"--no-such-option")
        version = "{}.{}".format(*_nvrtc.nvrtc_version())
        with pytest.raises(NVRTCError, match=f"--no-such-option[^$]*the loaded NVRTC {version} does not support"):
            program.compile("cubin")


def test_time_must_be_a_path_for_cxx():
    options = ProgramOptions(arch=ARCH, time=True)
    with pytest.raises(TypeError, match="time must be the path of a file for code of type 'c\\+\\+', not True"):
        options.as_bytes("nvrtc")


def test_split_compile_may_be_a_bool():
    assert arguments(split_compile=True)[1:] == ["--split-compile=1"]


# Program options for the linker


def test_every_ptx_row_is_in_the_table_of_this_test():
    assert names_of("ptx") == set(PTX_ROWS)


@pytest.mark.parametrize("name", PTX_ROWS)
def test_translation_to_linker_options(name):
    value, expected = PTX_ROWS[name]
    translated = linker_options(ProgramOptions(**{"arch": ARCH, name: value}, name="mine"))
    assert translated == LinkerOptions(**{"arch": ARCH, name: expected}, name="mine")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"split_compile": True}, {"split_compile": 1}),
        ({"time": True}, {"time": True}),
        ({"ptxas_options": ("-v", "-O2")}, {"ptxas_options": ("-v", "-O2")}),
    ],
)
def test_bools_and_tuples_are_translated_to_linker_options(options, expected):
    assert linker_options(ProgramOptions(arch=ARCH, **options)) == LinkerOptions(
        arch=ARCH, name="default_program", **expected
    )


@pytest.mark.parametrize("name", sorted((names_of("nvrtc") | names_of("nvvm")) - names_of("ptx")))
def test_linker_rejects_by_name(name):
    value = {**NVVM_ROWS, **NVRTC_ROWS}[name][0]
    with pytest.raises(NotSupportedError, match=f"'ptx': {name}"):
        linker_options(ProgramOptions(**{"arch": ARCH, name: value}))


@pytest.mark.parametrize("line", [True, 1.5, "1"])
def test_first_line_of_wrong_type_is_rejected(line):
    with pytest.raises(TypeError, match="first_line must be an int"):
        ProgramOptions(first_line=line)


@pytest.mark.parametrize("line", [0, -1, 1 << 31])
def test_first_line_out_of_range_is_rejected(line):
    with pytest.raises(ValueError, match="first_line must be from 1 to"):
        ProgramOptions(first_line=line)


@pytest.mark.parametrize(
    "field",
    [{"name": "a\0"}, {"include_path": "a\0b"}, {"include_path": ["a", "\0"]}, {"define_macro": "A=\0"}],
    ids=str,
)
def test_error_of_a_null_character_names_the_option(field):
    (name,) = field
    with pytest.raises(ValueError, match=name):
        ProgramOptions(arch="sm_90", **field).as_bytes("nvrtc")


@pytest.mark.parametrize("std", ["c++99x", "c++98", "C++17", "17", "gnu++17", "", "c++17\0"])
def test_unsupported_language_standard_is_rejected(std):
    with pytest.raises(ValueError, match=r"std must be 'c\+\+03', .* or 'c\+\+23', not "):
        ProgramOptions(arch=ARCH, std=std)


@pytest.mark.requires(nvrtc=True)
@pytest.mark.parametrize("std", ["c++03", "c++11", "c++14", "c++17", "c++20"])
def test_compiler_accepts_the_standards(std):
    assert Program("__global__ void f() {}", "c++", ProgramOptions(arch=ARCH, std=std)).compile("ptx").code


def test_extra_options_are_in_the_cache_key():
    keys = {
        make_program_cache_key(code=SOURCE, code_type="c++", options=options, target_type="cubin")
        for options in (ProgramOptions(arch=ARCH), ProgramOptions(arch=ARCH, extra=("--new-option=1",)))
    }
    assert len(keys) == 2


@pytest.mark.parametrize(
    ("extra", "error", "match"),
    [
        ("--new", TypeError, "extra must be a tuple of str"),
        ((1,), TypeError, "extra must consist of str, not int"),
        (("new",), ValueError, "options such as '--name=value', not 'new'"),
        (("--new=a/b",), ValueError, "cannot name files"),
        (("-Ifolder",), ValueError, "cannot name files"),
        (("--pre-include=a.h",), ValueError, "cannot name files"),
        (("--time=a.csv",), ValueError, "cannot name files"),
    ],
)
def test_extra_options_are_checked(extra, error, match):
    for cls in (ProgramOptions, LinkerOptions):
        with pytest.raises(error, match=match):
            cls(arch=ARCH, extra=extra)


@pytest.mark.requires(software=False)
@pytest.mark.requires(nvrtc=True)
def test_optix_ir_is_generated():
    assert Program(SOURCE, "c++", ProgramOptions(arch=ARCH)).compile("optixir").code_type == "optixir"


@pytest.mark.requires(software=True)
@pytest.mark.parametrize("target", ["optixir", "tileir"])
def test_targets_that_the_compiler_lacks(target):
    with pytest.raises(CUDAError, match=f"generates no {target}|not produce OptiX IR|tile kernels are not supported"):
        Program(SOURCE, "c++", ProgramOptions(arch=ARCH)).compile(target)


@pytest.mark.requires(software=False)
@pytest.mark.requires(nvrtc_version=(13, 3))
def test_source_without_tile_kernels_generates_nothing():
    options = ProgramOptions(arch=ARCH, tile_only=True)
    with pytest.warns(RuntimeWarning, match="because tile_only is True and the source has no tile kernels"):
        assert not Program(SOURCE, "c++", options).compile("cubin").code.strip(b"\0")
