# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Locks and internals of CPython: one file uses internals, and foreign threads take the interpreter lock in one way."""

import re
from pathlib import Path

import pytest

from support.source import CORE, core_files

INTERNALS = [CORE / "_utils" / "cpython.hpp", CORE / "_utils" / "_cpython.pxd"]
SOURCES = [path for path in core_files(".pyx", ".pxd", ".hpp") if path not in INTERNALS]
# Fields of objects, slots of types, private functions, and what differs between versions of Python.
INTERNAL_NAMES = re.compile(
    r"\bob_(?:item|digit|type|refcnt|size)\b|\blv_tag\b|\blong_value\b|\btp_[a-z]+\b|\b_Py[A-Z]\w+|\bPyUnstable_\w+"
    r"|\bPyErr_(?:Fetch|Restore|GetRaisedException|SetRaisedException)\b|\bPyGILState_(?:Ensure|Release)\b"
    r"|\bPY_VERSION_HEX\b"
)
FUNCTION = re.compile(
    r"^( *)c(?:p)?def (?!class|extern|cppclass)[^\n(]*\((?:[^()]|\([^()]*\))*\)([^:\n]*):", re.MULTILINE
)


def without_comments(path: Path) -> str:
    return re.sub(r"(?:#|//)[^\n]*", "", path.read_text())


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(CORE)))
def test_internals_of_python_are_used_in_one_place(path):
    assert INTERNAL_NAMES.findall(without_comments(path)) == []


@pytest.mark.parametrize(
    "path", [path for path in SOURCES if path.suffix == ".pyx"], ids=lambda path: str(path.relative_to(CORE))
)
def test_functions_of_foreign_threads_take_the_lock_by_call_with_interpreter(path):
    assert lock_takers(without_comments(path)) == []


def lock_takers(text: str) -> list[str]:
    """Return the ``noexcept`` functions with a ``with gil`` block: callbacks and destructors, on any thread."""
    found = []
    starts = [*FUNCTION.finditer(text)]
    ends = [later.start() for later in starts[1:]] + [len(text)]
    for match, end in zip(starts, ends, strict=False):
        if "noexcept" in match[2] and re.search(r"\bwith gil\b", text[match.end() : end]):
            found.append(match[0].strip())
    return found


def test_a_destructor_that_takes_the_lock_itself_is_found():
    wrong = "cdef void end(Thing[int]& value) noexcept nogil:\n    with gil:\n        release(value)\n"
    right = wrong.replace("noexcept", "except *")
    assert lock_takers(wrong) == ["cdef void end(Thing[int]& value) noexcept nogil:"]
    assert lock_takers(right) == lock_takers(right + wrong.replace("with gil", "while it")) == []


# Global names that are replaced while other threads read them: numbers, or objects that live as long as the process.
REPLACED = {
    "_arrays/_importers.pyx": {"_tensor_class": "the class of PyTorch", "_torch_table": "an address"},
    "_memoryview.pyx": {"_view_class": "a class, at import"},
    "_arrays/_views.pyx": {"_ndarray": "an address", "_ndarray_kept": "the class of NumPy"},
    "_compile/_nvjitlink.pyx": {"_process": "a number", "_worker": "the main thread alone uses it"},
    "_compile/_option_key.pyx": {"c_posix_path": "a class", "c_windows_path": "a class"},
    "_dlpack.pyx": {"_numpy": "a module"},
    "_native/_cuda_core.pyx": {"_driver": "a module"},
    "_native/_device_wait.pyx": {"_raised": "only compared", "_records_contexts": "a number"},
    "_kernel_arg_handler.pyx": {"_has_bindings": "a number", "_has_ctypes": "a number", "_has_numpy": "a number"},
    "_launcher.pyx": {"launch_doc": "at import"},
    "_memory/_ipc.pyx": {"_lock": "in a forked child"},
    "_memory/_managed_memory_resource.pyx": {"_has_warned": "a truth value"},
    "_device.pyx": {"is_chosen": "a truth value"},
    "_memoryview.pyx": {"_tensor_map_of": "a function of a module"},
    "_utils/cuda_utils.pyx": {"_bindings": "a module", "_driver_ready": "a number"},
    "_utils/cuda_utils.pyx": {"_driver": "a number"},
}


def test_names_that_refer_to_new_objects_are_not_replaced():
    found = {}
    for path in core_files(".pyx"):
        names = re.findall(r"^ +global (.+)", without_comments(path), re.MULTILINE)
        if names:
            found[path.relative_to(CORE).as_posix()] = {name for line in names for name in line.split(", ")}
    assert found == {module: set(names) for module, names in REPLACED.items()}
