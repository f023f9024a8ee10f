# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Modules and names that are imported at their first use."""

from __future__ import annotations

import subprocess
import sys
import types

import pytest

from cuda.core import _memory
from cuda.core._utils.importing.deferred import Deferred, deferred_names


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "deferred_sample"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "inner.py").write_text("loaded = []\ndef work():\n    return 'done'\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield "deferred_sample"
    for name in [name for name in sys.modules if name.startswith("deferred_sample")]:
        del sys.modules[name]


def test_module_is_imported_at_the_first_use(package):
    inner = Deferred(f"{package}.inner")
    assert f"{package}.inner" not in sys.modules
    assert repr(inner) == "<module 'deferred_sample.inner', imported at its first use>"
    assert inner.work() == "done"
    assert inner.loaded is sys.modules[f"{package}.inner"].loaded


def test_a_replaced_name_is_seen(package, monkeypatch):
    inner = Deferred(f"{package}.inner")
    inner.work()
    monkeypatch.setattr(sys.modules[f"{package}.inner"], "work", lambda: "replaced")
    assert inner.work() == "replaced"


def test_missing_modules_and_names_raise_the_errors_of_an_import(package):
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        _ = Deferred(f"{package}.no_such_module").name
    with pytest.raises(AttributeError, match="nothing"):
        _ = Deferred(f"{package}.inner").nothing


def test_names_of_a_package_are_imported_once(package):
    module = types.ModuleType(package)
    module.__path__ = __import__(package).__path__
    module.__getattr__ = deferred_names(package, {"work": "inner"}, ("inner",))
    sys.modules[package] = module
    assert module.work() == "done"
    assert "work" in vars(module)
    assert module.inner is sys.modules[f"{package}.inner"]
    with pytest.raises(AttributeError, match="module 'deferred_sample' has no attribute 'nothing'"):
        _ = module.nothing


def test_the_memory_package_lists_its_names():
    namespace = {}
    exec("from cuda.core._memory import *", namespace)
    assert set(_memory.__all__) <= set(namespace)
    assert dir(_memory) == sorted(_memory.__all__)


def test_threads_may_be_the_first_to_use_a_name_at_the_same_time():
    code = (
        "import threading, cuda.core as c, cuda.core._memory as m\nseen = []\n"
        "def look():\n    seen.append((c.Buffer, m.ManagedMemoryResource, m.register_host_memory, c.Device))\n"
        "threads = [threading.Thread(target=look) for _ in range(8)]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]; print(len(seen), len(set(seen)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["8", "1"], done.stderr
