# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Dependencies point down: a module imports from lower layers, and from earlier modules of its own layer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "cuda" / "core"

# From the bottom to the top, and in each layer from the first to the last.
LAYERS = {
    "foundations": [
        "_version",
        "typing",
        "typing",
        "_utils._cpython",
        "_utils._deferred_function",
        "_utils._type_table",
        "_utils.bundle",
        "_utils.files",
        "_utils.errors",
        "_utils.clear_error_support",
        "_utils.completer",
        "_utils.importing.deferred",
        "_utils.device_choice",
        "_utils.errors",
        "_utils.errors",
        "_utils.errors",
        "_utils.files.hashing",
        "_utils.validators",
        "_utils.helpers",
        "_utils.libraries",
        "_utils.options",
        "_utils.files",
        "_utils.files",
        "_utils.pycompat",
        "_utils.ipc",
        "_utils.signatures",
        "_utils.importing.unbuilt",
        "_utils.attribute_errors",
        "_utils.attribute_errors",
        "_utils.host_wait",
        "_utils.cuda_utils",
        "_utils.enums",
        "_utils.cuda_utils",
    ],
    "handles, data formats": [
        "_native._cuda_core",
        "_native._cuda_core",
        "_native._cuda_core",
        "_native._cuda_core",
        "_native._cuda_core",
        "_native._cuda_core",
        "_native._cuda_core",
        "_native._device_wait",
        "_native._cuda_core",
        "_native._cuda_core",
        "_handles._late",
        "_dlpack",
        "_layout_ops",
        "_layout",
        "_arrays._views",
    ],
    "execution": ["_device_resources", "_context", "_event", "_stream"],
    "memory": [
        "_host",
        "_arrays._strided_boxes",
        "_memory._copy_enums",
        "_memory._memory_resource",
        "_memory._memory_resource",
        "_memory._memory_resource",
        "_memory._memory_resource",
        "_memory._memory_resource",
        "_memory._buffer",
        "_memory._copy_options",
        "_memory._copies",
        "_memory._copies",
        "_memory._copies",
        "_memory._copies",
        "_arrays._views",
        "_arrays._views",
        "_arrays._importers",
        "_arrays._importers",
        "_arrays._importers",
        "_arrays._importers",
        "_arrays._array_copies",
        "_memory._buffer",
        "_memory._managed_memory_ops",
        "_memory._managed_memory_ops",
        "_memory._managed_buffer",
        "_memory._legacy",
        "_memory._legacy",
        "_memory._virtual_memory_resource",
        "_memory._memory_pool",
        "_memory._memory_pool",
        "_memory._ipc",
        "_memory._peer_access_utils",
        "_memory._ipc",
        "_memory._device_memory_resource",
        "_memory._pinned_memory_resource",
        "_memory._managed_memory_resource",
        "_memory._graph_memory_resource",
        "_memory._adaptors",
        "_memory._adaptors",
        "_memory._adaptors",
        "_memory.adaptors",
        "_memory.adaptors",
        "_memory.adaptors",
        "_memory.adaptors",
        "_device",
        "_memory.__init__",
    ],
    "device": ["_device_properties", "_device_contexts", "_device_textures", "_device_instances", "_device"],
    "code": [
        "_code._c_functions",
        "_code._elf",
        "_code._loading",
        "_code._loading",
        "_module",
        "_code._kernel_attributes",
        "_module",
        "_compile._tools",
        "_compile._tools",
        "_compile._nvjitlink",
        "_compile._option_table",
        "_compile._option_key",
        "_compile._option_cache",
        "_compile._options",
        "_compile._linker_options",
        "_linker",
        "_compile._nvjitlink",
        "_linker",
        "_compile._missing_headers",
        "_compile._nvrtc_calls",
        "_compile._nvrtc",
        "_compile._nvvm",
        "_compile._ptx",
        "_compile._request",
        "_compile.cache._stores",
        "_compile.cache._stores",
        "_compile.cache._stores",
        "_compile.cache._file_state",
        "_compile.cache._key",
        "_compile.cache._headers",
        "_compile.cache._lookup",
        "_compile.cache.__init__",
        "_program",
    ],
    "launch": [
        "_launch_config",
        "_launcher",
        "_kernel_arg_handler",
        "_kernel_arg_handler",
        "_kernel_arg_handler",
        "_launcher",
    ],
    "graphs": [
        "graph._options",
        "graph._graph_node",
        "graph._replay",
        "graph._graph_definition",
        "graph._state",
        "graph._state",
        "graph._capture",
        "graph._options",
        "graph._state",
        "graph._state",
        "graph._parameters",
        "graph._replay",
        "graph._parameters",
        "graph._parameters",
        "graph._parameters",
        "graph._parameters",
        "graph._parameters",
        "graph._parameters",
        "graph._parameters",
        "graph._capture",
        "graph._capture",
        "graph._graph_node",
        "graph._nodes",
        "graph._executable",
        "graph._nodes",
        "graph._nodes",
        "graph._nodes",
        "graph._executable",
        "graph._graph_definition",
        "graph._replay",
        "graph._graph_builder",
        "graph._replay",
        "graph._captured_function",
        "graph.__init__",
    ],
    "tensors, images": [
        "_memoryview",
        "_arrays._importers",
        "_memoryview",
        "_memoryview",
        "_arrays._array_copies",
        "_memoryview",
        "_memoryview",
        "_tensor_map_rules",
        "_tensor_map",
        "_tensor_map",
        "_tensor_map",
        "texture._array",
        "texture._array",
        "texture._array",
        "texture._texture",
        "texture._array",
        "texture._texture",
        "texture._texture",
        "texture._texture",
        "texture.__init__",
        "_graphics",
    ],
    "surface": [
        "utils.__init__",
        "checkpoint",
        "driver._arrays._layout",
        "driver._array_functions._operations",
        "driver._constants",
        "driver._held",
        "driver._errors",
        "driver._kernels._source",
        "driver._random._skip",
        "driver._random._source",
        "driver._checks",
        "driver._classic_names",
        "driver._compile._nvcc",
        "driver._contexts._shared_events",
        "driver.__main__",
        "driver._library",
        "driver._contexts._context",
        "driver._compile._nvcc_options",
        "driver._types",
        "driver._arrays._devices",
        "driver._modules._occupancy",
        "driver._compile._compilation",
        "driver._contexts._default_context",
        "driver._kernels._packing",
        "driver._memory._device_memory",
        "driver._contexts._streams",
        "driver.debug",
        "driver._contexts._memoize",
        "driver._storage",
        "driver._storage",
        "driver._calls",
        "driver._memory._copies",
        "driver._memory._copy_records",
        "driver._memory._host_memory",
        "driver._kernels._build",
        "driver.autoinit",
        "driver.autoprimaryctx",
        "driver._modules._arguments",
        "driver._arrays._memory",
        "driver._textures._cuda_arrays",
        "driver._kernels._elementwise",
        "driver._kernels._reduction",
        "driver._kernels._scan",
        "driver._memory._managed",
        "driver._memory._pools",
        "driver._arrays._base",
        "driver._calls",
        "driver._memory._ipc",
        "driver._textures._references",
        "driver.gl._registered",
        "driver.tools",
        "driver._array_functions._math",
        "driver._textures._array_textures",
        "driver._arrays._transfer",
        "driver._modules._module",
        "driver.gl.__init__",
        "driver.gl.autoinit",
        "driver._array_functions._reduce",
        "driver._array_functions._select",
        "driver._compile._linker",
        "driver.__init__",
        "driver._array_functions._numpy",
        "driver.compiler",
        "driver._array_functions._operators",
        "driver._arrays._object",
        "driver._kernels._user",
        "driver._random._tables",
        "driver.characterize",
        "driver.cumath",
        "driver._random._generators",
        "driver.elementwise",
        "driver.gpuarray",
        "driver.reduction",
        "driver.curandom",
        "driver.scan",
        "__init__",
        "experimental",
        "_report",
        "__main__",
    ],
}
ORDER = [entry for entries in LAYERS.values() for entry in entries]

IMPORT = re.compile(
    r"^( *)(?:from +(cuda\.core[\w.]*) +c?import +(\([^)]*\)|[^\n]*)|c?import +(cuda\.core[\w.]*))", re.MULTILINE
)

# Imports at the first use.
DEFERRED = re.compile(r'(?:\bDeferred\(|\bDeferredFunction\(\s*b|\bmodule = b)"(cuda\.core\.[\w.]+)"')


def modules() -> list[Path]:
    """Return the sources without those of ``system``, the NVML package, which is independent of the layers."""
    suffixes = {".py", ".pyx", ".pxd"}
    paths = sorted(path for path in PACKAGE.rglob("*") if path.suffix in suffixes)
    return [path for path in paths if path.relative_to(PACKAGE).parts[0] != "system"]


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


# The modules of ``system``, from the first to the last: each imports only from earlier ones.
SYSTEM_ORDER = [
    *("_support", "typing", "exceptions", "_nvml_context", "_attributes", "_mappings"),
    *("_memory_info", "_performance", "_processes", "_clocks", "_cooling", "_temperature", "_inforom"),
    *("_mig", "_nvlink", "_pci", "_fields", "_waiting", "_events", "_device_table"),
    *("_topology", "_device", "_system_events", "_system", "_public", "__init__"),
]
SYSTEM = sorted((PACKAGE / "system").glob("*.py"))
NAMES = {module_of(path) for path in [*modules(), *SYSTEM]}


def entry_of(module: str) -> str | None:
    """Return the entry of the table for a module below ``cuda.core``, such as ``_device``; None for others."""
    return module if module in ORDER else None


def imported(path: Path) -> list[tuple[int, str]]:
    """Return the indentation and the module, below ``cuda.core``, of each import of the package."""
    found = []
    for indent, source, names, plain in IMPORT.findall(path.read_text()):
        package = (source or plain).removeprefix("cuda.core").lstrip(".")
        for name in re.findall(r"[\w*]+(?: as \w+)?", names) or [""]:
            inner = f"{package}.{name.split()[0] if name else ''}".strip(".")
            module = next((known for known in (inner, package, f"{package}.__init__") if known in NAMES), package)
            found.append((len(indent), module))
    found += [(0, name.removeprefix("cuda.core.")) for name in DEFERRED.findall(path.read_text())]
    return found


def is_plain_package(path: Path) -> bool:
    """Return whether a package exports nothing, so that it needs no place among the modules."""
    return path.name == "__init__.py" and imported(path) == []


def test_every_module_has_a_layer():
    places = [module_of(path) for path in modules() if not is_plain_package(path)]
    assert [module for module in places if entry_of(module) is None] == []


def test_every_module_in_the_table_exists():
    assert [entry for entry in ORDER if entry not in NAMES] == []


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_module_imports_from_lower_layers_only(path):
    entry = entry_of(module_of(path))
    if path.stem == "_late" or entry is None:
        return  # _late has all upward references
    for _, module in imported(path):
        other = entry_of(module)
        if other is not None:
            assert ORDER.index(other) <= ORDER.index(entry), f"{path.name} imports {module} from above"


@pytest.mark.parametrize("path", SYSTEM, ids=lambda path: path.name)
def test_system_imports_no_layers(path):
    # NVML needs no CUDA context; references to CUDA devices go through _late.
    modules = {module for _, module in imported(path)}
    others = {module for module in modules if module.partition(".")[0] not in ("system", "_utils")}
    assert others <= {"_handles._late"}
    earlier = SYSTEM_ORDER[: SYSTEM_ORDER.index(path.stem)]
    within = {module.removeprefix("system.") for module in modules if module.startswith("system.")}
    assert within <= set(earlier), f"{path.name} imports from above"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_module_does_not_import_the_package_inside_a_function(path):
    if path.stem != "_late":
        inside = {module for indent, module in imported(path) if indent > 0}
        # The indented import of typing.py is for type checkers only.
        assert inside == ({"typing"} if path == PACKAGE / "typing.py" else set())
