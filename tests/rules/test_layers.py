# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Dependencies point down: a module imports from lower layers, and from earlier entries of its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "cuda" / "core"

# From the bottom to the top, and in each layer from the first to the last; a name with a star is a package.
LAYERS = {
    "foundations": ["_version", "typing", "_utils.*"],
    "handles, data formats": ["_handles.*", "_dlpack", "_layout_ops", "_layout", "_copy_plan"],
    "execution": ["_device_resources", "_context", "_event", "_stream"],
    "memory": ["_host", "_memory.*"],
    "device": ["_device_properties", "_device"],
    "code": [
        "_elf",
        "_code_image",
        "_compile_options",
        "_kernel_attributes",
        "_module",
        "_driver_linker",
        "_nvjitlink_linker",
        "_linker",
        "_compilers",
        "_program_plan",
        "_program_cache.*",
        "_program",
    ],
    "launch": ["_launch_config", "_kernel_args", "_kernel_arg_handler", "_launcher"],
    "graphs": ["graph.*"],
    "tensors, images": [
        "_view_sources",
        "_view_export",
        "_view_copy",
        "_tensor_bridge",
        "_memoryview",
        "_buffer_view",
        "_tensor_map",
        "_tensor_map_encode",
        "texture.*",
        "_graphics",
    ],
    "surface": ["utils.*", "checkpoint", "driver.*", "__init__"],
}
ORDER = [entry for entries in LAYERS.values() for entry in entries]

# Handles are what errors are made of too: warning from a destructor asks whether the interpreter is exiting.
MUTUAL = {("_utils.*", "_handles.*")}

IMPORT = re.compile(
    r"^( *)(?:from +(cuda\.core[\w.]*) +c?import +(\w+|\(|\*)|c?import +(cuda\.core[\w.]*))", re.MULTILINE
)


def modules() -> list[Path]:
    """Return the sources, without the type stub generator, which is no part of the package."""
    suffixes = {".py", ".pyx", ".pxd"}
    paths = sorted(path for path in PACKAGE.rglob("*") if path.suffix in suffixes and path.stem != "_stubs")
    return [path for path in paths if path.relative_to(PACKAGE).parts[0] != "system"]


def entry_of(module: str) -> str | None:
    """Return the entry of the table for a module below ``cuda.core``, such as ``_memory.*``."""
    package = module.partition(".")[0] + ".*"
    return package if package in ORDER else (module if module in ORDER else None)


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


def imported(path: Path) -> list[tuple[int, str]]:
    """Return the indentation and the module, below ``cuda.core``, of each import of the package."""
    found = []
    for indent, source, name, plain in IMPORT.findall(path.read_text()):
        module = (source or plain).removeprefix("cuda.core").lstrip(".")
        found.append((len(indent), module or name))
    return found


def test_every_module_has_a_layer():
    assert [module_of(path) for path in modules() if entry_of(module_of(path)) is None] == []


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_module_imports_from_lower_layers_only(path):
    entry = entry_of(module_of(path))
    if path.stem == "_late" or entry is None:
        return  # every upward reference is there
    for _, module in imported(path):
        other = entry_of(module)
        if other is not None and (entry, other) not in MUTUAL:
            assert ORDER.index(other) <= ORDER.index(entry), f"{path.name} imports {module} from above"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_module_does_not_import_the_package_inside_a_function(path):
    if path.stem != "_late":
        assert [module for indent, module in imported(path) if indent > 0] == []
