# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels compiled before a program is installed: their files, and that nothing is compiled if one is found."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

from cuda.core import _prebuild
from cuda.core.utils import kernel
from support.interpreter import run

MODULE = '''
from cuda.core.utils import kernel

SOURCE = """
#include "factor.h"
template <class T> __global__ void scale(T* x, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= FACTOR;
}}
extern "C" __global__ void one(int* x) {{ *x = 1; }}
"""
OPTIONS = {{"include_path": [{include!r}]}}
one = kernel(SOURCE, "one", options=OPTIONS, prebuilt="shipped.kernels", cache=False)
scales = kernel(SOURCE, ("scale<float>", "scale<int>"), options=OPTIONS, prebuilt="shipped.kernels", cache=False)
'''

PROGRAM = """
import sys
import numpy as np
from cuda.core import Device
from cuda.core._program import Program
Program._open_back_end = lambda self: sys.exit("compiled")
import shipped.code as code
device = Device()
device.set_current()
stream = device.create_stream()
x = device.to_device(np.arange(3, dtype=np.int32), stream=stream)
code.one(x, grid=1, block=1, stream=stream)
code.scales[1](x, 3, elements=3, stream=stream)
print(x.to_host(stream=stream).tolist())
"""


@pytest.fixture
def package(tmp_path):
    """A package with kernels, which are not compiled yet."""
    include = tmp_path / "include"
    include.mkdir()
    (include / "factor.h").write_text("#define FACTOR 3\n")
    package = tmp_path / "shipped"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "code.py").write_text(MODULE.format(include=str(include)))
    return package


def prebuild(package, *more):
    command = [sys.executable, "-m", "cuda.core", "prebuild", "shipped.code", "-o", "shipped/kernels", *more]
    return subprocess.run(command, cwd=package.parent, capture_output=True, text=True, timeout=300)


@pytest.mark.requires(compute=(9, 0))
def test_shipped_kernels_are_not_compiled(package, device, monkeypatch):
    done = prebuild(package, "--arch", f"sm_{device.arch},sm_80")
    assert done.returncode == 0, done.stderr
    assert len(list((package / "kernels").iterdir())) == 4
    assert "scale<float>, scale<int> for sm_80" in done.stdout
    (package.parent / "include" / "factor.h").unlink()  # of the machine that compiled
    monkeypatch.syspath_prepend(str(package.parent))
    assert run(PROGRAM) == "[3, 3, 6]\n"


SOURCE = "__global__ void f(float* x, int by) { *x *= by; }"


def built(directory, device):
    """Compile a kernel into a directory."""
    found = kernel(SOURCE, "f", cache=False, prebuilt=directory)
    _prebuild.write(str(directory), found._source, f"sm_{device.arch}")
    (path,) = directory.iterdir()
    return found, path


def no_compiler(*args):
    raise AssertionError("compiled")


@pytest.mark.requires(cuda=(12, 4))
def test_prebuilt_kernel_knows_its_parameters(device, stream, tmp_path, monkeypatch):
    found, _ = built(tmp_path, device)
    monkeypatch.setattr("cuda.core._program.Program._open_back_end", no_compiler)
    x = device.to_device(np.full(1, 5, np.float32), stream=stream)
    found(x, by=3, grid=1, block=1, stream=stream)
    assert x.to_host(stream=stream).tolist() == [15]


@pytest.mark.requires(cuda=(12, 4))
def test_other_sources_and_options_are_compiled(device, tmp_path):
    built(tmp_path, device)
    for source, options in ((SOURCE + " ", None), (SOURCE, {"fma": False})):
        other = kernel(source, "f", options=options, cache=False, prebuilt=tmp_path)
        assert other.for_device(device).num_arguments == 2


@pytest.mark.parametrize(
    "change",
    [lambda data: b"", lambda data: data[:-1], lambda data: b"x" + data[1:], lambda data: data.replace(b"{", b"[", 1)],
    ids=["empty", "short", "foreign", "not JSON"],
)
@pytest.mark.requires(cuda=(12, 4))
def test_damaged_files_are_ignored_with_one_warning(device, tmp_path, change):
    _, path = built(tmp_path, device)
    path.write_bytes(change(path.read_bytes()))
    found = [kernel(SOURCE, "f", cache=False, prebuilt=tmp_path) for _ in range(2)]
    with pytest.warns(RuntimeWarning, match="a prebuilt file in .* is damaged"):
        assert found[0].for_device(device).num_arguments == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert found[1].for_device(device).num_arguments == 2


def test_module_without_kernels_is_an_error(package):
    (package / "code.py").write_text("x = 1")
    done = prebuild(package, "--arch", "sm_80")
    assert done.returncode == 1 and "no kernels" in done.stderr


def test_place_of_wrong_type():
    with pytest.raises(TypeError, match="prebuilt must be the name of a package or a path, not int"):
        kernel(SOURCE, "f", prebuilt=3)
