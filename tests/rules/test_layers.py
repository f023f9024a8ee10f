# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Imports point down: a module imports from its own layer's earlier entries or from a lower layer."""

import pytest

from support.source import core_files, imports, module_name

pytestmark = pytest.mark.requires(source=True)

# Lowest first; a name covers its submodules.
LAYERS = [
    ["typing", "_version", "_utils"],
    ["_handles", "_dlpack", "_layout", "_layout_ops"],
    ["_device_resources", "_context", "_event", "_stream"],
    ["_memory"],
    ["_device_properties", "_device"],
    ["_module", "_kernel_attributes", "_compile_options", "_program_cache", "_linker", "_compilers", "_program"],
    ["_launch_config", "_kernel_args", "_kernel_arg_handler", "_launcher"],
    ["graph"],
    ["_memoryview", "_view_sources", "_tensor_bridge", "_tensor_map", "_tensor_map_encode", "texture", "_graphics"],
    ["utils", "checkpoint", "driver", "system"],
]
RANK = {f"cuda.core.{name}": rank for rank, layer in enumerate(LAYERS) for name in layer}
# Handles name no layer-0 function but the error helpers; the error helpers ask only whether the interpreter ends.
EXCEPTIONS = {("cuda.core._utils.cuda_utils", "cuda.core._handles._handles")}


def rank(module):
    while module not in RANK and "." in module:
        module = module.rpartition(".")[0]
    return RANK.get(module)


def test_every_module_has_a_layer():
    homeless = [module_name(path) for path in core_files(".py", ".pyx", ".pxd") if rank(module_name(path)) is None]
    assert [name for name in homeless if name != "cuda.core"] == []


def test_imports_point_down():
    wrong = []
    for path in core_files(".py", ".pyx", ".pxd"):
        name = module_name(path)
        if name in ("cuda.core", "cuda.core._handles._late"):
            continue
        for number, _, target in imports(path):
            if (rank(target) is None or rank(target) > rank(name)) and (name, target) not in EXCEPTIONS:
                wrong.append(f"{path.name}:{number}: {name} imports {target}")
    assert wrong == []


def test_only_late_imports_inside_functions():
    wrong = [
        f"{path.name}:{number}: {target}"
        for path in core_files(".py", ".pyx")
        for number, indent, target in imports(path)
        if indent and path.stem != "_late"
    ]
    assert wrong == []
