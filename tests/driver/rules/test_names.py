# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Every public name of the classic interface occurs in a test."""

import inspect
import re
from pathlib import Path

DRIVER = Path(__file__).resolve().parents[1]
MODULES = [
    *("characterize", "compiler", "cumath", "curandom", "debug", "elementwise", "gl", "gpuarray", "reduction", "scan"),
    *("tools", ""),
]


def public_names():
    """Yield the names of the functions and classes of each module, and of the members of the classes."""
    for module in MODULES:
        path = f"cuda.core.driver.{module}".rstrip(".")
        namespace = {}
        exec(f"from {path} import *", namespace)
        for name, value in namespace.items():
            if name.startswith("__"):
                continue
            yield path, name, name
            if not (inspect.isclass(value) and value.__module__.startswith("cuda.core.driver")):
                continue
            if issubclass(value, int):
                continue
            for member in vars(value):
                if not member.startswith("_"):
                    yield path, f"{name}.{member}", member


def texts():
    own = [path for path in DRIVER.rglob("*.py") if path.name != Path(__file__).name]
    return "\n".join(path.read_text() for path in own)


def test_every_public_name_occurs_in_a_test(device):
    words = set(re.findall(r"\w+", texts()))
    assert sorted({full for _, full, name in public_names() if name not in words}) == []


def test_exported_names_are_neither_private_nor_modules():
    import cuda.core.driver as driver

    assert {"Device", "SourceModule", "mem_alloc"} - set(driver.__all__) == {"SourceModule"}
    values = [getattr(driver, name) for name in driver.__all__]
    assert not any(inspect.ismodule(value) for value in values)
