# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Members of extension types called through their class with an object of another class: each raises TypeError."""

import pytest

from support.interpreter import run

pytestmark = pytest.mark.requires(extensions=True)

# Prints the members that raise something else, and before that the one in progress, if a call ends the process.
PROGRAM = """
import contextlib, faulthandler, importlib, pkgutil, types
import cuda.core
from cuda.core import Event, LaunchConfig

faulthandler.enable()
HEAP = 1 << 9  # Py_TPFLAGS_HEAPTYPE, which Python classes have
modules = []
for info in pkgutil.walk_packages(cuda.core.__path__, "cuda.core.", onerror=lambda name: None):
    if not info.name.endswith(("autoinit", "autoprimaryctx", "__main__")) and "examples" not in info.name:
        with contextlib.suppress(ImportError, RuntimeError):
            modules.append(importlib.import_module(info.name))
classes = {cls for module in modules for cls in vars(module).values() if isinstance(cls, type)}
classes = {cls for cls in classes if cls.__module__.startswith("cuda.core") and not cls.__flags__ & HEAP}
DESCRIPTORS = types.GetSetDescriptorType, types.MemberDescriptorType
METHODS = types.MethodDescriptorType, types.WrapperDescriptorType
count = 0


class Other:
    def __getattr__(self, name):
        return self


def problem(cls, name, member, foreign):
    is_method = isinstance(member, METHODS) or type(member).__name__ == "cython_function_or_method"
    if not is_method and (foreign is None or not isinstance(member, DESCRIPTORS)):
        return None  # the descriptor itself
    global count
    count += 1
    print("->", cls, name, type(foreign).__name__, flush=True)
    try:
        if is_method:
            member(foreign)
        else:
            member.__get__(foreign, type(foreign))
    except TypeError as error:
        if "descriptor" not in str(error):
            return f"TypeError: {error}"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    else:
        return "accepted"


for cls in sorted(classes, key=str):
    for name, member in list(vars(cls).items()):
        for foreign in (5, None, object(), Other(), Event.__new__(Event), LaunchConfig.__new__(LaunchConfig)):
            if not isinstance(foreign, cls) and (found := problem(cls, name, member, foreign)):
                print("wrong:", cls, name, type(foreign).__name__, found)
print(len(classes), "classes", count, "calls")
"""


def test_members_called_with_a_foreign_object_raise():
    lines = run(PROGRAM, timeout=300).splitlines()
    assert [line for line in lines if line.startswith("wrong:")] == []
    classes, calls = map(int, lines[-1].split()[::2])
    assert classes >= 100
    assert calls >= 3000


def test_foreign_state_of_a_memory_resource_is_rejected():
    program = """
from cuda.core import MemoryResource
try:
    MemoryResource.__setstate__(1.5, {})
except TypeError as error:
    print(error)
"""
    assert "doesn't apply to a 'float' object" in run(program)
