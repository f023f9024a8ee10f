# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Contexts, with results that a CUDA 13.0 driver returned on an H200."""

from concurrent.futures import ThreadPoolExecutor

PRIMARY = """
from cuda.bindings import driver as d
d.cuInit(0)

def name(result):
    return result[0].name.removeprefix("CUDA_").removeprefix("ERROR_")

def value(result):
    assert result[0] == 0, result
    return result[1] if len(result) == 2 else result[1:]
"""


def test_calls_without_context_fail(child):
    child(
        PRIMARY
        + """
assert name(d.cuCtxGetDevice()) == "INVALID_CONTEXT"
assert name(d.cuCtxPopCurrent()) == "INVALID_CONTEXT"
assert name(d.cuMemAlloc(64)) == "INVALID_CONTEXT"
assert name(d.cuDevicePrimaryCtxRelease(1)) == "INVALID_CONTEXT"
assert int(value(d.cuCtxGetCurrent())) == 0
"""
    )


def test_primary_context_keeps_its_handle(child):
    child(
        PRIMARY
        + """
first = value(d.cuDevicePrimaryCtxRetain(1))
assert value(d.cuDevicePrimaryCtxGetState(1)) == (0, 1)
d.cuCtxSetCurrent(first)
assert name(d.cuDevicePrimaryCtxRelease(1)) == "SUCCESS"
assert value(d.cuDevicePrimaryCtxGetState(1)) == (0, 0)
assert name(d.cuMemAlloc(64)) == "CONTEXT_IS_DESTROYED"
assert name(d.cuCtxGetId(d.CUcontext(0))) == "CONTEXT_IS_DESTROYED"
assert int(value(d.cuCtxGetDevice())) == 1
assert int(value(d.cuDevicePrimaryCtxRetain(1))) == int(first)
assert name(d.cuMemFree(value(d.cuMemAlloc(64)))) == "SUCCESS"
"""
    )


def test_reset_frees_the_memory_and_keeps_the_reference_count(child):
    child(
        PRIMARY
        + """
d.cuCtxSetCurrent(value(d.cuDevicePrimaryCtxRetain(0)))
free = value(d.cuMemGetInfo())[0]
value(d.cuMemAlloc(1 << 20))
assert name(d.cuDevicePrimaryCtxReset(0)) == "SUCCESS"
assert name(d.cuCtxSynchronize()) == "CONTEXT_IS_DESTROYED"
value(d.cuDevicePrimaryCtxRetain(0))
assert value(d.cuMemGetInfo())[0] == free
assert [name(d.cuDevicePrimaryCtxRelease(0)) for _ in range(3)] == ["SUCCESS", "SUCCESS", "INVALID_CONTEXT"]
"""
    )


def test_primary_context_flags_can_be_set_while_active(child):
    child(
        PRIMARY
        + """
d.cuCtxSetCurrent(value(d.cuDevicePrimaryCtxRetain(0)))
assert name(d.cuDevicePrimaryCtxSetFlags(0, 4)) == "SUCCESS"
assert value(d.cuDevicePrimaryCtxGetState(0)) == (4, 1)
assert value(d.cuCtxGetFlags()) == 4
assert name(d.cuDevicePrimaryCtxSetFlags(0, 3)) == "INVALID_VALUE"
"""
    )


def test_each_thread_has_a_stack_of_contexts(driver, context):
    other = driver.cuCtxCreate(None, 0, 1)
    assert int(driver.cuCtxGetCurrent()) == int(other)
    with ThreadPoolExecutor(1) as pool:
        assert int(pool.submit(driver.cuCtxGetCurrent).result()) == 0
    assert int(driver.cuCtxPopCurrent()) == int(other)
    assert int(driver.cuCtxGetCurrent()) == int(context)
    driver.cuCtxDestroy(other)


def test_destroying_the_current_context_pops_it(driver, context):
    driver.cuCtxDestroy(driver.cuCtxCreate(None, 0, 0))
    assert int(driver.cuCtxGetCurrent()) == int(context)


def test_destroyed_context_below_the_top_stays_in_the_stack(driver, context):
    other = driver.cuCtxCreate(None, 0, 0)
    driver.cuCtxPushCurrent(context)
    driver.cuCtxDestroy(other)
    driver.cuCtxPopCurrent()
    assert int(driver.cuCtxGetCurrent()) == int(other)
    assert driver.result("cuMemAlloc", 64) == "CONTEXT_IS_DESTROYED"
    assert int(driver.cuCtxGetDevice()) == 0
    assert driver.result("cuCtxDestroy", other) == "CONTEXT_IS_DESTROYED"
    driver.cuCtxPopCurrent()


def test_unknown_handles_are_rejected(driver, context):
    assert driver.result("cuCtxSetCurrent", driver.CUcontext(0x1234)) == "INVALID_CONTEXT"
    assert driver.result("cuCtxPushCurrent", driver.CUcontext(0)) == "INVALID_CONTEXT"
    assert driver.result("cuCtxDestroy", driver.CUcontext(8)) == "INVALID_CONTEXT"


def test_limits_have_defaults_and_can_be_set(driver, context):
    limit = driver.CUlimit
    values = {0: 1024, 1: 8650752, 2: 8388608, 4: 2048, 5: 64}
    assert {n: driver.cuCtxGetLimit(limit(n)) for n in values} == values
    driver.cuCtxSetLimit(limit.CU_LIMIT_STACK_SIZE, 4096)
    assert driver.cuCtxGetLimit(limit.CU_LIMIT_STACK_SIZE) == 4096
    assert driver.result("cuCtxGetLimit", limit.CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH) == "UNSUPPORTED_LIMIT"
    assert driver.result("cuCtxSetLimit", limit.CU_LIMIT_STACK_SIZE, 1 << 40) == "INVALID_VALUE"


def test_priorities_and_api_version_equal_the_drivers(driver, context):
    assert driver.cuCtxGetStreamPriorityRange() == (0, -5)
    assert driver.cuCtxGetApiVersion(context) == 3020


def test_peer_access_is_enabled_and_disabled_once(driver, context):
    peer = driver.cuCtxCreate(None, 0, 1)
    driver.cuCtxPopCurrent()
    assert driver.result("cuCtxEnablePeerAccess", context, 0) == "PEER_ACCESS_UNSUPPORTED"
    assert driver.result("cuCtxDisablePeerAccess", peer) == "PEER_ACCESS_NOT_ENABLED"
    driver.cuCtxEnablePeerAccess(peer, 0)
    assert driver.result("cuCtxEnablePeerAccess", peer, 0) == "PEER_ACCESS_ALREADY_ENABLED"
    driver.cuCtxDisablePeerAccess(peer)
    driver.cuCtxDestroy(peer)
