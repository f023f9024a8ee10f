# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Dependencies point down: folders and front modules are ranked, and no modules import each other in a circle."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from support.source import CORE, ROOT, circles, core_files, whole_text

pytestmark = pytest.mark.requires(source=True)

# From the bottom to the top. A module has the rank of the longest prefix of its name, so a folder ranks its modules.
LAYERS = {
    "foundations": "_version typing _utils _native",
    "NVML": "system",  # aside from the others: with no CUDA context, it needs foundations only
    "data formats": "_dlpack _layout _layout_ops",
    "execution": "_device_resources _context _event _stream _memory_operations",
    "memory": "_host _memory",
    "arrays": "_arrays",
    "device": "_device_properties _device_limits _device",
    "launch configurations": "_launch_config _launch_attributes",
    "code": "_code _module _compile _linker _program",
    "launch": "_kernel_arg_handler _launch_observers _launcher",
    "graphs": "graph",
    "tensors, images": "_memoryview _tensor_map _tensor_map_rules texture _graphics",
    "classic seam": "_classic",
    "surface": "utils checkpoint driver examples experimental __init__ _report _prebuild __main__",
}
RANKS = {prefix: rank for rank, prefixes in enumerate(LAYERS.values()) for prefix in prefixes.split()}

IMPORT = re.compile(
    r"^( *)(?:from +(cuda\.core[\w.]*) +c?import +(\([^)]*\)|[^\n]*)|c?import +(cuda\.core\.[\w.]+))", re.MULTILINE
)
LATE = re.compile(r'^\w+ = LateModule\("cuda\.core\.([\w.]+)"\)$', re.MULTILINE)
TYPE_CHECKING = re.compile(r"^if TYPE_CHECKING:.*\n(?:(?: .*)?\n)*", re.MULTILINE)

FILES = core_files(".py", ".pyx", ".pxd")


def module_of(path) -> str:
    return ".".join(path.relative_to(CORE).with_suffix("").parts)


MODULES = {module_of(path) for path in FILES}


def imports(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the modules that a source imports, and whether a function does it; names are those below ``cuda.core``."""
    for indent, source, names, plain in IMPORT.findall(TYPE_CHECKING.sub("", text)):
        package = (source or plain).removeprefix("cuda.core").lstrip(".")
        for name in re.findall(r"([\w*]+)(?: as \w+)?", names) or [""]:
            inner = f"{package}.{name}".strip(".")
            choices = (inner, f"{inner}.__init__", package, f"{package}.__init__".strip("."))
            yield next((known for known in choices if known in MODULES), package), bool(indent)


def starts_with(module: str, prefix: str) -> bool:
    return prefix in ("", module) or module.startswith(f"{prefix}.")


def rank_of(module: str) -> int | None:
    """Return the rank of the longest prefix."""
    return max(((len(prefix), RANKS[prefix]) for prefix in RANKS if starts_with(module, prefix)), default=(0, None))[1]


@pytest.fixture(scope="module")
def graph() -> dict[str, set[str]]:
    """The modules that each module imports."""
    found: dict[str, set[str]] = {module: set() for module in MODULES}
    for path in FILES:
        module = module_of(path)
        found[module] |= {other for other, _ in imports(whole_text(path))} - {module}
    return found


@pytest.fixture(scope="module")
def late() -> dict[str, set[str]]:
    """The modules that each module imports on first use."""
    return {module_of(path): set(LATE.findall(path.read_text())) for path in FILES}


def upward(graph: dict[str, set[str]]) -> list[str]:
    """Return the imports of modules of higher ranks."""
    return [
        f"{module} imports {other}"
        for module, others in sorted(graph.items())
        for other in sorted(others)
        if (rank := rank_of(other)) is not None and rank > rank_of(module)
    ]


def test_every_module_has_a_rank_and_every_rank_a_module():
    assert [module for module in sorted(MODULES) if rank_of(module) is None] == []
    assert [prefix for prefix in RANKS if not any(starts_with(module, prefix) for module in MODULES)] == []


def test_modules_import_from_their_own_layer_and_lower_ones(graph):
    assert sum(map(len, graph.values())) > 500
    assert upward(graph) == []


def test_late_modules_have_no_higher_rank(late):
    assert late["_program"] == {"_linker", "_compile.cache._lookup"}
    names = {name for others in late.values() for name in others}
    assert names - MODULES - {name.removesuffix(".__init__") for name in MODULES} == set()
    assert upward(late) == []
    assert sum(path.read_text().count("LateModule(") for path in FILES) == sum(map(len, late.values()))


def test_no_modules_import_each_other_in_a_circle(graph):
    assert circles(graph) == []


def test_no_function_imports_the_package():
    found = [
        f"{module_of(path)} imports {other}"
        for path in FILES
        for other, is_inside in imports(whole_text(path))
        if is_inside and not module_of(path).startswith("system.")
    ]
    assert found == [], "NVML alone loads its parts at first use"


# --- With the software device ---------------------------------------------------------------------

EMULATOR = {path.stem: path for path in sorted((ROOT / "emulator" / "cuda" / "emulator").glob("*.py"))}
OF_EMULATOR = re.compile(
    r"^ *(?:from +cuda\.emulator(?:\.(\w+))? +import +(\w+)|from +cuda +import .*\bemulator\b|import +cuda\.emulator\b)"
    r"|import_module\(\"cuda\.emulator\"\)",
    re.MULTILINE,
)


def imports_of_emulator(text: str) -> set[str]:
    """Return the modules of ``cuda.emulator`` that a source imports, at once or in a function."""
    found = OF_EMULATOR.finditer(TYPE_CHECKING.sub("", text))
    return {next((name for name in (match[1], match[2]) if name in EMULATOR), "__init__") for match in found}


def test_one_module_imports_the_software_device():
    users = {module_of(path) for path in FILES if imports_of_emulator(path.read_text())}
    assert users == {"_utils.device_choice"}


def test_three_modules_use_the_seam(graph):
    users = {module for module, others in graph.items() if "_utils.device_choice" in others}
    assert users == {"__init__", "_utils.libraries", "_native._device_wait"}


def test_no_modules_of_both_packages_import_in_a_circle(graph):
    both = {module: set(others) for module, others in graph.items()}
    for path in FILES:
        both[module_of(path)] |= {f"emulator.{name}" for name in imports_of_emulator(path.read_text())}
    for name, path in EMULATOR.items():
        text = path.read_text()
        both[f"emulator.{name}"] = {f"emulator.{other}" for other in imports_of_emulator(text)} - {f"emulator.{name}"}
        both[f"emulator.{name}"] |= {other for other, _ in imports(text)}
    assert len(EMULATOR) > 5 and "__init__" in both["emulator.pytest_plugin"]
    assert circles(both) == []


def test_planted_imports_of_the_software_device_are_found():
    source = "from cuda.emulator import _coverage\ndef f():\n    from cuda.emulator._oracle import check\n"
    assert imports_of_emulator(source) == {"_coverage", "_oracle"}
    for line in ("from cuda import core, emulator", "import cuda.emulator", 'import_module("cuda.emulator")'):
        assert imports_of_emulator(f"def f():\n    return\n    {line}\n") == {"__init__"}
    assert imports_of_emulator("if TYPE_CHECKING:\n    from cuda import emulator\n") == set()


def test_planted_imports_are_found():
    source = (
        "from cuda.core._stream cimport (\n    Stream,\n    Stream_accept as accept)\nimport cuda.core._event as e\n"
        "if TYPE_CHECKING:\n    from cuda.core import _device\n\n    from cuda.core import _host\n"
        "def f():\n    from cuda.core import texture, Device\n"
    )
    assert set(imports(source)) == {
        *{("_stream", False), ("_event", False)},
        *{("texture.__init__", True), ("__init__", True)},
    }


def test_imports_of_a_part_are_those_of_its_extension(graph):
    assert "import holds_objects" in (CORE / "texture" / "_array.pxi").read_text()
    assert "_memory._copies" in graph["texture._texture"]


def test_planted_upward_import_and_circle_are_found():
    assert upward({"_memory._buffer": {"_stream", "_arrays._views"}}) == ["_memory._buffer imports _arrays._views"]
    assert upward({"system._device": {"_stream", "_utils.enums"}}) == ["system._device imports _stream"]
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]
    assert circles({"a": {"b"}, "b": set(), "d": {"a"}}) == []
