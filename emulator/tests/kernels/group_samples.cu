// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Cooperative groups as in samples and textbooks.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
using namespace cooperative_groups;

template <typename T> struct MaxOp { __device__ __forceinline__ T operator()(const T& a, const T& b) const { return a > b ? a : b; } };
__device__ __forceinline__ int addf(int a, int b) { return a + b; }
static __device__ __forceinline__ float maxf(float a, float b) { return fmaxf(a,b); }
struct __align__(8) MD { float m; float d; };
__device__ __forceinline__ MD reduce_md_op(MD a, MD b) { bool big = a.m > b.m; MD x = big ? a : b, y = big ? b : a; MD r; r.m = x.m; r.d = x.d + y.d * __expf(y.m - x.m); return r; }

extern "C" __global__ void reductions(const int* in, int* out) {
  cg::thread_block cta = cg::this_thread_block();
  cg::thread_block_tile<32> tile32 = cg::tiled_partition<32>(cta);
  int v = in[cta.thread_rank()];
  out[0*256+threadIdx.x] = cg::reduce(tile32, v, addf);
  out[1*256+threadIdx.x] = cg::reduce(tile32, v, MaxOp<int>());
  out[2*256+threadIdx.x] = cg::inclusive_scan(tile32, v, addf);
  out[3*256+threadIdx.x] = cg::exclusive_scan(tile32, v, addf);
  out[4*256+threadIdx.x] = cg::exclusive_scan(tile32, v);
  out[5*256+threadIdx.x] = cg::reduce(tile32, v, [](int a, int b) { return a < b ? a : b; });
  MaxOp<int> op; const int cv = v;
  out[6*256+threadIdx.x] = cg::reduce(tile32, cv, op);
  MD md; md.m = v; md.d = 1.f;
  MD r = cg::reduce(tile32, md, reduce_md_op);
  out[7*256+threadIdx.x] = (int)r.m;
  float f = cg::reduce(tile32, (float)v, maxf);
  out[8*256+threadIdx.x] = (int)f;
  cg::thread_block_tile<8> t8 = cg::tiled_partition<8>(tile32);
  out[9*256+threadIdx.x] = t8.meta_group_rank()*100 + t8.meta_group_size();
  out[10*256+threadIdx.x] = cg::reduce(t8, v, cg::greater<int>()) + cg::reduce(t8, v, cg::less<int>()) + cg::reduce(t8, v, cg::bit_xor<int>());
}
__device__ int sum_group(cg::thread_group g, int* temp, int val) {
  int lane = g.thread_rank();
  for (int i = g.size() / 2; i > 0; i /= 2) {
    temp[lane] = val; g.sync();
    if (lane < i) val += temp[lane + i];
    g.sync();
  }
  return val;
}
__device__ int atomicAggInc(int *ctr) {
  cg::coalesced_group active = cg::coalesced_threads();
  int mask = active.ballot(1);
  int leader = __ffs(mask) - 1;
  int res;
  if (active.thread_rank() == leader) res = atomicAdd(ctr, active.size());
  res = active.shfl(res, leader);
  return res + active.thread_rank();
}
extern "C" __global__ void thread_groups(const int* in, int* out, int* ctr) {
  __shared__ int temp[256];
  auto g = this_thread_block();
  int s = sum_group(g, temp, in[threadIdx.x]);
  g.sync();
  if (g.thread_rank() == 0) out[0] = s;
  auto tileIdx = g.thread_rank() / 32;
  int* t = &temp[32 * tileIdx];
  auto tile32 = tiled_partition(g, 32);
  s = sum_group(tile32, t, in[threadIdx.x]);
  if (tile32.thread_rank() == 0) out[1 + tileIdx] = s;
  thread_group tile4 = tiled_partition(tile32, 4);
  if (tile4.thread_rank() == 0) out[16 + threadIdx.x / 4] = tile4.size();
  if (in[threadIdx.x] & 1) out[100 + atomicAggInc(ctr)] = in[threadIdx.x];
  cg::sync(g);
}
template <int B> __device__ void copytile(const int* in, int* out) {
  __shared__ int buf[B];
  auto block = cg::this_thread_block();
  for (int i = 0; i < 2; ++i) {
    cg::memcpy_async(block, buf, in + i * B, sizeof(int) * B);
    cg::wait(block);
    out[i * B + block.thread_rank()] = buf[B - 1 - block.thread_rank()];
    block.sync();
  }
}
extern "C" __global__ void partitions(const int* in, int* out) {
  copytile<128>(in, out);
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  auto lab = cg::labeled_partition(tile, in[threadIdx.x] % 3);
  out[256 + threadIdx.x] = cg::reduce(lab, in[threadIdx.x], cg::plus<int>());
  auto bin = cg::binary_partition(tile, in[threadIdx.x] % 2 == 0);
  out[384 + threadIdx.x] = bin.size() * 100 + bin.thread_rank();
  int x = cg::invoke_one_broadcast(tile, [&] { return in[threadIdx.x]; });
  cg::invoke_one(block, [&] { out[640] = 77; });
  out[512 + threadIdx.x] = x;
}
