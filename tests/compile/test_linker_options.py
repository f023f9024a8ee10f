# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""LinkerOptions: the arguments and settings of each option, which nvJitLink must understand."""

import copy
import pickle
from dataclasses import fields

import pytest

from cuda.core import Linker, LinkerOptions
from cuda.core._compile._option_table import ignored_options, render_options, unsupported_options
from cuda.core._linker import make_driver_linker
from support.code import PART, compiled

ARCH = "sm_90"

# For each linker option a value, the arguments for nvJitLink, and what the driver's linker gets: a list
# of settings, None where it rejects, or a word where it ignores the option with a warning.
LINKER_ROWS = {
    "arch": ("sm_90a", ["-arch=sm_90a"], [("CU_JIT_TARGET", 90 + 0x10000)]),
    "max_register_count": (32, ["-maxrregcount=32"], [("CU_JIT_MAX_REGISTERS", 32)]),
    "time": (True, ["-time"], None),
    "verbose": (True, ["-verbose"], [("CU_JIT_LOG_VERBOSE", 1)]),
    "link_time_optimization": (True, ["-lto"], [("CU_JIT_LTO", 1)]),
    "ptx": (True, ["-ptx"], None),
    "optimization_level": (0, ["-O0"], [("CU_JIT_OPTIMIZATION_LEVEL", 0)]),
    "debug": (True, ["-g"], [("CU_JIT_GENERATE_DEBUG_INFO", 1)]),
    "lineinfo": (True, ["-lineinfo"], [("CU_JIT_GENERATE_LINE_INFO", 1)]),
    "ftz": (True, ["-ftz=true"], "ignored"),
    "prec_div": (False, ["-prec-div=false"], "ignored"),
    "prec_sqrt": (True, ["-prec-sqrt=true"], "ignored"),
    "fma": (False, ["-fma=false"], "ignored"),
    "kernels_used": (("a", "b"), ["-kernels-used=a", "-kernels-used=b"], "ignored"),
    "variables_used": ("v", ["-variables-used=v"], "ignored"),
    "optimize_unused_variables": (True, ["-optimize-unused-variables"], "ignored"),
    "ptxas_options": (["-v", "-O2"], ["-Xptxas=-v", "-Xptxas=-O2"], None),
    "split_compile": (0, ["-split-compile=0"], None),
    "split_compile_extended": (2, ["-split-compile-extended=2"], None),
    "no_cache": (True, ["-no-cache"], [("CU_JIT_CACHE_MODE", 0)]),
    "ofast_compile": ("min", ["-Ofc=min"], None),
    "nvvm_latest": (True, ["-nvvm-latest"], None),
    "jump_table_density": (50, ["-jump-table-density=50"], None),
    "device_stack_protector": (True, ["--device-stack-protector=true"], None),
    "extra": (("-lineinfo",), ["-lineinfo"], None),
    "incremental": (True, ["-r"], None),
}

# The linker that an option needs; the software device does not link incrementally.
LINKERS = {
    "incremental": {"software": False, "nvjitlink_version": (13, 2)},
    "nvvm_latest": {"nvjitlink_version": (13, 5)},
}
# Options that nvJitLink takes only together with others.
NEEDS = {"ptx": {"link_time_optimization": True}, "split_compile_extended": {"link_time_optimization": True}}


def linker_arguments(**options):
    return [item.decode() for item in LinkerOptions(**{"arch": ARCH, **options}).as_bytes()]


def test_every_linker_row_is_in_the_table_of_this_test():
    assert {row.name for row in fields(LinkerOptions)} == {"name", "numba_debug", *LINKER_ROWS}


@pytest.mark.requires(nvjitlink=True)
@pytest.mark.parametrize("name", LINKER_ROWS)
def test_nvjitlink_gets_its_argument(name):
    value, expected, _ = LINKER_ROWS[name]
    first = [] if name == "arch" else [f"-arch={ARCH}"]
    assert linker_arguments(**{name: value}) == first + expected


@pytest.mark.requires(nvjitlink=True, nvrtc=True)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.requires(**LINKERS.get(name, {}))) for name in LINKER_ROWS]
)
def test_nvjitlink_understands_the_option(name):
    options = {"arch": ARCH, name: LINKER_ROWS[name][0], **NEEDS.get(name, {})}
    is_lto = "link_time_optimization" in options
    with Linker(compiled(PART, "ltoir" if is_lto else "ptx"), options=LinkerOptions(**options)) as linker:
        assert linker.link("ptx" if name == "ptx" else "cubin").code


@pytest.mark.parametrize("name", LINKER_ROWS)
def test_driver_gets_its_setting(name):
    value, _, expected = LINKER_ROWS[name]
    options = LinkerOptions(**{name: value})
    is_list = isinstance(expected, list)
    assert render_options(options, "driver") == (expected if is_list else [])
    assert unsupported_options(options, "driver") == ([] if expected is not None else [name])
    assert ignored_options(options, "driver") == ([name] if expected == "ignored" else [])


@pytest.mark.parametrize("name", [name for name, row in LINKER_ROWS.items() if row[2] is None])
def test_drivers_linker_rejects_by_name(name):
    with pytest.raises(ValueError, match=f"does not support the options {name}; nvJitLink is missing"):
        make_driver_linker(LinkerOptions(**{"arch": ARCH, name: LINKER_ROWS[name][0]}))


@pytest.mark.requires(nvjitlink=True)
def test_false_switches_linker_options_off():
    toggles = ("ftz", "prec_sqrt", "device_stack_protector")
    switches = {name: False for name, row in LINKER_ROWS.items() if row[0] is True and name not in toggles}
    assert linker_arguments(**switches) == [f"-arch={ARCH}"]
    assert render_options(LinkerOptions(**switches), "driver") == []
    assert unsupported_options(LinkerOptions(**switches), "driver") == []
    assert ignored_options(LinkerOptions(**switches), "driver") == []


@pytest.mark.requires(nvjitlink=True)
def test_tuples_are_equivalent_to_lists():
    for name in ("kernels_used", "variables_used", "ptxas_options"):
        assert linker_arguments(**{name: ("a", "b")}) == linker_arguments(**{name: ["a", "b"]})


@pytest.mark.parametrize("arch, expected", [("sm_90", 90), ("sm_100f", 100 | 0x20000), ("compute_75", 75)])
def test_driver_gets_its_target(arch, expected):
    assert render_options(LinkerOptions(arch=arch), "driver") == [("CU_JIT_TARGET", expected)]


@pytest.mark.parametrize("arch", ["sm_9", "90", "", "sm_90x"])
def test_malformed_driver_target_is_rejected(arch):
    with pytest.raises(ValueError, match="arch must be an architecture such as 'sm_90'"):
        render_options(LinkerOptions(arch=arch), "driver")


@pytest.mark.parametrize(
    "name, value",
    [
        ("max_register_count", "32"),
        ("max_register_count", True),
        ("optimization_level", 1.5),
        ("split_compile", "2"),
        ("debug", "yes"),
        ("ptx", "no"),
        ("time", "file"),
        ("kernels_used", [None]),
        ("arch", True),
        ("name", 5),
    ],
)
def test_wrong_type_names_the_linker_option(name, value):
    with pytest.raises(TypeError, match=name):
        LinkerOptions(**{name: value})


def test_linker_has_a_default_name():
    assert LinkerOptions().name == LinkerOptions(name=None).name == "<default linker>"
    with pytest.raises(ValueError, match="name contains a null character"):
        LinkerOptions(name="a\0b")


@pytest.mark.parametrize("value", [True, False])
def test_numba_debug_of_the_linker_is_deprecated(value):
    with pytest.warns(DeprecationWarning, match="numba_debug has no effect") as caught:
        options = LinkerOptions(arch=ARCH, numba_debug=value)
    assert caught[0].filename == __file__
    assert render_options(options, "nvjitlink") == [f"-arch={ARCH}"]
    assert unsupported_options(options, "driver") == []


@pytest.mark.requires(nvjitlink=True)
def test_linker_defaults_to_current_device_arch(set_current_arch):
    set_current_arch("75")
    assert LinkerOptions(ftz=True).as_bytes() == [b"-arch=sm_75", b"-ftz=true"]


@pytest.mark.requires(nvjitlink=True)
def test_linker_without_architecture_and_device_is_rejected(set_current_arch):
    set_current_arch(RuntimeError("no driver"))
    with pytest.raises(RuntimeError, match="pass for example LinkerOptions.arch=.*no driver"):
        LinkerOptions().as_bytes()


@pytest.mark.parametrize("backend", ["driver", "nvrtc", "", None])
def test_back_ends_without_text_arguments_are_rejected(backend):
    with pytest.raises(ValueError, match="backend must be 'nvjitlink'"):
        LinkerOptions(arch=ARCH).as_bytes(backend)


@pytest.mark.requires(nvjitlink=True)
def test_case_of_nvjitlink_does_not_matter():
    assert LinkerOptions(arch=ARCH).as_bytes("nvJitLink") == LinkerOptions(arch=ARCH).as_bytes()


def test_arguments_without_nvjitlink_are_an_error(without_nvjitlink):
    with pytest.raises(RuntimeError, match="pip install nvidia-nvjitlink"):
        LinkerOptions(arch=ARCH).as_bytes()


@pytest.mark.requires(nvjitlink=True)
def test_null_character_names_the_linker_option():
    with pytest.raises(ValueError, match="kernels_used"):
        linker_arguments(kernels_used=["a", "b\0c"])


def test_linker_options_have_value_semantics():
    options = LinkerOptions(arch=ARCH, kernels_used=["a"])
    assert options == copy.copy(options) == pickle.loads(pickle.dumps(options))
    assert options != LinkerOptions(arch=ARCH)
    assert "kernels_used=['a']" in repr(options)
    with pytest.raises(TypeError):
        hash(options)


def test_every_linker_row_is_documented():
    for row in fields(LinkerOptions):
        if row.name != "name":
            assert row.metadata["doc"].endswith(".")
            assert f"    {row.name} : " in LinkerOptions.__doc__
