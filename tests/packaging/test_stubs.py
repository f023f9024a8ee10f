# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The type stubs that a wheel contains, generated from the sources, and from a small sample."""

from __future__ import annotations

import ast
import builtins
from pathlib import Path

import pytest

from support.source import generator_of_stubs

ROOT = Path(__file__).resolve().parents[2]

SAMPLE = '''
from __future__ import annotations

from libc.stdint cimport intptr_t

from collections import namedtuple
from elsewhere import Other

__all__ = ["Late", "Other", "Thing", "make"]

Pair = namedtuple("Pair", ("first", "second"))
LIMIT = 3


cdef class Thing(Base):
    """A thing."""

    def __cinit__(self):
        pass

    def __init__(self, size_t size, str name not None, *, Thing other=None, scale: float = 2.5, key=LIMIT):
        pass

    def __getbuffer__(self, Py_buffer* buffer, int flags):
        pass

    @property
    def size(self) -> int:
        return 0

    @size.setter
    def size(self, value):
        pass

    @staticmethod
    def of(*items: int, **names) -> Thing | None:
        return None

    cdef int hidden(self) except -1:
        return 0


cpdef Thing make(object what, bint is_fast=True):
    return None


def call(plain: Plain) -> None:
    pass


call = faster(call)


cdef void helper() noexcept:
    pass


DEFAULT = Thing.of(1)
'''

SAMPLE_PXD = """
cdef class Thing(Base):
    cdef public int count
    cdef readonly:
        object label
    cdef int secret

cpdef Thing make(object what, bint is_fast=*)
"""

EXPECTED = """
from collections import namedtuple
from elsewhere import Other
from plain import Plain
from typing import Any
from typing import Any as Base
from typing import Any as Late

__all__ = ['Late', 'Other', 'Thing', 'make']
Pair = namedtuple('Pair', ('first', 'second'))
LIMIT: int

class Thing(Base):
    count: int
    @property
    def label(self) -> Any: ...
    def __init__(self, size: int, name: str, *, other: Thing = None, scale: float = 2.5, key=...) -> None: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    @property
    def size(self) -> int: ...
    @size.setter
    def size(self, value): ...
    @staticmethod
    def of(*items: int, **names) -> Thing | None: ...
def make(what, is_fast: bool = True) -> Thing: ...
def call(plain: Plain) -> None: ...
DEFAULT: Thing
"""


@pytest.fixture(scope="module")
def generator():
    """The generator, which is in the checkout but not in the installed package."""
    return generator_of_stubs()


@pytest.fixture(scope="module")
def stubs(generator, tmp_path_factory):
    """The stubs of all extensions."""
    return generator.write_stubs(ROOT, ROOT / "cuda" / "core", tmp_path_factory.mktemp("stubs"))


def test_stub_declares_exactly_the_python_names_of_the_extension(generator, tmp_path):
    (tmp_path / "thing.pyx").write_text(SAMPLE)
    (tmp_path / "thing.pxd").write_text(SAMPLE_PXD)
    (tmp_path / "plain.py").write_text("class Plain:\n    pass\n")
    (stub,) = generator.write_stubs(tmp_path, tmp_path, tmp_path / "out")
    text = stub.read_text()
    assert text.split("annotations\n", 1)[1] == EXPECTED
    ast.parse(text)


def test_every_extension_gets_a_stub_that_is_valid_python(stubs):
    # Three packages that import their names lazily also have stubs.
    assert len(stubs) == len(list((ROOT / "cuda" / "core").rglob("*.pyx"))) + 3
    for stub in stubs:
        ast.parse(stub.read_text(), str(stub))


def test_stubs_define_every_name_they_use(stubs):
    for stub in stubs:
        tree = ast.parse(stub.read_text())
        names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        known = {node.id for node in names if isinstance(node.ctx, ast.Store)} | set(dir(builtins))
        for node in ast.walk(tree):
            if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                known.add(node.name)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                known.update(alias.asname or alias.name for alias in node.names)
        assert {node.id for node in names} <= known, stub


def test_stubs_define_every_public_name(stubs):
    for stub in stubs:
        names = set()
        public = []
        for node in ast.parse(stub.read_text()).body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                names.add(node.name)
            elif isinstance(node, ast.ImportFrom):
                names.update(alias.asname or alias.name for alias in node.names)
            elif isinstance(node, ast.AnnAssign):
                names.add(node.target.id)
            elif isinstance(node, ast.Assign):
                names.add(node.targets[0].id)
                if node.targets[0].id == "__all__":
                    public = ast.literal_eval(node.value)
        assert set(public) <= names, stub


def test_constructor_in_c_is_read_from_the_docstring(generator, tmp_path):
    (tmp_path / "thing.pyx").write_text('cdef class Thing:\n    """Thing(size=None)\n--\n\n    A thing.\n    """\n')
    (stub,) = generator.write_stubs(tmp_path, tmp_path, tmp_path / "out")
    assert "class Thing:\n    def __init__(self, size=None) -> None: ...\n" in stub.read_text()


def test_package_that_imports_names_lazily_gets_a_stub(generator, tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("_HOMES = {'Thing': '_thing'}\n_PACKAGES = ('utils',)\n__version__ = '1'\n")
    (stub,) = generator.write_stubs(tmp_path, package, tmp_path / "out")
    assert stub == tmp_path / "out" / "package" / "__init__.pyi"
    assert stub.read_text().split("annotations\n\n")[1] == (
        "from package import utils as utils\nfrom package._thing import Thing as Thing\n\n"
        "__all__ = ['Thing']\n__version__: str\n"
    )
