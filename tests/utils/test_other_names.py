# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Names from other libraries: the error names the replacement."""

import abc
import importlib
import inspect
import pydoc
import sys

import numpy as np
import pytest

import cuda.core
from cuda.core import Device, LaunchConfig, Program, ProgramOptions
from cuda.core._utils.other_names import OTHER_NAMES, OtherName
from cuda.core.utils import kernel

SOURCE = 'extern "C" __global__ void f(int* x) { *x += 1; }'
CLASSES = (
    "Buffer",
    "Device",
    "Event",
    "GraphBuilder",
    "Kernel",
    "ObjectCode",
    "Program",
    "SourceKernel",
    "Stream",
    "StridedMemoryView",
)

# What suggestions begin with that are no members.
VARIABLES = {
    "Program",
    "cuda",
    "cupy",
    "device",
    "empty",
    "end",
    "kernel",
    "len",
    "launch",
    "nothing",
    "repr",
    "stream",
}


@pytest.fixture
def instances(device, stream):
    code = Program(SOURCE, "c++").compile("cubin")
    return {
        "Buffer": device.allocate(8, stream=stream),
        "Device": device,
        "Event": stream.record(),
        "GraphBuilder": device.create_graph_builder(),
        "Kernel": code.get_kernel("f"),
        "ObjectCode": code,
        "Program": Program(SOURCE, "c++"),
        "SourceKernel": kernel(SOURCE, "f", cache=False),
        "Stream": stream,
        "StridedMemoryView": device.zeros(1, np.int8, stream=stream),
    }


@pytest.mark.parametrize("cls", CLASSES)
def test_name_of_another_library_is_explained(instances, cls):
    found = instances[cls]
    for name, instead in OTHER_NAMES[cls].items():
        with pytest.raises(AttributeError) as caught:
            getattr(found, name)
        assert str(caught.value) == f"{cls!r} object has no attribute {name!r}. Did you mean: {instead}?"
        # With the object, the interpreter would append another suggestion.
        assert (caught.value.name, caught.value.obj) == (name, None)
        assert inspect.getattr_static(found, name).__doc__ == f"Not a member. Did you mean: {instead}?"


def test_name_of_another_library_is_explained_on_the_class():
    with pytest.raises(AttributeError, match=r"^type object 'Device' has no attribute 'count'. Did you mean: len\("):
        Device.count()
    assert not hasattr(Program, "build")


@pytest.mark.parametrize("cls", CLASSES)
def test_names_of_other_libraries_are_not_listed(instances, cls):
    found = instances[cls]
    others = set(OTHER_NAMES[cls])
    assert others.isdisjoint(dir(found))


@pytest.mark.parametrize("cls", CLASSES)
def test_help_shows_what_to_use_instead(instances, cls):
    text = pydoc.plain(pydoc.render_doc(type(instances[cls])))
    assert "OtherName" not in text
    for name, instead in OTHER_NAMES[cls].items():
        assert f"{name}\n |      Not a member. Did you mean: {instead}?\n" in text


@pytest.mark.parametrize("cls", CLASSES)
def test_suggested_members_exist(instances, cls):
    for instead in OTHER_NAMES[cls].values():
        first = instead.partition("(")[0].partition(".")[0].partition(",")[0]
        if first.isidentifier() and first not in VARIABLES:
            assert hasattr(type(instances[cls]), first), instead


@pytest.mark.parametrize("cls", CLASSES)
def test_class_with_other_names_can_be_mixed_with_abstract_ones(instances, cls):
    base = type(instances[cls])
    if base.__flags__ & 1 << 10:  # Py_TPFLAGS_BASETYPE
        assert issubclass(type("Mixed", (base, abc.ABC), {}), abc.ABC)
    assert type(base) is type


def test_subclass_can_have_the_name():
    class Own(Program):
        build = "own"

    assert "build" in dir(Own)
    assert Own(SOURCE, "c++", {"arch": "sm_90"}).build == "own"
    assert isinstance(vars(Program)["build"], OtherName)


@pytest.mark.parametrize("name", OTHER_NAMES["cuda.core"])
def test_module_names_of_other_libraries_are_explained(name, monkeypatch):
    monkeypatch.delattr(cuda.core, name, raising=False)  # `experimental`, if another test has imported it
    instead = OTHER_NAMES["cuda.core"][name]
    with pytest.raises(AttributeError) as caught:
        getattr(cuda.core, name)
    assert str(caught.value) == f"module 'cuda.core' has no attribute {name!r}. Did you mean: {instead}?"
    assert caught.value.obj is None


@pytest.mark.parametrize("name", sorted(OTHER_NAMES["cuda.core"].keys() - {"experimental"}))  # which can be imported
@pytest.mark.parametrize("package", ["cuda.core", "cuda.core.utils"])
def test_imports_of_names_of_other_libraries_are_explained(package, name):
    module = importlib.import_module(package)
    if hasattr(module, name):  # utils has some of them
        assert name in module.__all__
        return
    with pytest.raises(ImportError) as caught:
        exec(f"from {package} import {name}")
    hint = OTHER_NAMES["cuda.core"][name]
    assert str(caught.value) == f"cannot import name {name!r} from {package!r}. Did you mean: {hint}?"
    assert type(caught.value) is ImportError and caught.value.name == package
    assert f"{package}.{name}" not in sys.modules


def test_imports_of_unknown_names_are_left_to_the_interpreter():
    with pytest.raises(ImportError, match=r"^cannot import name 'Devise' from 'cuda.core' \(.+\)$"):
        from cuda.core import Devise  # noqa: F401
    with pytest.raises(ModuleNotFoundError, match="^No module named 'cuda.core.kernels'$"):
        import cuda.core.kernels
    with pytest.raises(ModuleNotFoundError, match="^No module named 'cuda.core.utils.kernel'$"):
        import cuda.core.utils.kernel  # noqa: F401 - a name that exists, but no module


def test_unknown_names_are_left_to_the_interpreter(stream):
    with pytest.raises(AttributeError, match="^module 'cuda.core' has no attribute 'Devise'$") as caught:
        cuda.core.Devise  # noqa: B018
    assert caught.value.obj is cuda.core
    with pytest.raises(AttributeError, match="has no attribute 'sing'$"):
        stream.sing  # noqa: B018


@pytest.mark.requires(cuda=(12, 4))
def test_keywords_of_other_libraries_are_explained(device):
    with pytest.raises(TypeError, match=r"^LaunchConfig has no field 'shared_mem'. Did you mean: shmem_size\?$"):
        LaunchConfig(grid=1, block=1, shared_mem=4)
    with pytest.raises(TypeError, match=r"'cache'. Did you mean: Program.compile\(..., cache=cache\)\?$"):
        ProgramOptions(cache=True)
    with pytest.raises(TypeError, match=r"^f\(\) has no parameter 'shared_mem'. Did you mean: shmem_size\?$"):
        kernel(SOURCE, "f", cache=False)(None, grid=1, block=1, shared_mem=4)


@pytest.mark.requires(cuda=(12, 4))
@pytest.mark.parametrize("name", ["grid", "block", "stream"])
def test_keywords_beside_brackets_are_explained(device, name):
    f = kernel(SOURCE, "f", cache=False)
    with pytest.raises(TypeError, match=rf"f\(\) has no parameter {name!r}. Did you mean: .*kernel\[grid, block"):
        f[1, 1](device.zeros(1, np.int32), **{name: 1})
