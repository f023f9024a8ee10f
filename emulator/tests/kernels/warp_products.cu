// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include <mma.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>

using namespace nvcuda;

// out = scale * (a * b) + c, each matrix of one fragment: a by rows, b by columns.
template <int M, int N, int K, class T, class Sum, class Stored>
__global__ void product(const Stored* a, const Stored* b, const Sum* c, Sum* out, Sum scale)
{
    wmma::fragment<wmma::matrix_a, M, N, K, T, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, M, N, K, T, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, M, N, K, Sum> sum, start;
    wmma::load_matrix_sync(left, a, K);
    wmma::load_matrix_sync(right, b, K);
    wmma::load_matrix_sync(start, c, N, wmma::mem_row_major);
    wmma::fill_fragment(sum, Sum(0));
    wmma::mma_sync(sum, left, right, sum);
    for (int i = 0; i < sum.num_elements; ++i)
        sum.x[i] = scale * sum.x[i] + start.x[i];
    wmma::store_matrix_sync(out, sum, N, wmma::mem_row_major);
}

template <class T> __global__ void saturated(const unsigned* a, const unsigned* b, int* out, int start)
{
    wmma::fragment<wmma::matrix_a, 8, 8, 32, T, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 8, 8, 32, T, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 8, 8, 32, int> sum;
    wmma::load_matrix_sync(left, a, 32);
    wmma::load_matrix_sync(right, b, 32);
    wmma::fill_fragment(sum, start);
    wmma::mma_sync(sum, left, right, sum, true);
    wmma::store_matrix_sync(out, sum, 8, wmma::mem_row_major);
}

// The number of bits that both have, or that differ, plus 5.
extern "C" __global__ void bits(const unsigned* a, const unsigned* b, int* out, int is_and)
{
    wmma::fragment<wmma::matrix_a, 8, 8, 128, wmma::experimental::precision::b1, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 8, 8, 128, wmma::experimental::precision::b1, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 8, 8, 128, int> sum;
    static_assert(left.num_elements == 32 && left.num_storage_elements == 1, "one word");
    wmma::load_matrix_sync(left, a, 128);
    wmma::load_matrix_sync(right, b, 128);
    wmma::fill_fragment(sum, 5);
    if (is_and)
        wmma::bmma_sync(sum, left, right, sum, wmma::experimental::bmmaBitOpAND,
                        wmma::experimental::bmmaAccumulateOpPOPC);
    else
        wmma::bmma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(out, sum, 8, wmma::mem_col_major);
}

// The product of square matrices by rows, one warp for each tile of the result.
extern "C" __global__ void tiled_warps(const half* a, const half* b, float* c, int n)
{
    int warp = threadIdx.x / 32, row = blockIdx.y * 16, column = (blockIdx.x * (blockDim.x / 32) + warp) * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < n; k += 16) {
        wmma::load_matrix_sync(left, a + row * n + k, n);
        wmma::load_matrix_sync(right, b + k * n + column, n);
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(c + column * n + row, sum, n, wmma::mem_col_major);
}
