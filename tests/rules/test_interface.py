# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The package has every name, parameter and default that programs rely on: the tables in ``support/interface``."""

import importlib
import inspect
import subprocess
import sys
from collections import defaultdict

import pytest

from support import interface, interface_pages

# Names that the public modules have beyond the tables.
OURS = {
    "cuda.core": {
        "CUDAError",
        "CUDAOutOfMemoryError",
        "CUDAWarning",
        "CachingMemoryResource",
        "ExternalMemory",
        "ExternalSemaphore",
        "LaunchError",
        "LimitingMemoryResource",
        "LoggingMemoryResource",
        "MemoryOperation",
        "MemoryStatistics",
        "MulticastObject",
        "NVRTCError",
        "NotSupportedError",
        "OutOfMemoryError",
        "StatisticsMemoryResource",
        "TrackedAllocation",
        "TrackingMemoryResource",
        "VirtualMemoryBuffer",
        "register_host_memory",
        "set_memory_resource",
        "use_memory_resource",
    },
    "cuda.core.graph": {"AccessPolicyWindow", "AdjacencySetProxy", "CaptureStatistics", "CapturedFunction", "capture"},
    "cuda.core.typing": {"AccessPropertyType", "MemoryPoolAccessType"},
    "cuda.core.utils": {
        "SourceKernel",
        "benchmark",
        "cdiv",
        "coredump",
        "decompress_batch",
        "driver_log",
        "kernel",
        "register_importer",
        "trace",
    },
}

# Classes pickled by name: pickles made by other releases contain these names.
PICKLED = [
    "_device.Device",
    "_event.IPCEventDescriptor",
    "_memory._ipc.IPCAllocationHandle",
    "_memory._ipc.IPCBufferDescriptor",
    "_memory._ipc._rebuild_fabric",
    "_memory._ipc._rebuild_files",
    "_module.ObjectCode",
    "_host.Host",
    "_memory._copy_enums.MemcpyOverlapMode",
    "_memory._copy_enums.MemcpySrcAccessOrder",
    "_tensor_map.TensorMapDataType",
    "_tensor_map.TensorMapDescriptorOptions",
    "_tensor_map.TensorMapSwizzle",
]

ENTRIES = list(interface.entries())
MODULES = defaultdict(set)
for _entry in ENTRIES:
    if "." not in _entry.name:
        MODULES[_entry.module].add(_entry.name)
PUBLIC = sorted(module for module in MODULES if not module.startswith("cuda.core.driver"))


def star_import(module: str) -> dict:
    """Return the names that a star import of a module defines."""
    namespace = {}
    exec(f"from {module} import *", namespace)
    return namespace


def test_names_agree_with_their_entries():
    assert len(ENTRIES) > 400
    assert {entry.path: found for entry in ENTRIES if (found := list(interface.differences(entry)))} == {}


@pytest.mark.parametrize("module", PUBLIC)
def test_exports_are_the_names_of_the_table_and_ours(module):
    exported = set(importlib.import_module(module).__all__)
    assert exported == MODULES[module] | OURS.get(module, set())
    assert exported <= set(star_import(module))


@pytest.mark.parametrize("path", PICKLED)
def test_pickled_class_keeps_its_module_and_name(path):
    cls = interface.find(f"cuda.core.{path}")
    assert f"{cls.__module__}.{cls.__qualname__}" == f"cuda.core.{path}"


def test_front_modules_are_package_attributes():
    homes = [entry.name.split(".") for entry in ENTRIES if entry.module == "cuda.core"]
    names = {home[0] for home in homes if len(home) == 2 and home[0].startswith("_")}
    assert {"_device", "_memory", "_module"} <= names
    program = f"import cuda.core\nprint(*[name for name in {sorted(names)} if not hasattr(cuda.core, name)])"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (result.stdout.strip(), result.returncode) == ("", 0)


def test_device_pointer_type_is_one_object():
    typing = importlib.import_module("cuda.core.typing")
    buffer = importlib.import_module("cuda.core._memory._buffer")
    assert buffer.DevicePointerType is typing.DevicePointerType
    assert not hasattr(buffer, "DevicePointer")


CALLS = [
    ("(a, *, b=None)", lambda a, *, b=None: 0, []),
    ("(a, *, b=None)", lambda a, b=None, c=3: 0, []),
    ("(a, *, b=None)", lambda a: 0, ["has no parameter b"]),
    ("(a, b=1)", lambda b=1, a=0: 0, ["as its parameter number 0", "as its parameter number 1"]),
    ("(a, b=1)", lambda a, b=2: 0, ["has the default b=2, not 1"]),
    ("(a, b=1)", lambda a, *, b=1: 0, ["does not take b as its parameter number 1"]),
    ("(a)", lambda a, b: 0, ["has the required parameter b"]),
    ("(*, a)", lambda a, /: 0, ["does not take a by name"]),
    ("(*a)", lambda a: 0, [r"does not take *a"]),
    ("(a=...)", lambda a=(): 0, []),
]


@pytest.mark.parametrize("parameters, function, expected", CALLS)
def test_signatures_are_compared(parameters, function, expected):
    ours = list(inspect.signature(function).parameters.values())
    found = list(interface.mismatches(interface.wanted(parameters), ours))
    assert len(found) == len(expected)
    assert all(text in difference for text, difference in zip(expected, found, strict=True))


class Subject:
    """A class for the tests of the comparison of members."""

    read = property(lambda self: 0)
    value = 1

    def method(self, a):
        return a

    @classmethod
    def make(cls):
        return cls()


MEMBERS = [
    ("property read", []),
    ("property read settable", ["cannot be set"]),
    ("method read()", ["is a property, not a method"]),
    ("method method(a)", []),
    ("method method(b)", ["has no parameter b", "has the required parameter a"]),
    ("staticmethod make()", []),
    ("classmethod make()", []),
    ("property make", ["is a classmethod"]),
    ("attribute value", []),
    ("property gone", ["is missing"]),
]


@pytest.fixture
def subject(monkeypatch):
    """A dict of the objects that names of tables stand for."""
    found = {"Subject": Subject, "Base": int}
    monkeypatch.setattr(interface, "find", lambda path: found[path.rpartition(".")[2]])
    return found


@pytest.mark.parametrize("line, expected", MEMBERS)
def test_members_are_compared(line, expected, subject):
    entry = interface.Entry("class", "Subject", members=[interface.parse(line)])
    found = list(interface.differences(entry))
    assert len(found) == len(expected)
    assert all(text in difference for text, difference in zip(expected, found, strict=True))


TRAITS = {"dataclass": "is no dataclass", "len": "is missing", "mutableset": "is no MutableSet"}


@pytest.mark.parametrize("trait", TRAITS)
def test_traits_are_compared(trait, subject):
    found = list(interface.differences(interface.parse(f"class Subject: weakref {trait}")))
    assert [difference.partition(" ")[2] for difference in found] == [TRAITS[trait]]


def test_kinds_and_bases_are_compared(subject):
    lines = ("enum Subject", "exception Subject", "class Subject of Base")
    found = [difference for line in lines for difference in interface.differences(interface.parse(line))]
    assert [difference.partition(" ")[2] for difference in found] == [
        "is not an enum",
        "is not an exception",
        "is no subclass of Base",
    ]
    subject["Subject"] = 3
    assert list(interface.differences(interface.parse("class Subject"))) == [".Subject is no class"]


def test_unreadable_lines_are_rejected():
    with pytest.raises(ValueError, match="cannot read"):
        interface.parse("class")


def test_names_are_found_in_modules_and_classes():
    assert interface.find("cuda.core.Device.sync") is importlib.import_module("cuda.core").Device.sync
    for path in ("cuda.core.NoSuchName", "cuda.core.no_such.Name"):
        with pytest.raises(LookupError, match="is missing"):
            interface.find(path)


PAGE = """
# System

| member | signature / type | behavior |
|---|---|---|
| `get_fan` | `(fan: int = 0) -> FanInfo` | |
| `index`, `name` | int | of the Device |

| enum | members |
|---|---|
| `AddressingMode` | HMM=`hmm`, ATS=`ats` |
| `DeviceArch` | KEPLER 2 |

| module | names |
|---|---|
| `system._nvml_context` | `initialize()`, `is_initialized()` |

```python
@dataclass
class EventOptions:
    timing_enabled: bool | None = False   # a comment
```
"""
WRONG = {
    "`index`": ("`index_of`", "index_of is missing"),
    "fan: int = 0": ("fan: int = 1", "get_fan(fan=1) has the default fan=0, not 1"),
    "(fan: int": ("(fin: int", "get_fan(fin=0) has no parameter fin"),
    "HMM=`hmm`": ("HMM=`hm`", "AddressingMode.HMM is 'hmm', not 'hm'"),
    "KEPLER 2": ("KEPLER 3", "DeviceArch.KEPLER is 2, not 3"),
    "ATS=": ("ATZ=", "AddressingMode.ATZ is missing"),
    "`system._nvml_context`": ("`system._nvml`", "system._nvml is no module"),
    "`initialize()`": ("`start_it()`", "start_it is missing"),
    "= False ": ("= True ", "EventOptions.timing_enabled has the default False, not True"),
    "timing_enabled": ("time_enabled", "EventOptions.time_enabled is missing"),
}


def differences_of(folder, text, capsys):
    (folder / "07-system.md").write_text(text)
    status = interface_pages.main(folder)
    *found, count = capsys.readouterr().out.splitlines()
    assert bool(status) == bool(found) and count.startswith("1") and count.endswith(f"{len(found)} differ")
    return [line.removeprefix("07-system.md: ") for line in found]


def test_page_that_describes_the_package_has_no_difference(tmp_path, capsys):
    assert differences_of(tmp_path, PAGE, capsys) == []


@pytest.mark.parametrize("right", WRONG)
def test_difference_from_a_page_is_reported(right, tmp_path, capsys):
    wrong, expected = WRONG[right]
    assert PAGE.count(right) == 1
    assert expected in differences_of(tmp_path, PAGE.replace(right, wrong), capsys)


def test_folder_without_pages_is_a_failure(tmp_path, capsys):
    assert interface_pages.main(tmp_path) == 1
    assert "0 names" in capsys.readouterr().out
