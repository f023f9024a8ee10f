# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Green contexts of the software device behave as documented for the driver."""

BEGIN = """
from cuda.bindings import driver as d
d.cuInit(0)
SM, QUEUES = d.CUdevResourceType.CU_DEV_RESOURCE_TYPE_SM, d.CUdevResourceType.CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG
REPORTED = d.CUdevResourceType.CU_DEV_RESOURCE_TYPE_WORKQUEUE

def name(result):
    return result[0].name.removeprefix("CUDA_").removeprefix("ERROR_")

def value(result):
    assert result[0] == 0, result
    return result[1] if len(result) == 2 else result[1:]

whole = value(d.cuDeviceGetDevResource(0, SM))

def split(count, least, flags=0, source=whole):
    groups, made, rest = value(d.cuDevSmResourceSplitByCount(count, source, flags, least))
    return [group.sm.smCount for group in groups[:made]], rest.sm.smCount, groups

def groups(*rows, source=whole, probe=False):
    parameters = []
    for count, together, flags in rows:
        row = d.CU_DEV_SM_RESOURCE_GROUP_PARAMS()
        row.smCount, row.coscheduledSmCount, row.flags = count, together, flags
        parameters.append(row)
    return d.cuDevSmResourceSplit(len(parameters), source, 0, parameters)

def green(*resources, device=0, flags=1):
    description = value(d.cuDevResourceGenerateDesc(list(resources), len(resources)))
    return value(d.cuGreenCtxCreate(description, device, flags))
"""


def test_even_splits_follow_the_architecture(child):
    child(
        BEGIN
        + """
assert (whole.sm.smCount, whole.sm.minSmPartitionSize, whole.sm.smCoscheduledAlignment) == (132, 8, 8)
assert split(2, 1)[:2] == ([8, 8], 116)
assert split(3, 9)[:2] == ([16, 16, 16], 84)
assert split(40, 8)[:2] == ([8] * 16, 4)
assert split(1, 3, flags=1)[:2] == ([4], 128)
assert name(d.cuDevSmResourceSplitByCount(1, whole, 0, 133)) == "INVALID_RESOURCE_CONFIGURATION"
assert name(d.cuDevSmResourceSplitByCount(1, whole, 8, 8)) == "INVALID_VALUE"
part = split(1, 8)[2][0]
assert name(d.cuDevSmResourceSplitByCount(1, part, 0, 8)) == "INVALID_RESOURCE_CONFIGURATION"
"""
    )


def test_groups_can_have_different_sizes(child):
    child(
        BEGIN
        + """
made, rest = value(groups((16, 8, 0), (4, 2, 0), (0, 8, 0)))
assert [group.sm.smCount for group in made] == [16, 4, 112]
assert [group.sm.smCoscheduledAlignment for group in made] == [8, 2, 8]
assert rest.type == d.CUdevResourceType.CU_DEV_RESOURCE_TYPE_INVALID
made, rest = value(groups((10, 8, 1)))
assert (made[0].sm.smCount, made[0].sm.flags, rest.sm.smCount) == (10, 1, 122)
made, rest = value(groups((8, 0, 0), source=rest))
assert rest.sm.smCount == 114
for row in ((10, 8, 0), (9, 0, 0), (134, 0, 0), (32, 64, 0), (16, 3, 0)):
    assert name(groups(row)) == "INVALID_RESOURCE_CONFIGURATION", row
assert name(groups((128, 8, 0), (0, 8, 0))) == "INVALID_RESOURCE_CONFIGURATION"
assert name(groups((8, 8, 16))) == "INVALID_VALUE"
"""
    )


def test_invalid_resources_are_rejected(child):
    child(
        BEGIN
        + """
assert name(d.cuDeviceGetDevResource(9, SM)) == "INVALID_DEVICE"
assert name(d.cuDeviceGetDevResource(0, REPORTED)) == "NOT_SUPPORTED"
assert name(d.cuDevSmResourceSplitByCount(1, d.CUdevResource(), 0, 8)) == "INVALID_RESOURCE_TYPE"
made_up = d.CUdevResource()
made_up.type = SM
assert name(d.cuDevSmResourceSplitByCount(1, made_up, 0, 8)) == "INVALID_VALUE"
first, second = split(2, 8)[2], split(1, 8)[2]
assert name(d.cuDevResourceGenerateDesc([first[0], second[0]], 2)) == "INVALID_RESOURCE_CONFIGURATION"
other = value(d.cuDeviceGetDevResource(1, QUEUES))
assert name(d.cuDevResourceGenerateDesc([first[0], other], 2)) == "INVALID_RESOURCE_CONFIGURATION"
assert name(d.cuDevResourceGenerateDesc([other, other], 2)) == "INVALID_RESOURCE_CONFIGURATION"
described = value(d.cuDevResourceGenerateDesc([first[0]], 1))
assert name(d.cuGreenCtxCreate(described, 1, 1)) == "INVALID_VALUE"
assert name(d.cuGreenCtxCreate(described, 0, 2)) == "INVALID_VALUE"
assert name(d.cuGreenCtxCreate(d.CUdevResourceDesc(), 0, 1)) == "INVALID_VALUE"
"""
    )


def test_work_queues_can_be_configured(child):
    child(
        BEGIN
        + """
queues = value(d.cuDeviceGetDevResource(1, QUEUES))
assert (int(queues.wqConfig.device), queues.wqConfig.wqConcurrencyLimit) == (1, 8)
queues.wqConfig.wqConcurrencyLimit = 3
context = green(queues, device=1)
assert value(d.cuGreenCtxGetDevResource(context, QUEUES)).wqConfig.wqConcurrencyLimit == 3
assert value(d.cuGreenCtxGetDevResource(context, SM)).sm.smCount == 132
queues.wqConfig.wqConcurrencyLimit = 0
assert name(d.cuDevResourceGenerateDesc([queues], 1)) == "INVALID_RESOURCE_CONFIGURATION"
"""
    )


def test_streams_belong_to_their_context(child):
    child(
        BEGIN
        + """
primary = value(d.cuDevicePrimaryCtxRetain(0))
context = green(split(1, 8)[2][0])
handle = value(d.cuCtxFromGreenCtx(context))
assert int(handle) != int(primary)
stream = value(d.cuGreenCtxStreamCreate(context, 1, 0))
assert name(d.cuGreenCtxStreamCreate(context, 0, 0)) == "INVALID_VALUE"
assert int(value(d.cuStreamGetGreenCtx(stream))) == int(context)
assert [int(item) for item in value(d.cuStreamGetCtx_v2(stream))] == [int(primary), int(context)]
assert int(value(d.cuStreamGetCtx(stream))) == int(handle)
assert value(d.cuStreamGetDevResource(stream, SM)).sm.smCount == 8
d.cuCtxSetCurrent(primary)
assert int(value(d.cuStreamGetGreenCtx(0))) == 0
d.cuCtxSetCurrent(handle)
assert int(value(d.cuCtxGetCurrent())) == int(handle)
assert int(value(d.cuStreamGetGreenCtx(0))) == int(context)
assert int(value(d.cuStreamGetGreenCtx(value(d.cuStreamCreate(0))))) == int(context)
assert name(d.cuStreamQuery(d.CUstream(2))) == "INVALID_HANDLE"
assert value(d.cuCtxGetDevResource(handle, SM)).sm.smCount == 8
assert value(d.cuCtxGetDevResource(primary, SM)).sm.smCount == 132
assert value(d.cuGreenCtxGetId(context)) == value(d.cuGreenCtxGetId(d.CUgreenCtx(0)))
assert name(d.cuCtxDestroy(handle)) == "INVALID_CONTEXT"
"""
    )


def test_destroyed_context_detaches_its_streams(child):
    child(
        BEGIN
        + """
primary = value(d.cuDevicePrimaryCtxRetain(0))
context = green(split(1, 8)[2][0])
handle = value(d.cuCtxFromGreenCtx(context))
stream = value(d.cuGreenCtxStreamCreate(context, 1, 0))
assert name(d.cuGreenCtxDestroy(context)) == "SUCCESS"
assert name(d.cuGreenCtxDestroy(context)) == "CONTEXT_IS_DESTROYED"
assert name(d.cuCtxFromGreenCtx(context)) == "CONTEXT_IS_DESTROYED"
assert name(d.cuStreamSynchronize(stream)) == "STREAM_DETACHED"
assert name(d.cuStreamDestroy(stream)) == "SUCCESS"
assert name(d.cuCtxPushCurrent(handle)) != "SUCCESS"
assert value(d.cuDevicePrimaryCtxGetState(0))[1] == 1
d.cuDevicePrimaryCtxRelease(0)
assert value(d.cuDevicePrimaryCtxGetState(0))[1] == 0
"""
    )


def test_green_context_retains_the_primary_one(child):
    child(
        BEGIN
        + """
context = green(split(1, 8)[2][0])
assert value(d.cuDevicePrimaryCtxGetState(0))[1] == 1
handle = value(d.cuCtxFromGreenCtx(context))
d.cuCtxSetCurrent(handle)
memory = value(d.cuMemAlloc(64))
primary = value(d.cuDevicePrimaryCtxRetain(0))
d.cuCtxSetCurrent(primary)
assert name(d.cuMemFree(memory)) == "SUCCESS"
d.cuDevicePrimaryCtxReset(0)
assert name(d.cuCtxFromGreenCtx(context)) == "CONTEXT_IS_DESTROYED"
"""
    )


def test_contexts_record_and_wait_for_events(child):
    child(
        BEGIN
        + """
import ctypes, threading
context = green(split(1, 8)[2][0])
d.cuCtxSetCurrent(value(d.cuCtxFromGreenCtx(context)))
stream, other = (value(d.cuGreenCtxStreamCreate(context, 1, 0)) for _ in range(2))
go, ran = threading.Event(), []
hold = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: go.wait(20))
mark = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: ran.append(1))
def host(stream, function):
    assert name(d.cuLaunchHostFunc(stream, ctypes.cast(function, ctypes.c_void_p).value, 0)) == "SUCCESS"
host(stream, hold)
event = value(d.cuEventCreate(2))
assert name(d.cuGreenCtxRecordEvent(context, event)) == "SUCCESS"
assert name(d.cuEventQuery(event)) == "NOT_READY"
later = green(split(1, 8)[2][0])
before = value(d.cuGreenCtxStreamCreate(later, 1, 0))
assert name(d.cuGreenCtxWaitEvent(later, event)) == "SUCCESS"
after = value(d.cuGreenCtxStreamCreate(later, 1, 0))
for waiting in (before, after):
    host(waiting, mark)
    assert name(d.cuStreamQuery(waiting)) == "NOT_READY"
assert ran == []
go.set()
for waiting in (before, after):
    d.cuStreamSynchronize(waiting)
assert ran == [1, 1]
assert name(d.cuEventQuery(event)) == "SUCCESS"
d.cuStreamBeginCapture(stream, d.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED)
assert name(d.cuGreenCtxRecordEvent(context, event)) == "STREAM_CAPTURE_UNSUPPORTED"
assert name(d.cuGreenCtxWaitEvent(context, event)) == "STREAM_CAPTURE_INVALIDATED"
"""
    )


def test_primary_context_event_waits_for_all_streams(child):
    child(
        BEGIN
        + """
import ctypes, threading
primary = value(d.cuDevicePrimaryCtxRetain(0))
d.cuCtxSetCurrent(primary)
context = green(split(1, 8)[2][0])
go = threading.Event()
hold = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: go.wait(20))
event = value(d.cuEventCreate(2))
for make in (
    lambda: value(d.cuStreamCreate(1)), lambda: value(d.cuGreenCtxStreamCreate(context, 1, 0)),
    lambda: d.CUstream(1), lambda: d.CUstream(2),
):
    go.clear()
    stream = make()
    assert name(d.cuLaunchHostFunc(stream, ctypes.cast(hold, ctypes.c_void_p).value, 0)) == "SUCCESS"
    if int(stream) > 2:
        d.cuStreamDestroy(stream)
    assert name(d.cuCtxRecordEvent(primary, event)) == "SUCCESS"
    assert name(d.cuEventQuery(event)) == "NOT_READY"
    go.set()
    assert name(d.cuEventSynchronize(event)) == "SUCCESS" == name(d.cuEventQuery(event))
stream = value(d.cuStreamCreate(1))
d.cuStreamBeginCapture(stream, d.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED)
assert name(d.cuCtxRecordEvent(primary, event)) == "STREAM_CAPTURE_UNSUPPORTED"
assert name(d.cuStreamEndCapture(stream)) == "STREAM_CAPTURE_INVALIDATED"
"""
    )


def test_older_drivers_have_no_work_queues(child):
    child(
        BEGIN
        + """
assert name(d.cuDeviceGetDevResource(0, QUEUES)) == "INVALID_RESOURCE_TYPE"
""",
        DRIVER_VERSION="13.0",
    )


def test_captured_kernels_stay_on_their_multiprocessors(child):
    child(
        BEGIN
        + """
import ctypes
import numpy as np
from support.compiled import Program

source = '''extern "C" __global__ void where(unsigned* out)
{ asm volatile("mov.u32 %0, %smid;" : "=r"(out[blockIdx.x])); }'''
context = green(split(1, 8)[2][0])
d.cuCtxSetCurrent(value(d.cuCtxFromGreenCtx(context)))
library = value(d.cuLibraryLoadData(Program(source, "-arch=sm_90").image, [], [], 0, [], [], 0))
kernel = d.CUfunction(int(value(d.cuLibraryGetKernel(library, b"where"))))
memory = value(d.cuMemAlloc(4 * 512))
stream = value(d.cuGreenCtxStreamCreate(context, 1, 0))
d.cuStreamBeginCapture(stream, d.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED)
d.cuLaunchKernel(kernel, 512, 1, 1, 32, 1, 1, 0, stream, ((int(memory),), (ctypes.c_void_p,)), 0)
graph = value(d.cuGraphInstantiate(value(d.cuStreamEndCapture(stream)), 0))
d.cuCtxSetCurrent(value(d.cuDevicePrimaryCtxRetain(0)))
plain = value(d.cuStreamCreate(1))
value((*d.cuGraphLaunch(graph, plain), 0))
value((*d.cuStreamSynchronize(plain), 0))
out = np.zeros(512, np.uint32)
value((*d.cuMemcpyDtoH(out, memory, out.nbytes), 0))
assert set(out.tolist()) == set(range(8)), set(out.tolist())
"""
    )


def test_all_multiprocessors_are_in_the_only_domain(child):
    child(
        BEGIN
        + """
flags = d.CUdevSmResourceGroup_flags
IN = int(flags.CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_ID)
MORE = int(flags.CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_SUPPLEMENTAL_SMS)
kinds = d.CUdevice_attribute
assert value(d.cuDeviceGetAttribute(kinds.CU_DEVICE_ATTRIBUTE_LOCALITY_DOMAIN_COUNT, 0)) == 1
assert value(d.cuDeviceGetAttribute(kinds.CU_DEVICE_ATTRIBUTE_LOCALITY_DOMAIN_MULTIPROCESSOR_COUNT, 0)) == 132

def in_domain(domain, flags):
    row = d.CU_DEV_SM_RESOURCE_GROUP_PARAMS()
    row.smCount, row.flags, row.localityDomainId = 8, flags, domain
    return d.cuDevSmResourceSplit(1, whole, 0, [row])

for domain in (0, 0xFFFFFFFF):
    for more in (0, MORE):
        (made,), rest = value(in_domain(domain, IN | more))[:2]
        assert (made.sm.smCount, made.sm.flags, made.sm.localityDomainId) == (8, IN | more, domain)
        assert rest.sm.flags == 0
assert name(in_domain(1, IN)) == "INVALID_RESOURCE_CONFIGURATION"
assert name(in_domain(0, MORE)) == "INVALID_VALUE"
"""
    )


def test_domains_need_a_new_driver(child):
    child(
        BEGIN
        + """
assert name(groups((8, 8, 2))) == "INVALID_VALUE"
props = d.CUmemPoolProps()
props.allocType = d.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
props.location.type = d.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE_LOCALITY_DOMAIN
assert name(d.cuMemPoolCreate(props)) == "INVALID_VALUE"
""",
        DRIVER_VERSION="13.3",
    )
