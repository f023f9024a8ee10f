# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Messages about name expressions that NVRTC rejects: one line each, with the kernels of similar names."""

import pytest

from cuda.core import NVRTCError, Program, ProgramOptions
from cuda.core._compile._name_expressions import expression_errors

SOURCE = """
namespace ns {
template <class T> __global__ void __launch_bounds__(256, 2) scale(T* x) {}
}
__global__ void plain(float*) {}
template <int N> __global__ void repeat(float*) {}
"""


@pytest.mark.requires(nvrtc=True)
@pytest.mark.parametrize(
    ("expression", "end"),
    [
        ("plane", "; did you mean 'plain'?"),
        ("ns::scael<float>", "; did you mean 'scale'?"),
        ("ns::scale<flaot>", ""),
        ("repeat<float>", ""),
        ("repeet<3>", "; did you mean 'repeat'?"),
        ("zzz", "; it has plain, repeat, scale"),
        ("&zzz", "; it has plain, repeat, scale"),
    ],
)
def test_unknown_name_expression_is_one_line(expression, end):
    program = Program(SOURCE, "c++", ProgramOptions(arch="sm_90"))
    with pytest.raises(NVRTCError) as caught:
        program.compile("cubin", name_expressions=["plain", expression])
    first, *lines = str(caught.value).splitlines()
    assert first.startswith("NVRTC_ERROR_COMPILATION")
    assert len(lines) == 1
    assert lines[0].startswith(f"the name expression {expression!r} is not valid: ")
    assert lines[0].endswith(end)
    assert "__nv_name_map" in caught.value.log


@pytest.mark.requires(nvrtc=True)
def test_errors_of_the_source_come_first():
    program = Program(SOURCE + "__global__ void f() { undefined(); }", "c++", ProgramOptions(arch="sm_90"))
    with pytest.raises(NVRTCError, match="undefined") as caught:
        program.compile("cubin", name_expressions=["plane"])
    assert "is not valid" not in str(caught.value)


def log_of(*expressions):
    return "".join(
        f"__nv_name_map(2): error: message {number} of {expression}\n  #pragma nv_mangled_name {expression}\n   ^\n\n"
        for expression in expressions
        for number in (1, 2)
    )


def test_each_expression_has_its_first_message():
    assert expression_errors(log_of("plain<3>", "ns::other"), SOURCE.encode()) == [
        "the name expression 'plain<3>' is not valid: message 1 of plain<3>",
        "the name expression 'ns::other' is not valid: message 1 of ns::other; it has plain, repeat, scale",
    ]


def test_log_without_name_expressions_has_no_lines():
    assert expression_errors('a.cu(1): error: identifier "x" is undefined\n', b"") == []
    assert expression_errors("a.cu(1): error: y\n" + log_of("f"), b"") == []
    assert expression_errors(None, b"") == expression_errors("", b"") == []


def test_source_without_kernels_is_named():
    (line,) = expression_errors(log_of("f"), b"int x;")
    assert line == "the name expression 'f' is not valid: message 1 of f; the source has no kernels"


@pytest.mark.parametrize("expression", ["ns::scale", "repeat", "&repeat"])
def test_template_without_arguments_is_named(expression):
    name = expression.rpartition("::")[2].strip("&")
    (line,) = expression_errors(log_of(expression), SOURCE.encode())
    assert line.endswith(f"; {name!r} is a template, so the name needs arguments, as in '{name}<float>'")


@pytest.mark.parametrize("expression", ["plain", "plain<3>", "repeat<float>"])
def test_other_kernels_are_not_called_templates(expression):
    (line,) = expression_errors(log_of(expression), b"template <class T> struct S;\n" + SOURCE.encode())
    assert line.endswith(f"message 1 of {expression}")
