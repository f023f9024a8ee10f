# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Options of nvcc, translated to fields of ProgramOptions."""

import pytest

from cuda.core import ProgramOptions
from cuda.core.driver._compilation import UnknownOptionError, arch_of, split_options, translate


@pytest.mark.parametrize(
    ("given", "fields"),
    [
        (["-use_fast_math"], {"use_fast_math": True}),
        (["--use_fast_math"], {"use_fast_math": True}),
        (["-w", "-lineinfo", "-G", "-g"], {"disable_warnings": True, "lineinfo": True, "debug": True}),
        (["-O3"], {"ptxas_options": ["-O3"]}),
        (["--optimize=2"], {"ptxas_options": ["-O2"]}),
        (["-I", "/a", "-I/b", "-isystem", "/c", "--include-path=/d"], {"include_path": ["/a", "/b", "/c", "/d"]}),
        (["-DN=4", "-D", "M", "--define-macro=K=a=b", "-UX"],
         {"define_macro": ["N=4", "M", "K=a=b"], "undefine_macro": ["X"]}),
        (["-include", "a.h"], {"pre_include": ["a.h"]}),
        (["-std=c++11"], {"std": "c++11"}),
        (["-std", "c++14"], {"std": "c++14"}),
        (["--std=gnu++17"], {"std": "c++17"}),
        (["-arch=sm_52"], {"arch": "sm_52"}),
        (["-arch", "compute_90"], {"arch": "sm_90"}),
        (["-gencode", "arch=compute_70,code=sm_75"], {"arch": "sm_75"}),
        (["-gencode=arch=compute_80,code=[sm_80,compute_80]"], {"arch": "sm_80"}),
        (["-code=sm_86"], {"arch": "sm_86"}),
        (["-maxrregcount=32"], {"max_register_count": 32}),
        (["--maxrregcount", "16"], {"max_register_count": 16}),
        (["-ftz=true", "-prec-div", "false", "-prec-sqrt=false", "-fmad=false"],
         {"ftz": True, "prec_div": False, "prec_sqrt": False, "fma": False}),
        (["-Xptxas", "-v,-dlcm=ca", "--ptxas-options=-O1"], {"ptxas_options": ["-v", "-dlcm=ca", "-O1"]}),
        (["--resource-usage"], {"ptxas_options": ["-v"]}),
        (["-diag-suppress", "177,20012"], {"diag_suppress": [177, 20012]}),
        (["-rdc=true"], {"relocatable_device_code": True}),
        (["-dc", "-dlto", "-restrict", "-default-device"],
         {"relocatable_device_code": True, "link_time_optimization": True, "restrict": True,
          "device_as_default_execution_space": True}),
        (["-dopt=on"], {"device_code_optimize": True}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_options_become_fields(given, fields):
    assert translate(given) == fields
    ProgramOptions(**fields)


@pytest.mark.parametrize(
    "given",
    [
        ["-Xcompiler=-Wall"], ["-Xcompiler", "-Wall"], ["--compiler-options", "-fPIC"], ["-m64"], ["-lcudadevrt"],
        ["-L/usr/lib"], ["-l", "m"], ["--expt-relaxed-constexpr", "--extended-lambda"], ["-ccbin", "g++-9"], ["--keep"],
        ["-Wno-deprecated-gpu-targets"], ["-Wall"], ["-Werror", "all-warnings"], ["-cudart", "static"], ["-x", "cu"],
        ["--default-stream", "per-thread"], ["-t", "4"], ["--verbose"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_options_for_the_host_have_no_effect(given):
    assert translate(given) == {}


@pytest.mark.parametrize(
    ("given", "parts"),
    [
        (["-lineinfo -O2"], ["-lineinfo", "-O2"]),
        (["-Xptxas -v"], ["-Xptxas", "-v"]),
        (["-I /some/where"], ["-I", "/some/where"]),
        (["-I/with a blank"], ["-I/with", "a", "blank"]),
        ("-w", ["-w"]),
        (["", " -w "], ["-w"]),
        (["-I", "/with a blank"], ["-I", "/with a blank"]),
        (['-DNAME="a b" -w'], ["-DNAME=a b", "-w"]),
    ],
)
def test_several_options_in_one_string_are_split(given, parts):
    assert split_options(given) == parts


def test_options_must_be_strings():
    with pytest.raises(TypeError, match="each of options must be a str, not int"):
        split_options(["-w", 3])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--no-such-thing"], "unrecognized option '--no-such-thing'"),
        (["kernel.cu"], "must begin with '-', not be 'kernel.cu'"),
        (["-I"], "'-I' needs a value"),
        (["-maxrregcount"], "needs a value"),
        (["-ftz=1"], "must be true or false, not '1'"),
    ],
)
def test_unknown_options_are_named_in_the_error(given, message):
    with pytest.raises(UnknownOptionError, match=message):
        translate(given)


def test_the_first_architecture_of_a_list_is_taken():
    assert arch_of("compute_90,sm_80") == "sm_90"
