# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The search for included headers: which it finds, which changes it detects, and which includes it cannot follow."""

import os

import pytest

from cuda.core._compile.cache import _headers
from cuda.core._compile.cache._headers import find_headers
from support.processes import let_clock_tick


@pytest.fixture
def root(tmp_path, monkeypatch):
    """An empty current directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path, text=""):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (1, 1))
    return path


def names(headers) -> list[str]:
    """Return the watched paths that are files."""
    return sorted(path for path in headers._states if os.path.isfile(path))


def test_nothing_is_found_without_includes(root):
    headers = find_headers("int x;", "default_program")
    assert (headers.is_found, headers.unresolved_include) == (False, None)
    assert headers.is_current()


@pytest.mark.parametrize(
    "line",
    [
        '#include "a.h"',
        "#include <a.h>",
        ' \t#  include\t"a.h" // why',
        "#include/**/<a.h>",
        "/* c */ #include <a.h>",
        "#inc\\\nlude <a.h>",
        "%:include <a.h>",
        "#include_next <a.h>",
        "#if 0\n#include <a.h>\n#endif",
        "int x;\r\n#include <a.h>\r\nint y;",
        "#if __has_include(<a.h>)\n#endif",
        '#if __has_include( "a.h" )\n#endif',
        "#if OUR_HAS_INCLUDE(<a.h>)\n#endif",
        "#define A <a.h>\n#include A",
        '#define A "a.h"\n#include A // why',
        "#define B <a.h>\n#define A B\n#include A",
    ],
)
def test_all_forms_of_include_are_followed(root, line):
    write(root / "inc" / "a.h")
    headers = find_headers(line + "\nint z;", "default_program", ["inc"])
    assert names(headers) == ["inc/a.h"]
    assert headers.unresolved_include is None


@pytest.mark.parametrize(
    "text", ["// #include <a.h>", "int include;", "#pragma include <a.h>", '#include ""', "#include <a.h\0>"]
)
def test_text_other_than_includes_is_ignored(root, text):
    write(root / "inc" / "a.h")
    assert names(find_headers(text, "default_program", ["inc"])) == []


def test_headers_are_searched_in_all_places(root):
    write(root / "own" / "a.h")
    write(root / "inc" / "b.h")
    write(root / "here.h")
    headers = find_headers('#include "a.h"\n#include <b.h>\n#include "here.h"', "own/x.cu", ["inc"], ["here.h"])
    assert names(headers) == ["here.h", "inc/b.h", "own/a.h"]


def test_absolute_paths_are_followed(root):
    path = write(root / "far" / "a.h")
    assert names(find_headers(f'#include "{path}"', "default_program")) == [str(path)]


def test_headers_of_headers_are_followed(root):
    write(root / "inc" / "a.h", '#include "sub/b.h"\n#include MACRO')
    write(root / "inc" / "sub" / "b.h", '#include "c.h"\n#include "../a.h"\n#define MACRO <d.h>')
    write(root / "inc" / "sub" / "c.h", '#include "c.h"')
    write(root / "inc" / "d.h")
    headers = find_headers("#include <a.h>", "default_program", ["inc"])
    assert names(headers) == ["inc/a.h", "inc/d.h", "inc/sub/b.h", "inc/sub/c.h"]


def test_macros_of_the_options_are_followed(root):
    write(root / "inc" / "a.h")
    headers = find_headers("#include HEADER", "default_program", ["inc"], macros=["OTHER", "HEADER=<a.h>"])
    assert names(headers) == ["inc/a.h"]


@pytest.mark.parametrize(
    "code", ["#include NOWHERE", "#include CALL(x)", "#define A(x) <x>\n#include A", "#define A 1\n#include A"]
)
def test_includes_that_cannot_be_followed_are_named(root, code):
    assert find_headers(code, "default_program").unresolved_include.startswith("#include ")


def test_digest_depends_on_paths_and_contents(root):
    def digest():
        return find_headers('#include "a.h"', "default_program", ["inc"]).digest

    digests = {digest()}
    write(root / "inc" / "a.h", "1")
    digests.add(digest())
    write(root / "inc" / "a.h", "2")
    digests.add(digest())
    write(root / "a.h", "2")
    digests.add(digest())
    (root / "inc" / "a.h").unlink()
    digests.add(digest())
    assert len(digests) == 5


@pytest.mark.parametrize(
    "change",
    [
        lambda root: write(root / "one" / "a.h", "2"),
        lambda root: os.replace(write(root / "new", "1"), root / "one" / "a.h"),
        lambda root: (root / "one" / "a.h").unlink(),
        lambda root: write(root / "a.h"),
        lambda root: write(root / "zero" / "a.h"),
        lambda root: write(root / "zero" / "deep" / "b.h"),
        lambda root: (root / "two").mkdir(),
    ],
)
def test_relevant_changes_are_detected(root, change):
    write(root / "one" / "a.h", "1")
    (root / "zero").mkdir()
    code = '#include "a.h"\n#include <deep/b.h>'
    headers = find_headers(code, "default_program", ["zero", "one", "two"])
    assert headers.is_current()
    let_clock_tick(root)
    change(root)
    assert not headers.is_current()


def test_change_of_the_contents_alone_is_detected(root):
    path = write(root / "a.h", "1")
    headers = find_headers('#include "a.h"', "default_program")
    let_clock_tick(root)
    path.write_text("2")
    os.utime(path, (1, 1))
    assert not headers.is_current()


def test_recently_changed_files_are_not_settled(root, settle_at_once):
    write(root / "a.h", "1")
    assert not find_headers('#include "a.h"', "default_program").is_settled
    settle_at_once()
    assert find_headers('#include "a.h"', "default_program").is_settled


def test_header_that_vanishes_is_detected(root, monkeypatch):
    path = write(root / "a.h", "1")
    real = _headers.Search._read

    def read(self, name):
        path.unlink()
        return real(self, name)

    monkeypatch.setattr(_headers.Search, "_read", read)
    assert not find_headers('#include "a.h"', "default_program").is_current()
