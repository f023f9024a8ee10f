# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The base of all options classes, and the decorator that turns annotations into fields.

For users, options classes behave like dataclasses. But ``dataclasses`` generates and compiles source for each class
at import, which takes most of a millisecond. Here all classes share one constructor in C, and the attributes that
``dataclasses`` reads are created at the first access.
"""

from __future__ import annotations

cimport cython
from cpython.object cimport PyObject_GenericSetAttr
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE

import importlib
from collections.abc import Iterable

from cuda.core._utils.validators import format_or_list, repr_of

__all__ = [
    "FrozenOptions",
    "Options",
    "Row",
    "options_class",
    "rows_of",
    "set_values",
    "unknown_field",
    "unknown_keyword",
]

cdef extern from "Python.h":
    int PyObject_GenericSetAttr(object obj, object name, object value) except -1

cdef object MISSING = object()    # the default of a field that has none


cdef class Row:
    """A field of an options class, with its default and metadata; the counterpart of :func:`dataclasses.field`.

    Parameters
    ----------
    default : object, optional
        The default. If it is missing, the constructor requires the field.
    metadata : dict, optional
        The metadata of the field in :func:`dataclasses.fields`.

    Attributes
    ----------
    name, type : str
        The name and the annotation.
    """

    cdef readonly str name
    cdef readonly object type
    cdef readonly object default
    cdef readonly dict metadata

    def __init__(self, default=MISSING, metadata=None):
        self.default = default
        self.metadata = metadata or {}


# The fields of an options class.
cdef class Table:
    cdef type owner
    cdef list rows
    cdef dict defaults      # of all fields, in their order
    cdef tuple names
    cdef Py_ssize_t required_count  # fields without a default
    cdef bint is_frozen
    cdef object dataclass   # a dataclass with the same fields; None before the first access to its attributes


@cython.auto_pickle(False)
cdef class Options:
    """Base class of options: the constructor and every assignment check all fields.

    A subclass annotates its fields and is decorated with :func:`options_class`; its ``__post_init__`` checks and
    normalizes them. If an assignment fails this check, the field keeps its previous value.
    """

    _table = None

    def __init__(self, *args, **kwargs):
        cdef type cls = type(self)
        cdef Table table = table_of(cls)
        cdef dict values = table.defaults.copy()
        cdef Py_ssize_t index
        cdef Py_ssize_t count = PyTuple_GET_SIZE(args)
        if count > PyTuple_GET_SIZE(table.names):
            raise TypeError(f"{cls.__name__} has {len(table.names)} fields, but {count} values were given")
        for index in range(count):
            name = <object>PyTuple_GET_ITEM(table.names, index)
            if name in kwargs:
                raise TypeError(f"{cls.__name__} got two values for {name!r}")
            values[name] = <object>PyTuple_GET_ITEM(args, index)
        if kwargs:
            values.update(kwargs)
            if len(values) != PyTuple_GET_SIZE(table.names):
                raise TypeError(unknown_field(cls, next(name for name in kwargs if name not in table.defaults)))
        for index in range(table.required_count):
            if values[<object>PyTuple_GET_ITEM(table.names, index)] is MISSING:
                refuse_incomplete(cls, values)
        PyObject_GenericSetAttr(self, "__dict__", values)
        if cls.__post_init__ is not _no_check:
            run_check(self, values)

    def __repr__(self):
        cdef Table table = table_of(type(self))
        values = self.__dict__
        if len(values) < len(table.names):
            return f"<{type(self).__name__}, not initialized>"
        shown = [f"{name}={repr_of(values[name])}" for name in table.names]
        return f"{type(self).__qualname__}({', '.join(shown)})"

    def __eq__(self, other):
        cdef Table table
        if type(self) is not type(other):
            return NotImplemented
        table = table_of(type(self))
        return values_of(self, table) == values_of(other, table)

    def __copy__(self):
        copied = type(self).__new__(type(self))
        copied.__dict__.update(self.__dict__)
        return copied

    def __replace__(self, /, **changes):
        return importlib.import_module("dataclasses").replace(self, **changes)

    def __setattr__(self, name, value):
        cdef dict values = self.__dict__
        cdef Table table
        if "_is_checking" in values:
            PyObject_GenericSetAttr(self, name, value)  # an assignment in __post_init__
            return
        table = table_of(type(self))
        if name not in table.defaults:
            raise AttributeError(unknown_field(type(self), name))
        is_complete = len(values) == len(table.defaults)
        previous = values.get(name)
        PyObject_GenericSetAttr(self, name, value)
        if is_complete:
            try:
                self._check()
            except BaseException:
                self.__dict__[name] = previous
                raise

    def __post_init__(self):
        pass

    def _check(self) -> None:
        """Check all fields; assignments in ``__post_init__`` start no further check."""
        run_check(self, self.__dict__)


@cython.auto_pickle(False)
cdef class FrozenOptions(Options):
    """Base class of immutable, hashable options."""

    def __hash__(self):
        return hash(values_of(self, table_of(type(self))))

    def __setattr__(self, name, value):
        raise importlib.import_module("dataclasses").FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name):
        raise importlib.import_module("dataclasses").FrozenInstanceError(f"cannot delete field {name!r}")


def options_class(cls: type) -> type:
    """Turn the annotations of a class into fields, after the fields of its bases; a class decorator.

    ``dataclasses``, ``inspect``, ``copy``, ``pickle`` and ``match`` treat the class as a dataclass.

    Raises
    ------
    TypeError
        If a field without a default follows one that has a default.
    """
    cdef Table table = Table.__new__(Table)
    cdef Table inherited = table_of(cls)
    cdef Row row
    rows = {row.name: row for row in inherited.rows}
    for name, annotation in cls.__annotations__.items():
        default = cls.__dict__.get(name, MISSING)
        row = default if isinstance(default, Row) else Row(default)
        row.name, row.type = name, annotation
        rows[name] = row
        if default is row and row.default is not MISSING:
            setattr(cls, name, row.default)
    set_checked_fields(table, cls, list(rows.values()))
    table.is_frozen = issubclass(cls, FrozenOptions)
    cls._table = table
    cls.__match_args__ = table.names
    cls.__signature__ = _LazyAttribute("__signature__", table)
    cls.__dataclass_fields__ = _LazyAttribute("__dataclass_fields__", table)
    cls.__dataclass_params__ = _LazyAttribute("__dataclass_params__", table)
    return cls


def rows_of(cls) -> list[Row]:
    """Return the fields of an options class, in order."""
    return table_of(cls).rows.copy()


def set_values(options: Options, values: dict) -> None:
    """Set all fields at once without a check; ``values`` becomes the instance dict."""
    # PyObject_GenericSetDict() would cost less, but since Python 3.13 attribute lookups do not find its values.
    PyObject_GenericSetAttr(options, "__dict__", values)


def unknown_keyword(cls: type, keywords: Iterable[str]) -> str | None:
    """Return the error message for the first unknown keyword of a constructor; None if all are known."""
    known = importlib.import_module("inspect").signature(cls).parameters
    unknown = [name for name in keywords if name not in known]
    return unknown_name(cls.__name__, unknown[0], known) if unknown else None


def unknown_field(cls: type, name: str) -> str:
    """Return the error message for a field that an options class does not have."""
    return unknown_name(cls.__name__, name, table_of(cls).names)


def unknown_name(owner: str, name: str, known) -> str:
    """Return the error message for an unknown field, with similar names from ``known``."""
    known = list(known)
    like = importlib.import_module("difflib").get_close_matches(name, known, 3, 0.6)
    like = like or [field for field in known if name in field]
    if like:
        return f"{owner} has no field {name!r}; did you mean {format_or_list(like)}?"
    return f"{owner} has no field {name!r}; its fields are {', '.join(known)}"


cdef int set_fields(Table self, type cls, list rows) except -1:
    cdef Row row
    self.owner = cls
    self.rows = rows
    self.names = tuple([row.name for row in rows])
    self.defaults = {row.name: row.default for row in rows}
    return 0


# The same for a class with the constructor of Options, which takes the required fields first.
cdef int set_checked_fields(Table self, type cls, list rows) except -1:
    cdef Row row
    set_fields(self, cls, rows)
    self.required_count = sum([row.default is MISSING for row in rows])
    if any([row.default is not MISSING for row in rows[:self.required_count]]):
        raise TypeError(f"a field of {cls.__name__} without a default follows one that has a default")
    return 0


# The table of a class; an empty one for Options and FrozenOptions themselves.
cdef Table table_of(type cls):
    cdef Table table = cls._table
    if table is not None and table.owner is cls:
        return table
    return find_table(cls)


# The table that a subclass inherits; a new one if the subclass is a dataclass, which may have further fields.
cdef Table find_table(type cls):
    cdef Table table
    cdef Row row
    for base in cls.__mro__:
        members = base.__dict__
        if "_table" in members:
            return members["_table"] or _empty
        if isinstance(members.get("__dataclass_fields__"), dict):
            break
    rows = []
    missing = importlib.import_module("dataclasses").MISSING
    for field in base.__dataclass_fields__.values():
        row = Row(MISSING if field.default is missing else field.default, dict(field.metadata))
        row.name, row.type = field.name, field.type
        rows.append(row)
    table = Table.__new__(Table)
    set_fields(table, base, rows)
    base._table = table
    return table


cdef tuple values_of(object options, Table table):
    values = options.__dict__
    return tuple([values.get(name, MISSING) for name in table.names])


cdef int run_check(object options, dict values) except -1:
    values["_is_checking"] = True
    try:
        options.__post_init__()
    finally:
        del values["_is_checking"]
    return 0


cdef int refuse_incomplete(type cls, dict values) except -1:
    missing = [name for name, value in values.items() if value is MISSING]
    raise TypeError(f"{cls.__name__} needs {' and '.join([repr(name) for name in missing])}")


# --- Attributes of dataclasses, created at the first access -------------------------------------

cdef class _LazyAttribute:
    """A descriptor of an attribute of an options class that is created when it is first read."""

    cdef str name
    cdef Table table

    def __cinit__(self, name, table):
        self.name, self.table = name, table

    def __get__(self, instance, owner):
        if self.name == "__signature__":
            return signature(self.table, instance, owner)
        return getattr(dataclass_of(self.table), self.name)


cdef object dataclass_of(Table self):
    cdef Row row
    with cython.critical_section(self):
        made = self.dataclass
    if made is None:
        dataclasses = importlib.import_module("dataclasses")
        made = dataclasses.make_dataclass(
            self.owner.__name__,
            [(row.name, row.type, field_of(dataclasses, row)) for row in self.rows],
            frozen=self.is_frozen,
        )
        with cython.critical_section(self):
            if self.dataclass is None:
                self.dataclass = made
            made = self.dataclass
    return made


cdef object field_of(dataclasses, Row row):
    if row.default is MISSING:
        return dataclasses.field(metadata=row.metadata)
    return dataclasses.field(default=row.default, metadata=row.metadata)


cdef object signature(Table self, instance, owner):
    cdef Row row
    # inspect reads the signature of a subclass with its own constructor from that constructor.
    own = next(base for base in owner.__mro__ if "__init__" in base.__dict__)
    if instance is not None or (own is not self.owner and issubclass(own, self.owner)):
        raise AttributeError(f"{owner.__name__!r} object has no attribute '__signature__'")
    inspect = importlib.import_module("inspect")
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature(
        [
            inspect.Parameter(
                row.name, kind, annotation=row.type,
                default=inspect.Parameter.empty if row.default is MISSING else row.default,
            )
            for row in self.rows
        ],
        return_annotation=None,
    )


cdef Table _empty = Table.__new__(Table)
set_checked_fields(_empty, Options, [])
cdef object _no_check = Options.__post_init__
