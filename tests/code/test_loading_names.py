# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Names of kernels and variables in compiled code, and the advice of messages about missing ones."""

import pytest

from cuda.core import CUDAError, ObjectCode, Program, ProgramOptions

pytestmark = pytest.mark.requires(device=True)


@pytest.mark.requires(cuda=(12, 4))
@pytest.mark.parametrize(
    "names, wanted, message",
    [
        ([], "saxpy", ", which has no kernels at all"),
        (["saxpy", "scale"], "saxpi", "; did you mean 'saxpy'?"),
        (["b", "a"], "saxpi", "; it has a, b"),
        (["f<float>", "g<int>"], "f<double>", "; it has f<float>, g<int>"),
        ([f"f{i}" for i in range(9)], "saxpi", "; it has 9 kernels, such as f0, f1, f2, f3, f4"),
    ],
    ids=str,
)
def test_names_most_like_the_missing_one_are_listed(device, names, wanted, message):
    if "<" in wanted:
        source = "template <class T> __global__ void f() {} template <class T> __global__ void g() {}"
    else:
        source = "__device__ int x;" + "".join(f'extern "C" __global__ void {name}() {{}}' for name in names)
    program = Program(source, "c++", ProgramOptions(arch=f"sm_{device.arch}"))
    code = program.compile("cubin", names if "<" in wanted else ())
    with pytest.raises(CUDAError) as error:
        code.get_kernel(wanted)
    assert message in str(error.value)


@pytest.mark.requires(ptx=True, software=False)
def test_variables_of_ptx_are_found(device):
    code = (
        b".version 8.0\n.target sm_80\n.address_size 64\n"
        b".visible .global .align 4 .u32 counter = 3;\n.const .align 4 .b8 table[16];\n.global .u32 $hidden;\n"
    )
    with pytest.raises(CUDAError, match="no variable 'nothing' in .*; it has counter, table"):
        ObjectCode.from_ptx(code).get_global("nothing")
