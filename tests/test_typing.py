# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The enums, protocols and aliases of the public interface."""

import subprocess
import sys
from collections.abc import Sequence
from enum import StrEnum
from typing import get_args, get_origin

import pytest

import cuda.core.typing as public

ENUMS = {
    "SourceCodeType": {"CXX": "c++", "PTX": "ptx", "NVVM": "nvvm"},
    "ObjectCodeFormatType": {
        "PTX": "ptx",
        "CUBIN": "cubin",
        "LTOIR": "ltoir",
        "OPTIXIR": "optixir",
        "TILEIR": "tileir",
        "FATBIN": "fatbin",
        "OBJECT": "object",
        "LIBRARY": "library",
    },
    "CompilerBackendType": {"NVRTC": "NVRTC", "NVVM": "NVVM", "NVJITLINK": "nvJitLink", "DRIVER": "driver"},
    "PCHStatusType": {"CREATED": "created", "NOT_ATTEMPTED": "not_attempted", "FAILED": "failed"},
    "GraphConditionalType": {"IF": "if", "WHILE": "while", "SWITCH": "switch"},
    "AccessPropertyType": {"NORMAL": "normal", "STREAMING": "streaming", "PERSISTING": "persisting"},
    "GraphMemoryType": {"DEVICE": "device", "HOST": "host", "MANAGED": "managed"},
    "ManagedMemoryLocationType": {"DEVICE": "device", "HOST": "host", "HOST_NUMA": "host_numa"},
    "MemoryPoolAccessType": {"READ_WRITE": "rw", "READ": "r", "NONE": ""},
    "VirtualMemoryHandleType": {"POSIX_FD": "posix_fd", "WIN32_KMT": "win32_kmt", "FABRIC": "fabric"},
    "VirtualMemoryLocationType": {
        "DEVICE": "device",
        "HOST": "host",
        "HOST_NUMA": "host_numa",
        "HOST_NUMA_CURRENT": "host_numa_current",
    },
    "VirtualMemoryGranularityType": {"MINIMUM": "minimum", "RECOMMENDED": "recommended"},
    "VirtualMemoryAccessType": {"READ_WRITE": "rw", "READ": "r"},
    "VirtualMemoryAllocationType": {"PINNED": "pinned", "MANAGED": "managed"},
    "ArrayFormatType": {
        name.upper(): name for name in ("uint8", "uint16", "uint32", "int8", "int16", "int32", "float16", "float32")
    },
    "AddressModeType": {"WRAP": "wrap", "CLAMP": "clamp", "MIRROR": "mirror", "BORDER": "border"},
    "FilterModeType": {"POINT": "point", "LINEAR": "linear"},
    "ReadModeType": {"ELEMENT_TYPE": "element_type", "NORMALIZED_FLOAT": "normalized_float"},
    "WorkqueueSharingScopeType": {"DEVICE_CTX": "device_ctx", "GREEN_CTX_BALANCED": "green_ctx_balanced"},
}
ALIASES = {"DevicePointerType", "DeviceResourcesType", "IsStreamType", "ProcessStateType"}


def test_all_names_are_exported():
    assert set(public.__all__) == set(ENUMS) | ALIASES
    namespace = {}
    exec("from cuda.core.typing import *", namespace)
    assert set(public.__all__) <= set(namespace)


@pytest.mark.parametrize("name", sorted(ENUMS))
def test_enum_members_equal_their_strings(name):
    enum = getattr(public, name)
    assert issubclass(enum, StrEnum)
    assert {member.name: member.value for member in enum} == ENUMS[name]
    assert enum.__doc__
    for member in enum:
        assert member == member.value == str(member) == f"{member}"
        assert enum(member.value) is member


def test_unknown_strings_are_rejected():
    with pytest.raises(ValueError):
        public.SourceCodeType("fortran")


def test_aliases_have_these_types():
    from cuda.bindings import driver

    assert public.DevicePointerType == driver.CUdeviceptr | int | None
    assert get_origin(public.DeviceResourcesType) is Sequence
    assert get_args(public.ProcessStateType) == ("running", "locked", "checkpointed", "failed")


def test_isinstance_rejects_the_stream_protocol():
    with pytest.raises(TypeError):
        isinstance(object(), public.IsStreamType)
    assert hasattr(public.IsStreamType, "__cuda_stream__")


def test_unknown_names_are_rejected():
    with pytest.raises(AttributeError, match="NoSuchType"):
        public.NoSuchType  # noqa: B018


def test_import_loads_neither_the_bindings_nor_numpy():
    code = (
        "import sys, importlib.util as u; s = u.spec_from_file_location('t', sys.argv[1]);"
        "m = u.module_from_spec(s); s.loader.exec_module(m);"
        "print([n for n in sys.modules if n.startswith(('cuda', 'numpy'))])"
    )
    done = subprocess.run([sys.executable, "-c", code, public.__file__], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
