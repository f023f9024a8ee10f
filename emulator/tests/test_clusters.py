# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Clusters of blocks: their indices, their barrier, and the shared memory of other blocks."""

import ctypes

import numpy as np
import pytest

from support.compiled import Program

SOURCE = r"""
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" {
__global__ void places(unsigned int* x)
{
    cg::cluster_group cluster = cg::this_cluster();
    unsigned int block = blockIdx.x + gridDim.x * blockIdx.y, own;
    asm("mov.u32 %0, %cluster_ctarank;" : "=r"(own));
    if (threadIdx.x == 0)
        x[block] = own + 100 * cluster.num_blocks() + 10000 * (__clusterIdx().x + 10 * __clusterIdx().y)
                   + 1000000 * (cluster.block_rank() != cluster.block_index().x
                                                        + cluster.dim_blocks().x * cluster.block_index().y);
}
__global__ void __cluster_dims__(4, 1, 1) rotate(int* x)
{
    __shared__ int fixed[32];
    extern __shared__ int dynamic[];
    cg::cluster_group cluster = cg::this_cluster();
    int i = threadIdx.x, sum = 0, next = (cluster.block_rank() + 1) % cluster.num_blocks();
    for (int round = 0; round < 5; ++round) {
        fixed[i] = round * 1000 + blockIdx.x * 32 + i;
        dynamic[31 - i] = fixed[i] * 2;
        cluster.sync();
        sum += cluster.map_shared_rank(fixed, next)[i] + cluster.map_shared_rank(&dynamic[0], next)[31 - i];
        cluster.sync();
    }
    x[blockIdx.x * 32 + i] = sum;
}
__global__ void early(int* x)
{
    cg::cluster_group cluster = cg::this_cluster();
    if (cluster.block_rank() == 1 || threadIdx.x > 5) return;
    auto token = cluster.barrier_arrive();
    x[blockIdx.x] = 1;
    cluster.barrier_wait(token);
}
__global__ void behind(int* x)
{
    __shared__ int fixed[32];
    cg::this_cluster().sync();
    x[0] = cg::this_cluster().map_shared_rank(fixed, 1)[32];
    cg::this_cluster().sync();
}
}
"""


@pytest.fixture(scope="module")
def program(driver):
    return Program(SOURCE, "-arch=sm_90")


@pytest.fixture
def library(driver, context, program):
    library = driver.cuLibraryLoadData(program.image, [], [], 0, [], [], 0)
    yield library
    driver.cuLibraryUnload(library)


def config(driver, grid, block, cluster=None, shared=0):
    config = driver.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = (*grid, 1, 1)[:3]
    config.blockDimX, config.blockDimY, config.blockDimZ = block, 1, 1
    config.sharedMemBytes, config.hStream = shared, 0
    if cluster:
        attribute = driver.CUlaunchAttribute()
        attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        size = attribute.value.clusterDim
        size.x, size.y, size.z = (*cluster, 1, 1)[:3]
        attribute.value.clusterDim = size
        config.attrs, config.numAttrs = [attribute], 1
    return config


def run(driver, library, name, array, *shape, **options):
    kernel = driver.CUfunction(int(driver.cuLibraryGetKernel(library, name)))
    pointer = driver.cuMemAlloc(array.nbytes)
    try:
        driver.cuLaunchKernelEx(config(driver, *shape, **options), kernel, ((int(pointer),), (ctypes.c_void_p,)), 0)
        driver.cuCtxSynchronize()
        driver.cuMemcpyDtoH(array.ctypes.data, pointer, array.nbytes)
    finally:
        driver.raw.cuMemFree(pointer)
    return array


@pytest.mark.parametrize("cluster", [(2, 1), (2, 2), (2, 3), (8, 1)])
def test_blocks_read_their_index_in_cluster(driver, library, cluster):
    found = run(driver, library, b"places", np.zeros((6, 8), np.uint32), (8, 6), 33, cluster=cluster)
    (w, h), (y, x) = cluster, np.indices(found.shape)
    assert (found == (x % w + w * (y % h)) + 100 * w * h + 10000 * (x // w + 10 * (y // h))).all()


@pytest.mark.parametrize("blocks", [4, 64])
def test_blocks_read_each_others_shared_memory_between_barriers(driver, library, blocks):
    found = run(driver, library, b"rotate", np.zeros(blocks * 32, np.int32), (blocks,), 32, shared=128)
    block, i = np.divmod(np.arange(blocks * 32), 32)
    neighbor = block // 4 * 4 + (block + 1) % 4
    assert (found == 3 * (5 * (neighbor * 32 + i) + 10000)).all()


def test_barrier_does_not_wait_for_ended_threads(driver, library):
    found = run(driver, library, b"early", np.zeros(6, np.int32), (6,), 64, cluster=(3,))
    assert found.tolist()[0::3] + found.tolist()[2::3] == [1] * 4


def test_access_past_another_blocks_shared_memory_is_reported(driver, library):
    with pytest.raises(driver.Error, match="ILLEGAL_ADDRESS"):
        run(driver, library, b"behind", np.zeros(1, np.int32), (2,), 1, cluster=(2,))


def test_launch_rejects_invalid_cluster_sizes(driver, library):
    kernel = driver.CUfunction(int(driver.cuLibraryGetKernel(library, b"places")))
    arguments = ((0,), (ctypes.c_void_p,)), 0
    assert driver.result("cuLaunchKernelEx", config(driver, (5,), 1, (2,)), kernel, *arguments) == "INVALID_VALUE"
    assert (
        driver.result("cuLaunchKernelEx", config(driver, (16,), 1, (16,)), kernel, *arguments) == "INVALID_CLUSTER_SIZE"
    )


def test_larger_clusters_have_lower_occupancy(driver, library):
    kernel = driver.CUfunction(int(driver.cuLibraryGetKernel(library, b"places")))
    assert driver.cuOccupancyMaxPotentialClusterSize(kernel, config(driver, (16,), 128)) == 8
    attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
    counts = [driver.cuOccupancyMaxActiveClusters(kernel, config(driver, (16,), 1024, (n,))) for n in (2, 4, 8)]
    assert counts == sorted(counts, reverse=True)
    assert counts[2] > 0
    driver.cuFuncSetAttribute(kernel, attribute, 1)
    assert driver.cuOccupancyMaxPotentialClusterSize(kernel, config(driver, (16,), 128)) == 16
    driver.cuFuncSetAttribute(kernel, attribute, 0)


def test_occupancy_without_cluster_size_counts_single_blocks(driver, library):
    kernel = driver.CUfunction(int(driver.cuLibraryGetKernel(library, b"places")))
    alone = driver.cuOccupancyMaxActiveClusters(kernel, config(driver, (16,), 1024))
    assert alone == driver.cuOccupancyMaxActiveClusters(kernel, config(driver, (16,), 1024, (1,)))
    assert alone == 2 * 132


def test_occupancy_uses_required_cluster_size_of_function(driver, library):
    kernel = driver.CUfunction(int(driver.cuLibraryGetKernel(library, b"places")))
    attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH
    driver.cuFuncSetAttribute(kernel, attribute, 4)
    counts = [driver.cuOccupancyMaxActiveClusters(kernel, config(driver, (16,), 1024, *row)) for row in ((), ((4,),))]
    assert counts[0] == counts[1] < 132
