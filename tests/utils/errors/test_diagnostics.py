# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Compile errors as records, and sources that are part of a user's file."""

import re

import pytest

from cuda.core import NVRTCError, Program, ProgramOptions

BROKEN = """
extern "C" __global__ void f(int* x) {
\tint never;
    *x = missing + other(3);
}
"""
TEMPLATE = """
template <class T> struct A { static_assert(sizeof(T) == 1, "must be one"); };
__global__ void f() { A<int> a; }
"""


def diagnostics(code, **options) -> list:
    """Return the diagnostics of a compilation that fails."""
    with pytest.raises(NVRTCError) as caught:
        Program(code, "c++", ProgramOptions(arch="sm_90", **options)).compile("ptx")
    assert type(caught.value.diagnostics) is tuple
    assert caught.value.log in str(caught.value)
    return list(caught.value.diagnostics)


@pytest.mark.requires(nvrtc=True)
def test_compile_errors_become_records():
    first, second, third = diagnostics(BROKEN)
    assert first[:4] == ("default_program", 4, 10, "error")
    assert first[4:] == ('identifier "missing" is undefined', "    *x = missing + other(3);")
    assert (second.line, second.column, second.message) == (4, 20, 'identifier "other" is undefined')
    assert (third.line, third.column, third.severity, third.excerpt) == (3, 6, "warning", "\tint never;")


@pytest.mark.requires(nvrtc=True)
def test_record_points_at_its_place():
    for record in diagnostics(BROKEN):
        head, excerpt, caret = str(record).splitlines()
        assert head.startswith(f"default_program:{record.line}:{record.column}: {record.severity}: ")
        assert excerpt == "  " + BROKEN.splitlines()[record.line - 1]
        assert caret.index("^") == record.column + 1


@pytest.mark.requires(nvrtc=True)
def test_records_have_the_users_file_and_line():
    records = diagnostics(BROKEN, name="/home/me/my code.py", first_line=120)
    assert {record.file for record in records} == {"/home/me/my code.py"}
    assert [record.line for record in records] == [123, 123, 122]


@pytest.mark.requires(software=False)
@pytest.mark.requires(nvrtc=True)
def test_line_tables_point_at_the_users_file():
    source = "__global__ void f(int* x) {\n    *x = 1;\n}"
    options = ProgramOptions(arch="sm_90", lineinfo=True, name="/home/me/code.py", first_line=120)
    text = Program(source, "c++", options).compile("ptx").code.decode()
    assert '"/home/me/code.py"' in text
    lines = {int(line) for line in re.findall(r"\.loc\s+1 (\d+)", text)}
    assert 121 in lines
    assert lines <= {120, 121, 122}


@pytest.mark.requires(nvrtc=True)
def test_no_debug_file_is_written_if_its_lines_would_differ(tmp_path, own_tempdir):
    program = Program("__global__ void f() {}", "c++", ProgramOptions(arch="sm_90", debug=True, first_line=7))
    assert program.compile("ptx").name == "default_program"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.requires(software=False)
@pytest.mark.requires(nvrtc=True)
def test_templates_say_where_they_were_instantiated():
    error, *notes = diagnostics(TEMPLATE)
    assert (error.severity, error.line) == ("error", 2)
    assert "must be one" in error.message
    # Some compiler versions put notes in between.
    messages = [error.message, *(note.message for note in notes)]
    assert any('instantiation of class "A<T> [with T=int]" at line 3' in message for message in messages)


@pytest.mark.requires(nvrtc=True)
def test_brief_messages_have_no_column():
    (record, *_) = diagnostics(BROKEN, brief_diagnostics=True)
    assert (record.line, record.column, record.excerpt) == (4, None, None)
    assert str(record) == 'default_program:4: error: identifier "missing" is undefined'


@pytest.mark.requires(nvrtc=True)
def test_missing_header_is_a_catastrophic_error():
    (record,) = diagnostics("#include <no_such.h>")
    assert (record.severity, record.line) == ("catastrophic error", 1)
    assert "no_such.h" in record.message


@pytest.mark.requires(nvrtc=True)
def test_errors_of_options_have_no_file():
    (record,) = diagnostics("", ofast_compile="fast")
    assert (record.file, record.line, record.column, record.severity) == (None, None, None, "error")
    assert str(record) == f"error: {record.message}"
    assert "--Ofast-compile" in record.message


@pytest.mark.parametrize("log", [None, "", "\n", "3 errors detected in the compilation of x.\nTerminated.\n"])
def test_logs_without_messages_have_no_records(log):
    assert NVRTCError("message", log=log).diagnostics == ()


def test_messages_of_the_assembler_become_records():
    log = "ptxas application ptx input, line 5; error   : Unknown symbol 'x'\nptxas fatal   : Ptx assembly aborted\n"
    first, second = NVRTCError(log=log).diagnostics
    assert first == ("application ptx input", 5, None, "error", "Unknown symbol 'x'", None)
    assert second == (None, None, None, "fatal", "Ptx assembly aborted", None)


def test_warning_number_is_not_part_of_its_message():
    (record,) = NVRTCError(log='a(b).cu(7): warning #177-D: variable "x" was declared\n  int x;\n      ^\n').diagnostics
    assert record == ("a(b).cu", 7, 5, "warning", 'variable "x" was declared', "int x;")
