# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The names in tools, and memory pools as allocators of arrays."""

import io

from cuda.core.driver import gpuarray, tools


def test_all_public_names_have_docstrings():
    for name in tools.__all__:
        assert getattr(tools, name).__doc__, name


def test_pool_can_allocate_the_memory_of_arrays(context):
    pool = tools.DeviceMemoryPool()
    a = gpuarray.GPUArray(1000, "f4", allocator=pool.allocate).fill(1)
    b = a + a
    address = b.ptr
    assert pool.active_blocks == 2 and isinstance(b.gpudata, tools.PooledDeviceAllocation)
    del b
    assert pool.held_blocks == 1 and (a * 3).ptr == address
    assert (a + 1).get().sum() == 2000


def test_debug_memory_pools_log_allocations(context, capsys):
    log = io.StringIO()
    pool = tools.DebugMemoryPool(logfile=log)
    pool.allocate(1000).free()
    memory = pool.allocate(1000)
    lines = log.getvalue().splitlines()
    assert capsys.readouterr().out.splitlines() == lines
    assert len(lines) == 2 and "1000 bytes (new)" in lines[0] and "1000 bytes (reused)" in lines[1]
    silent = tools.DebugMemoryPool(interactive=False)
    silent.allocate(8)
    assert capsys.readouterr().out == "" and len(memory) >= 1000
