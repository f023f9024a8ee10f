# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""An nvcc that the caller names; here a script in its place, which logs its arguments."""

import sys

import pytest

import cuda.core.driver as drv
from cuda.core.driver import _compilation
from cuda.core.driver.compiler import compile, get_nvcc_version, preprocess_source
from cuda.core.utils import InMemoryProgramCache

NVCC = """#!{python}
import sys
arguments = sys.argv[1:]
with open({log!r}, "a") as log:
    print(arguments, file=log)
if "--version" in arguments:
    print("release 1.2")
elif "--preprocess" in arguments:
    print("preprocessed " + open(arguments[-1]).read())
else:
    source = open(arguments[-1]).read()
    if "wrong" in source:
        print("some output")
        print("error: wrong", file=sys.stderr)
        raise SystemExit(2)
    open(arguments[arguments.index("-o") + 1], "w").write("code of " + source)
    print("a remark", file=sys.stderr)
"""


@pytest.fixture
def nvcc(tmp_path):
    _compilation.nvcc_version.cache_clear()
    path = tmp_path / "nvcc"
    path.write_text(NVCC.format(python=sys.executable, log=str(tmp_path / "log")))
    path.chmod(0o755)
    return str(path)


def test_a_named_nvcc_is_used(nvcc, tmp_path):
    with pytest.warns(UserWarning, match="a remark"):
        code = compile("source", nvcc, ["-w"], arch="sm_90", code="sm_90a", cache_dir=False, include_dirs=["/x"])
    assert code == b'code of extern "C" {\n#line 1\nsource\n}\n'
    assert "'--cubin', '-w', '-arch=sm_90', '-code=sm_90a', '-I/x', '-o'" in (tmp_path / "log").read_text()


def test_a_failure_of_nvcc_is_a_compile_error(nvcc):
    with pytest.raises(drv.CompileError) as caught:
        compile("wrong", nvcc, arch="sm_90", cache_dir=False)
    error = caught.value
    assert (error.msg, error.stdout, error.stderr) == ("nvcc compilation failed", "some output\n", "error: wrong\n")
    assert error.command_line[:2] == [nvcc, "--cubin"]


def test_code_of_nvcc_is_cached_unless_the_source_has_includes(nvcc, tmp_path):
    cache = InMemoryProgramCache()
    first = _compilation.run_nvcc(nvcc, "source", [], "cubin", cache)
    assert first == (b"code of source", "a remark")
    assert _compilation.run_nvcc(nvcc, "source", [], "cubin", cache) == (b"code of source", "")
    assert (tmp_path / "log").read_text().count("-o") == 1
    for _ in range(2):
        _compilation.run_nvcc(nvcc, '#include "x.h"', [], "cubin", cache)
    assert (tmp_path / "log").read_text().count("-o") == 3


def test_an_nvcc_that_does_not_exist_is_a_compile_error(tmp_path):
    with pytest.raises(drv.CompileError, match="nvcc compilation failed"):
        compile("source", str(tmp_path / "none"), arch="sm_90", cache_dir=False)
    with pytest.raises(drv.CompileError, match="nvcc was not found"):
        get_nvcc_version(str(tmp_path / "none"))


def test_nvcc_returns_its_version_and_preprocesses(nvcc):
    assert get_nvcc_version(nvcc) == "release 1.2\n"
    assert preprocess_source("text", ["-w"], nvcc) == "preprocessed text\n"


def test_nvrtc_does_not_preprocess():
    with pytest.raises(drv.NotSupportedError, match="pass the path of an nvcc"):
        preprocess_source("text", [], "nvcc")
