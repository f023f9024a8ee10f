# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""References from lower layers to higher ones.

The tests use private names, because a program meets slots only through their values, on first use.
"""

from __future__ import annotations

import importlib

import pytest

from cuda.core import _SLOTS
from cuda.core._utils import slots
from support.interpreter import run


@pytest.mark.parametrize("name", sorted(_SLOTS))
def test_module_of_the_table_fills_the_slot(name):
    importlib.import_module(f"cuda.core.{_SLOTS[name]}")
    assert slots._values[name] is slots.get(name)


def test_unknown_slots_have_no_value():
    with pytest.raises(KeyError, match="nothing"):
        slots.get("nothing")


def test_importing_lower_layers_imports_no_higher_one():
    code = (
        "import sys, cuda.core._stream, cuda.core._memory._buffer\n"
        "from cuda.core import _SLOTS\n"
        "print(sorted(name for name in set(_SLOTS.values()) if f'cuda.core.{name}' in sys.modules))"
    )
    assert run(code, CUDA_CORE_DEVICE="hardware") == "['_event', '_stream']\n"


def test_threads_may_be_first_to_get_a_value_at_the_same_time():
    code = (
        "import threading\nfrom cuda.core._utils import slots\nseen = []\nbarrier = threading.Barrier(8)\n"
        "names = ('Device', 'arrays', 'graph builder', 'tensor map', 'texture object', 'view of buffer')\n"
        "def look():\n    barrier.wait(); seen.append(tuple(map(slots.get, names)))\n"
        "threads = [threading.Thread(target=look) for _ in range(8)]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]; print(len(seen), len(set(seen)))"
    )
    assert run(code, CUDA_CORE_DEVICE="hardware") == "8 1\n"
