# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Devices, contexts, and the stack of each thread."""

import pickle

import pytest

import cuda.core
import cuda.core.driver as drv
import cuda.emulator
from support.contexts import current_context, foreign_context, no_context
from support.interpreter import run
from support.threads import COUNT, in_thread, run_in_threads


@pytest.fixture
def bare(device):
    """No context is current on this thread."""
    with no_context():
        assert drv.Context.get_current() is None
        yield


# --- Devices ---------------------------------------------------------------------------------------


def test_device_reports_its_properties(device):
    dev = drv.Device(0)
    assert drv.Device.count() == len(cuda.core.Device.get_all_devices())
    assert dev.name() == device.name and dev.pci_bus_id() == device.pci_bus_id
    assert dev.compute_capability() == tuple(device.compute_capability)
    assert dev.total_memory() > 0
    assert device.name in repr(dev)


def test_device_is_found_by_its_pci_bus_id(device):
    assert drv.Device(drv.Device(0).pci_bus_id()) == drv.Device(0)


def test_devices_compare_by_their_ordinals(device):
    assert drv.Device(0) == drv.Device(0) and hash(drv.Device(0)) == hash(drv.Device(0))
    assert drv.Device(0) != 0


@pytest.mark.parametrize("ordinal", [-1, 1000])
def test_invalid_ordinal_raises_logic_error(device, ordinal):
    with pytest.raises(drv.LogicError, match="invalid device ordinal"):
        drv.Device(ordinal)


def test_device_needs_an_ordinal_or_a_pci_bus_id(device):
    with pytest.raises(TypeError):
        drv.Device(None)
    with pytest.raises(drv.LogicError):
        drv.Device("nowhere")


def test_attributes_are_read_by_member_number_or_name(device):
    dev = drv.Device(0)
    assert dev.get_attribute(drv.device_attribute.WARP_SIZE) == dev.get_attribute(10) == dev.warp_size == 32
    assert isinstance(dev.get_attribute(drv.device_attribute.COMPUTE_MODE), drv.compute_mode)
    with pytest.raises(AttributeError, match="no_such_thing"):
        dev.no_such_thing  # noqa: B018
    with pytest.raises(drv.LogicError, match="99999 is not a device_attribute"):
        dev.get_attribute(99999)


@pytest.mark.filterwarnings("ignore:the driver rejects these attributes:UserWarning")
def test_get_attributes_returns_all_attributes_by_member(device):
    attributes = {str(key): value for key, value in drv.Device(0).get_attributes().items()}
    assert attributes["WARP_SIZE"] == 32
    assert attributes["MAX_THREADS_PER_BLOCK"] == device.properties.max_threads_per_block


@pytest.mark.requires(software=True)
def test_rejected_attributes_are_named_in_a_warning(device):
    rejected = cuda.emulator.fail("cuDeviceGetAttribute", "CUDA_ERROR_INVALID_VALUE")
    with rejected, pytest.warns(UserWarning, match="WARP_SIZE"):
        assert drv.Device(0).get_attributes() == {}


def test_peers_are_devices(device):
    assert drv.Device(0).can_access_peer(drv.Device(0)) is True
    with pytest.raises(TypeError, match="dev must be a Device"):
        drv.Device(0).can_access_peer(0)


# --- The stack -------------------------------------------------------------------------------------


def test_new_context_is_current_until_it_is_popped(bare):
    context = drv.Device(0).make_context()
    assert drv.Context.get_current() is context
    assert current_context() == context.handle
    assert drv.Context.get_device() == drv.Device(0)
    assert drv.Context.pop() is context
    assert drv.Context.get_current() is None and current_context() == 0
    context.detach()


def test_constructor_matches_make_context(bare):
    context = drv.Context(drv.Device(0), drv.ctx_flags.SCHED_AUTO)
    assert drv.Context.get_current() is context
    context.detach()
    with pytest.raises(TypeError, match="dev must be a Device"):
        drv.Context(0)


def test_current_context_methods_work_on_class_and_instance(context):
    assert context.get_device() == drv.Context.get_device()
    assert context.get_current() is drv.Context.get_current() is context
    context.synchronize()
    drv.Context.synchronize()
    assert context.pop() is context


def test_context_may_be_on_a_stack_several_times(bare):
    context = drv.Device(0).make_context()
    context.push()
    assert drv.Context.pop() is context
    assert drv.Context.get_current() is context
    drv.Context.pop()
    assert drv.Context.get_current() is None
    context.detach()


def test_popping_restores_the_previously_current_context(device):
    before = current_context()
    context = drv.Device(drv.Device.count() - 1).make_context()
    context.pop()
    assert current_context() == before
    context.detach()


def test_context_made_in_one_thread_is_used_in_another(bare):
    context = drv.Device(0).make_context()
    drv.Context.pop()

    def work():
        assert drv.Context.get_current() is None
        context.push()
        try:
            memory = drv.mem_alloc(16)
            drv.memset_d8(memory, 7, 16)
            return drv.from_device(memory, 16, "u1").tolist()
        finally:
            context.pop()

    assert in_thread(work) == [7] * 16
    context.detach()


def test_popping_an_empty_stack_raises_logic_error(device):
    with pytest.raises(drv.LogicError, match="invalid device context - this thread's context stack is empty"):
        in_thread(drv.Context.pop)


def test_creating_objects_without_a_context_raises_logic_error(bare):
    for make in (drv.Stream, drv.Event, lambda: drv.mem_alloc(4), drv.Context.get_device, drv.Context.synchronize):
        with pytest.raises(drv.LogicError, match="invalid device context"):
            make()


def test_context_of_another_library_is_used_where_stack_is_empty(device):
    context = drv.Context.get_current()
    assert context.handle == int(device.context.handle)
    memory = drv.mem_alloc(8)
    drv.memset_d8(memory, 1, 8)
    assert drv.from_device(memory, 8, "u1").sum() == 8


@pytest.mark.requires(cuda=(12, 9))
def test_foreign_context_is_attached(bare):
    with foreign_context() as foreign:
        device = cuda.core.Device(0)
        device.set_current(foreign)
        context = drv.Context.attach()
        assert context.handle == int(foreign.handle)
        context.synchronize()
        context.detach()


def test_attaching_needs_a_context(bare):
    with pytest.raises(drv.LogicError, match="no context is current"):
        drv.Context.attach()


# --- Detaching -------------------------------------------------------------------------------------


def test_detaching_a_context_invalidates_its_objects(bare):
    below = drv.Device(0).make_context()
    context = drv.Device(0).make_context()
    context.push()
    memory, stream, event = drv.mem_alloc(16), drv.Stream(), drv.Event()
    context.detach()
    assert drv.Context.get_current() is below
    for use in (
        lambda: drv.memset_d8(memory, 0, 1), memory.free, stream.synchronize, event.query, context.push,
        context.detach, lambda: context.handle, context.get_api_version,
    ):  # fmt: skip
        with pytest.raises(drv.LogicError):
            use()
    below.detach()
    assert drv.Context.get_current() is None


def test_contexts_of_one_device_share_memory(bare):
    first, second = drv.Device(0).make_context(), drv.Device(0).make_context()
    assert first == second and hash(first) == hash(second) and first is not second
    memory = drv.mem_alloc(4)
    first.detach()
    drv.memset_d8(memory, 3, 4)
    assert drv.from_device(memory, 4, "u1").tolist() == [3] * 4
    second.detach()


def test_context_detached_in_another_thread_leaves_this_stack(bare):
    context = drv.Device(0).make_context()
    in_thread(context.detach)
    assert drv.Context.get_current() is None
    with pytest.raises(drv.LogicError):
        drv.Context.pop()


def test_primary_context_is_retained_without_becoming_current(bare):
    context = drv.Device(0).retain_primary_context()
    assert drv.Context.get_current() is None and current_context() == 0
    context.push()
    assert drv.Context.get_current() is context
    context.pop()
    context.detach()


@pytest.mark.requires(device=True)
def test_exiting_with_a_context_on_the_stack_prints_nothing():
    code = (
        "import threading, cuda.core.driver as drv\n"
        "context = drv.Device(0).make_context()\n"
        "thread = threading.Thread(target=lambda: (context.push(), drv.mem_alloc(4)))\n"
        "thread.start(); thread.join()\n"
        "memory = drv.mem_alloc(4); stream = drv.Stream()\n"
        "print('end')"
    )
    assert run(code) == "end\n"


def test_threads_have_separate_stacks(bare):
    contexts = []

    def work(_):
        mine = drv.Device(0).make_context()
        contexts.append(mine)
        for _ in range(50):
            assert drv.Context.get_current() is mine
            mine.push()
            assert drv.Context.pop() is mine
        mine.detach()
        assert drv.Context.get_current() is None

    assert run_in_threads(work) == []
    assert len(set(map(id, contexts))) == COUNT


# --- Settings --------------------------------------------------------------------------------------


def test_limits_are_set_and_read(context):
    size = drv.Context.get_limit(drv.limit.STACK_SIZE)
    assert size > 0
    drv.Context.set_limit(drv.limit.STACK_SIZE, size)
    assert drv.Context.get_limit(0) == size
    with pytest.raises(drv.LogicError, match="99 is not a limit"):
        drv.Context.get_limit(99)


def test_cache_and_banks_are_configured(context):
    drv.Context.set_cache_config(drv.func_cache.PREFER_NONE)
    assert drv.Context.get_cache_config() is drv.func_cache.PREFER_NONE
    drv.Context.set_shared_config(drv.shared_config.DEFAULT_BANK_SIZE)
    assert drv.Context.get_shared_config() is drv.shared_config.FOUR_BYTE_BANK_SIZE
    with pytest.raises(drv.LogicError, match="7 is not a shared_config"):
        drv.Context.set_shared_config(7)


def test_context_reports_its_version_handle_and_device(context):
    assert context.get_api_version() > 0 and context.handle == int(drv.Context.get_current().handle) != 0
    assert "device 0" in repr(context)
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(context)


@pytest.mark.requires(devices=2)
def test_contexts_reach_memory_of_peers(bare):
    if not drv.Device(0).can_access_peer(drv.Device(1)):
        with pytest.raises(drv.Error):
            drv.Context.enable_peer_access(drv.Device(1).retain_primary_context())
        return
    peer = drv.Device(1).retain_primary_context()
    context = drv.Device(0).make_context()
    drv.Context.enable_peer_access(peer)
    drv.Context.disable_peer_access(peer)
    with pytest.raises(TypeError, match="context must be a Context"):
        drv.Context.enable_peer_access(1)
    context.detach()
    peer.detach()


def test_enum_members_are_found_by_their_values(context):
    assert drv.Context.get_limit(1) == drv.Context.get_limit(drv.limit.PRINTF_FIFO_SIZE) > 0


@pytest.mark.parametrize(
    "use",
    [
        "drv.mem_alloc(4)",
        "drv.to_device(numpy.zeros(4))",
        "drv.Stream()",
        "drv.Event()",
        "drv.pagelocked_empty(4, 'f')",
        "drv.Context.synchronize()",
        "SourceModule('__global__ void f() {}')",
        "gpuarray.zeros(4, 'f')",
    ],
)
def test_program_without_a_context_is_told_to_create_one(use):
    program = f"""
import numpy
import cuda.core.driver as drv
from cuda.core.driver import gpuarray
from cuda.core.driver.compiler import SourceModule
try:
    {use}
except drv.LogicError as error:
    print(error)
"""
    line = run(program)
    assert line.endswith("create a context, or import autoinit\n")
    assert "fork" not in line


def test_device_attributes_have_upper_case_names(device):
    dev = drv.Device(0)
    names = ("MAX_THREADS_PER_BLOCK", "MULTIPROCESSOR_COUNT", "MAX_GRID_DIM_X", "WARP_SIZE", "REGISTERS_PER_BLOCK")
    for name in names:
        value = dev.get_attribute(getattr(drv.device_attribute, name))
        assert getattr(dev, name) == getattr(dev, name.lower()) == value
    for name in ("Warp_Size", "NO_SUCH_NAME", "_WARP_SIZE"):
        with pytest.raises(AttributeError, match=name):
            getattr(dev, name)
