# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""ObjectCode and Kernel: loading, names, variables, lifetimes and rejection."""

import copy
import gc
import pickle
import struct
import weakref
from pathlib import Path

import pytest

from cuda.core import (
    Buffer,
    CUDAError,
    Kernel,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    ObjectCode,
    Program,
    ProgramOptions,
    launch,
)
from support.internals import registry_sizes
from support.interpreter import run

SOURCE = """
extern "C" __global__ void plain(int* out) { *out = 1; }
extern "C" __global__ void saxpy(float a, const float* x, const float* y, float* out, size_t n) {
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a * x[i] + y[i];
}
extern "C" __global__ void nothing() {}
template <class T> __global__ void scale(T* x, T factor) { *x *= factor; }
"""
FACTORIES = ["cubin", "ptx", "ltoir", "fatbin", "object", "library"]


def compiled(target, arch="sm_90", **options):
    return Program(SOURCE, "c++", ProgramOptions(arch=arch, **options)).compile(target, ["scale<float>"])


@pytest.fixture(scope="module")
def cubin():
    return compiled("cubin").code


def make(kind, *args, **kwargs):
    return getattr(ObjectCode, f"from_{kind}")(*args, **kwargs)


@pytest.fixture
def code(device):
    """Code for this device that has not been loaded yet."""
    return compiled("cubin", f"sm_{device.arch}")


# Without a device


@pytest.mark.parametrize("cls", [ObjectCode, Kernel])
def test_no_direct_construction(cls):
    with pytest.raises(RuntimeError, match=f"{cls.__name__} cannot be constructed directly; use .*from_"):
        cls()


@pytest.mark.parametrize("kind", FACTORIES)
@pytest.mark.parametrize("module", [b"bytes", bytearray(b"bytes"), "/a/path"])
def test_each_factory_keeps_its_arguments(kind, module):
    code = make(kind, module, name="mine", symbol_mapping={"a": "b"})
    assert code.code is module
    assert (code.code_type, code.name, code.symbol_mapping) == (kind, "mine", {"a": "b"})
    assert not code.is_closed
    assert repr(code) == f"<ObjectCode handle=0x0 code_type={kind!r}>"


def test_name_and_symbol_mapping_are_empty_by_default():
    code = ObjectCode.from_cubin(b"x")
    assert (code.name, code.symbol_mapping) == ("", {})


def test_paths_are_kept_as_text():
    assert ObjectCode.from_ptx(Path("/a/b.ptx")).code == "/a/b.ptx"


def test_symbol_mapping_is_a_copy():
    mapping = {"a": "b"}
    code = ObjectCode.from_cubin(b"x", symbol_mapping=mapping)
    mapping["c"] = "d"
    code.symbol_mapping["e"] = "f"
    assert code.symbol_mapping == {"a": "b"}


@pytest.mark.parametrize("name", [None, 5, b"x"])
def test_names_of_another_type_are_rejected(name):
    with pytest.raises(TypeError, match="name must be a str"):
        ObjectCode.from_cubin(b"x", name=name)


@pytest.mark.parametrize("mapping", [5, [("a", "b")], "a"])
def test_symbol_mappings_of_another_type_are_rejected(mapping):
    with pytest.raises(TypeError, match="symbol_mapping must be a dict"):
        ObjectCode.from_cubin(b"x", symbol_mapping=mapping)


def test_unknown_code_types_are_rejected():
    with pytest.raises(ValueError, match="exe"):
        ObjectCode._init(b"x", "exe")


def test_init_accepts_any_code_type():
    code = ObjectCode._init(b"x", "fatbin", name="n", symbol_mapping={b"a": b"b"})
    assert (code.code_type, code.name, code.symbol_mapping) == ("fatbin", "n", {b"a": b"b"})


@pytest.mark.parametrize("duplicate", [copy.copy, lambda code: pickle.loads(pickle.dumps(code))])
def test_pickle_and_copy_keep_code_and_names(duplicate):
    code = ObjectCode.from_ptx(bytearray(b"ptx"), name="n", symbol_mapping={"a": b"b", b"c": "d"})
    other = duplicate(code)
    assert other is not code
    assert (other.code, other.code_type, other.name) == (code.code, "ptx", "n")
    assert other.symbol_mapping == {"a": b"b", b"c": "d"}


@pytest.mark.parametrize("kind", ["ltoir", "object", "library"])
def test_code_that_cannot_be_loaded_has_no_kernels(kind):
    with pytest.raises(RuntimeError, match=f"code of type '{kind}' cannot be loaded"):
        make(kind, b"x").get_kernel("f")


@pytest.mark.parametrize("name", [None, 5, ["a"], bytearray(b"a")])
def test_kernel_names_of_another_type_are_rejected(name):
    with pytest.raises(TypeError, match="name must be a str or bytes"):
        ObjectCode.from_cubin(b"x").get_kernel(name)


def test_closed_code_keeps_its_name_and_rejects_each_use():
    code = ObjectCode.from_cubin(b"x", name="n")
    code.close()
    code.close()
    assert code.is_closed
    assert repr(code) == f"<ObjectCode closed code_type={code.code_type!r}>"
    assert code == code
    assert code != 5
    assert isinstance(hash(code), int)
    assert (code.name, code.code_type) == ("n", "cubin")
    for use in (lambda: code.get_kernel("f"), code.get_module, lambda: code.code, lambda: pickle.dumps(code)):
        with pytest.raises(RuntimeError, match="this ObjectCode is closed"):
            use()


def test_with_block_closes_the_code():
    with ObjectCode.from_cubin(b"x") as code:
        assert not code.is_closed
    assert code.is_closed


def test_objects_without_construction_are_closed():
    assert ObjectCode.__new__(ObjectCode).is_closed
    kernel = Kernel.__new__(Kernel)
    assert kernel.is_closed
    assert repr(kernel) == "<Kernel handle=0x0>"
    uses = lambda: kernel.num_arguments, lambda: kernel.attributes.num_regs, lambda: kernel.bind(None, stream=None)
    for use in uses:
        with pytest.raises(RuntimeError, match="this Kernel is closed"):
            use()


@pytest.mark.parametrize("handle", [None, "5", b"5", 5.0, object()])
def test_kernel_handles_of_another_type_are_rejected(handle):
    with pytest.raises(TypeError, match="handle must be an int"):
        Kernel.from_handle(handle)


def test_module_of_a_kernel_handle_must_be_object_code():
    with pytest.raises(TypeError, match="mod must be an ObjectCode"):
        Kernel.from_handle(5, 5)


def test_wrapped_kernel_keeps_the_given_code_alive():
    code = ObjectCode.from_cubin(b"x")
    reference = weakref.ref(code)
    kernel, again = Kernel.from_handle(4096, code), Kernel.from_handle(4096)
    del code
    gc.collect()
    assert reference() is not None
    assert kernel == again
    assert hash(kernel) == hash(again)
    assert kernel != Kernel.from_handle(8192)
    assert kernel != 4096
    assert repr(kernel) == "<Kernel handle=0x1000>"
    kernel.close()
    gc.collect()
    assert reference() is None


@pytest.mark.requires(nvrtc=True)
def test_truncated_images_are_rejected(device, cubin):
    fatbin = b"\x50\xed\x55\xba" + struct.pack("<HHQ", 1, 16, 4) + b"bod"
    cut_off = [cubin[:-1], cubin[:1000], cubin[:60], cubin[:4], fatbin, fatbin[:7]]
    for image in cut_off:
        with pytest.raises(CUDAError, match="CUDA_ERROR_INVALID_IMAGE: the module is cut off: it has"):
            ObjectCode.from_cubin(image).get_kernel("saxpy")


def test_empty_image_is_rejected(device):
    with pytest.raises(CUDAError, match="the module is empty") as caught:
        ObjectCode.from_cubin(b"").get_kernel("saxpy")
    assert (caught.value.code, caught.value.name) == (200, "CUDA_ERROR_INVALID_IMAGE")


# With a device


def test_kernels_are_found_by_name_and_compare_by_handle(code):
    kernel = code.get_kernel("saxpy")
    assert isinstance(kernel, Kernel)
    assert code.get_kernel("saxpy") is kernel
    assert code.get_kernel(b"saxpy") == kernel
    assert hash(code.get_kernel(b"saxpy")) == hash(kernel)
    assert code.get_kernel("plain") != kernel
    assert repr(kernel) == "<Kernel 'saxpy' of default_program>"
    assert int(kernel._handle) == int(kernel.handle) != 0


@pytest.mark.parametrize("name", ["plain\0junk", b"plain\0junk", "\0"])
def test_names_with_null_characters_are_rejected(code, name):
    for get in (code.get_kernel, code.get_global):
        with pytest.raises(ValueError, match="name must have no null character"):
            get(name)


def test_kernels_are_found_by_mangled_names_and_expressions(code):
    symbol = code.symbol_mapping["scale<float>"]
    kernel = code.get_kernel("scale<float>")
    assert code.get_kernel(b"scale<float>") == code.get_kernel(symbol) == code.get_kernel(symbol.decode()) == kernel
    again = ObjectCode.from_cubin(code.code, symbol_mapping={"mine": symbol.decode(), b"yours": symbol})
    assert again.get_kernel("mine") == again.get_kernel("yours") == again.get_kernel(b"yours")


@pytest.mark.requires(cuda=(12, 9))
def test_kernels_keep_the_library_loaded(device):
    code = compiled("cubin", f"sm_{device.arch}")
    kernel = code.get_kernel("saxpy")
    gc.collect()  # kernels of other tests
    before = registry_sizes()["kernel"]
    del code
    gc.collect()
    assert kernel.num_arguments == 5
    assert kernel.attributes.max_threads_per_block > 0
    assert registry_sizes()["kernel"] == before


@pytest.mark.requires(cuda=(12, 4))
def test_closed_code_leaves_its_kernels_usable(code):
    kernel = code.get_kernel("plain")
    code.close()
    assert int(code.handle) == 0
    assert kernel.num_arguments == 1
    with pytest.raises(RuntimeError, match="this ObjectCode is closed"):
        code.get_kernel("plain")


def test_registry_drops_collected_kernels(device):
    gc.collect()
    before = registry_sizes()["kernel"]
    code = compiled("cubin", f"sm_{device.arch}")
    kernels = [code.get_kernel(name) for name in ("saxpy", "plain", "scale<float>")]
    assert registry_sizes()["kernel"] == before + 3
    del code, kernels
    gc.collect()
    assert registry_sizes()["kernel"] == before


@pytest.mark.requires(cuda=(12, 4))
def test_kernel_from_its_handle_keeps_the_library_loaded(code):
    kernel = code.get_kernel("saxpy")
    same = Kernel.from_handle(int(kernel.handle), code)
    assert same == kernel
    code.close()
    del kernel, code
    gc.collect()
    assert same.num_arguments == 5


@pytest.mark.requires(cuda=(12, 9))
def test_kernel_handle_with_the_code_of_another_library_warns(code):
    kernel = code.get_kernel("saxpy")
    with pytest.warns(UserWarning, match="mod is not the object code") as caught:
        same = Kernel.from_handle(int(kernel.handle), ObjectCode.from_cubin(code.code))
    assert caught[0].filename == __file__
    assert same == kernel


def test_closed_kernel_has_no_handle_and_rejects_each_use(code):
    kernel = code.get_kernel("saxpy")
    kernel.close()
    assert kernel.is_closed
    assert int(kernel.handle) == 0
    with pytest.raises(RuntimeError, match="this Kernel is closed"):
        _ = kernel.arguments_info


@pytest.mark.requires(cuda=(12, 4))
def test_error_for_an_unknown_kernel_suggests_a_similar_one(code):
    with pytest.raises(CUDAError, match="no kernel 'saxpi' in the cubin module 'default_program' of .*") as caught:
        code.get_kernel("saxpi")
    assert caught.value.name == "CUDA_ERROR_NOT_FOUND"
    assert "did you mean 'saxpy'?" in str(caught.value)


@pytest.mark.requires(cuda=(12, 4))
def test_error_for_a_template_suggests_its_instances(code):
    with pytest.raises(CUDAError, match="did you mean .*scale"):
        code.get_kernel("scale")


@pytest.mark.requires(cuda=(12, 4))
def test_unknown_instance_error_lists_the_name_expressions(device):
    source = "template <class T> __global__ void twice(T* x) { *x *= 2; }"
    names = ["twice<float>", "twice<int>"]
    program = Program(source, "c++", ProgramOptions(arch=f"sm_{device.arch}"))
    with pytest.raises(CUDAError, match=r"no kernel 'twice<double>' in .*; did you mean .twice<"):
        program.compile("cubin", name_expressions=names).get_kernel("twice<double>")


@pytest.mark.parametrize("name", ["twice<float>", b"twice<float>", "scope::add"])
def test_unknown_expression_error_names_name_expressions(device, name):
    source = """
template <class T> __global__ void twice(T* x) { *x *= 2; }
namespace scope { __global__ void add(int* x) { ++*x; } }
"""
    code = Program(source, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin")
    text = name.decode() if isinstance(name, bytes) else name
    advice = f"compile with name_expressions=({text!r},) to get it by this name"
    with pytest.raises(CUDAError, match="CUDA_ERROR_NOT_FOUND") as caught:
        code.get_kernel(name)
    assert str(caught.value).splitlines()[-1] == advice
    with pytest.raises(CUDAError, match="no kernel 'thrice'") as caught:
        code.get_kernel("thrice")
    assert "name_expressions" not in str(caught.value)


# Variables

VARIABLES = """
__device__ float factor = 2.5f;
__constant__ int table[4] = {1, 2, 3, 4};
__managed__ int shared_with_host = 7;
namespace scope { __device__ double grid[3][2]; }
extern "C" __global__ void use(float* out) {
    *out = factor + table[1] + shared_with_host + scope::grid[1][1];
}
"""
NAMES = ["_ZN5scope4gridE", "factor", "shared_with_host", "table"]


def with_variables(target, arch="sm_90"):
    return Program(VARIABLES, "c++", ProgramOptions(arch=arch)).compile(target, ["&scope::grid"])


@pytest.mark.requires(software=False)
@pytest.mark.parametrize("target", ["ptx", "cubin"])
def test_names_of_variables_are_read_from_the_code(device, target):
    with pytest.raises(CUDAError, match=f"no variable 'nothing' in .*; it has {', '.join(NAMES)}"):
        with_variables(target, f"sm_{device.arch}").get_global("nothing")


@pytest.mark.requires(software=True)
def test_unknown_variable_lists_those_of_the_source(device):
    with pytest.raises(CUDAError, match=f"no variable 'nothing' in .*; it has {', '.join(NAMES)}$"):
        with_variables("cubin").get_global("nothing")


@pytest.mark.parametrize("name", [None, 5, ["factor"]])
def test_variable_names_of_another_type_are_rejected(name):
    with pytest.raises(TypeError, match="name must be a str or bytes"):
        ObjectCode.from_cubin(b"x").get_global(name)


@pytest.mark.parametrize("kind", ["ltoir", "object", "library"])
def test_code_that_cannot_be_loaded_has_no_variables(kind):
    with pytest.raises(RuntimeError, match="cannot be loaded to get variables; link it to a cubin first"):
        make(kind, b"x").get_global("factor")


def test_closed_code_rejects_to_look_up_variables():
    code = ObjectCode.from_cubin(b"x")
    code.close()
    with pytest.raises(RuntimeError, match="this ObjectCode is closed"):
        code.get_global("factor")


@pytest.fixture
def variables(device):
    return with_variables("cubin", f"sm_{device.arch}")


@pytest.mark.parametrize(
    "name, size",
    [("factor", 4), (b"table", 16), ("shared_with_host", 4), ("&scope::grid", 48), ("_ZN5scope4gridE", 48)],
)
def test_variables_have_their_sizes(variables, name, size):
    variable = variables.get_global(name)
    assert isinstance(variable, Buffer)
    assert variable.size == size
    assert int(variable.handle) != 0
    assert variable.memory_resource is None


def test_variables_are_read_and_written(device, stream, variables):
    table = variables.get_global("table")
    host = LegacyPinnedMemoryResource().allocate(16)
    values = memoryview(host).cast("B").cast("i")
    table.copy_to(host, stream=stream)
    stream.sync()
    assert list(values) == [1, 2, 3, 4]
    values[1] = 40
    table.copy_from(host, stream=stream)
    out = device.allocate(4, stream=stream)
    launch(stream, LaunchConfig(grid=1, block=1), variables.get_kernel("use"), out)
    host_out = LegacyPinnedMemoryResource().allocate(4)
    out.copy_to(host_out, stream=stream)
    stream.sync()
    assert memoryview(host_out).cast("B").cast("f")[0] == 2.5 + 40 + 7


def test_host_reads_and_writes_managed_variables(device, stream, variables):
    variable = variables.get_global("shared_with_host")
    assert (variable.is_managed, variable.is_host_accessible, variable.is_device_accessible) == (True, True, True)
    with memoryview(variable) as view:
        numbers = view.cast("B").cast("i")
        assert numbers[0] == 7
        numbers[0] = 70
        numbers.release()
    out = LegacyPinnedMemoryResource().allocate(4)
    launch(stream, LaunchConfig(grid=1, block=1), variables.get_kernel("use"), out)
    stream.sync()
    assert memoryview(out).cast("B").cast("f")[0] == 2.5 + 2 + 70


def test_variables_keep_the_code_loaded(stream, variables):
    factor = variables.get_global("factor")
    variables.close()
    gc.collect()
    host = LegacyPinnedMemoryResource().allocate(4)
    factor.copy_to(host, stream=stream)
    stream.sync()
    assert memoryview(host).cast("B").cast("f")[0] == 2.5


def test_unknown_variable_error_suggests_a_similar_one(variables):
    with pytest.raises(CUDAError, match=r"compile with name_expressions=\('&scope::facto',\) to get it"):
        variables.get_global("scope::facto")
    with pytest.raises(CUDAError, match=r"NOT_FOUND[^$]*there is no variable 'facto' in .*; did you mean .factor"):
        variables.get_global("facto")


@pytest.mark.requires(cuda=(12, 4))
def test_kernels_of_code_are_listed(device):
    code = compiled("cubin", f"sm_{device.arch}")
    assert {"plain", "saxpy", "nothing", code.symbol_mapping["scale<float>"].decode()} == set(code.kernels)
    with pytest.raises(RuntimeError, match="cannot be loaded to get kernels; link it"):
        ObjectCode.from_ltoir(compiled("ltoir").code).kernels  # noqa: B018


@pytest.mark.requires(software=True)
def test_kernels_that_the_driver_cannot_list(device):
    program = f"""
from cuda.core import *
Device().set_current()
code = Program({SOURCE!r}, "c++").compile("cubin")
try:
    code.kernels
except NotSupportedError as error:
    print(error)
"""
    variables = {"CUDA_EMULATOR_DRIVER_VERSION": "12.3", "CUDA_PYTHON_DISABLE_MAJOR_VERSION_WARNING": "1"}
    assert run(program, **variables).startswith("listing the kernels of code needs a driver for CUDA 12.4 or newer")


def test_resources_of_a_kernel_are_a_table(device):
    kernel = compiled("cubin", f"sm_{device.arch}").get_kernel("saxpy")
    resources = kernel.resources
    assert resources.registers == kernel.attributes.num_regs
    assert resources.shared_memory == 0 and resources.max_threads_per_block > 0
    assert len(str(resources).splitlines()) == 5 and "max threads per block" in str(resources)
