// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Templates, classes and namespaces as samples and course work write them, with most of the language.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iostream>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>
#include <cooperative_groups.h>
#include <mma.h>
#include <cuda/std/limits>
namespace cg = cooperative_groups;
using namespace nvcuda;

#define KERNEL_LENGTH 5
enum { RADIUS = 2 };
enum class Mode : int { Add, Mul };
typedef float (*op_t)(float, float);
using real = float;
template <typename T> using Ptr = T*;
const int N = 1 << 10;
static const float half_of = 0.5f;
constexpr int BLOCK = 16, WARPS = BLOCK / 4;
static float h_data[N];
std::vector<int> global_vector;
int runtime_value = 4;
const int from_runtime = runtime_value * 2; // a constant of the host alone
std::mutex lock;
int counter;

template <class T> constexpr T braced{3};
__constant__ float d_Kernel[KERNEL_LENGTH];
extern "C" void setKernel(const float* h) { cudaMemcpyToSymbol(d_Kernel, h, KERNEL_LENGTH * sizeof(float)); }

template <class T> struct SharedMemory {
    __device__ inline operator T*()
    {
        extern __shared__ int __smem[];
        return (T*)__smem;
    }
    __device__ inline operator const T*() const
    {
        extern __shared__ int __smem[];
        return (T*)__smem;
    }
};
template <> struct SharedMemory<double> {
    __device__ inline operator double*()
    {
        extern __shared__ double __smem_d[];
        return (double*)__smem_d;
    }
};
template <class T, unsigned int blockSize, bool nIsPow2> __global__ void reduce(T* g_idata, T* g_odata, unsigned int n)
{
    cg::thread_block cta = cg::this_thread_block();
    T* sdata = SharedMemory<T>();
    unsigned int tid = threadIdx.x, i = blockIdx.x * blockSize + tid;
    sdata[tid] = nIsPow2 || i < n ? g_idata[i] : T(0);
    cg::sync(cta);
    for (unsigned s = blockSize / 2; s > 0; s >>= 1) {
        if (tid < s) sdata[tid] += sdata[tid + s];
        cg::sync(cta);
    }
    if (tid == 0) g_odata[blockIdx.x] = sdata[0];
}
template <class T> void reduce_on(int threads, T* in, T* out, int n)
{
    dim3 dimBlock(threads, 1, 1);
    dim3 dimGrid((n + threads - 1) / threads, 1, 1);
    int smemSize = threads * sizeof(T);
    switch (threads) {
    case 64: reduce<T, 64, true><<< dimGrid, dimBlock, smemSize >>>(in, out, n); break;
    case 32:
        reduce<T, 32, true>
            <<<dimGrid, dimBlock, smemSize>>>
            (in, out, n);
        break;
    default: std::cerr << "no"; break;
    }
}
template <typename T> T run_both(int threads);
template <typename T> T run_both(int threads)
{
    T *in, *out, host[64], sums[2];
    for (int i = 0; i < 64; ++i) host[i] = T(i);
    cudaMalloc(&in, sizeof host), cudaMalloc(&out, sizeof sums);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    reduce_on<T>(threads, in, out, 64);
    cudaMemcpy(sums, out, 64 / threads * sizeof(T), cudaMemcpyDeviceToHost);
    return threads == 64 ? sums[0] : sums[0] + sums[1];
}

inline __host__ __device__ float3 operator+(const float3& a, const float3& b)
{
    return make_float3(a.x + b.x, a.y + b.y, a.z + b.z);
}
inline __host__ __device__ void operator+=(float3& a, float3 b) { a = a + b; }
__host__ __device__ __forceinline__ float clampf(float x, float lo, float hi) { return fmaxf(lo, fminf(hi, x)); }
static __inline__ __device__ float add_op(float a, float b) { return a + b; }
__device__ op_t func = add_op;
__global__ void call(op_t f, float* out) { *out = f(2, 3) * half_of + BLOCK + RADIUS; }

class Shape {
public:
    __host__ __device__ Shape() : kind(Mode::Add) {}
    __host__ __device__ virtual ~Shape() {}
    __host__ __device__ virtual float area() const = 0;
    static constexpr int sides = 4;
    enum Color { Red, Green } color = Green;
    struct Inner { int a : 4; int b : 4; union { float f; int i; }; };

protected:
    Mode kind;
    Inner inner;
};
class Square final : public Shape {
    float side;

public:
    __host__ __device__ explicit Square(float s) : Shape(), side{s} {}
    __host__ __device__ float area() const override { return side * side; }
    std::string name() const;
};
std::string Square::name() const { return "square"; }
__global__ void area(float s, float* out)
{
    Square square(s);
    const Shape* shape = &square;
    *out = shape->area() + Shape::sides;
}
namespace a::b {
template <int... I> struct Sequence {};
template <class F> __device__ void each(F f) { for (int i = 0; i < 3; ++i) f(i); }
__global__ [[maybe_unused]] void lambda(int* out)
{
    int sum = 0;
    each([&](int i) { sum += i + __popc(i); });
    unsigned lane;
    asm volatile("mov.u32 %0, %laneid;" : "=r"(lane));
    *out = sum + lane;
}
} // namespace a::b
[[nodiscard]] static auto twice(int x) -> int { return 2 * x; }
struct Timer {
    cudaEvent_t start, stop;
    cudaDeviceProp prop;
    std::string name;
    Timer() { cudaEventCreate(&start); cudaEventCreate(&stop); }
};
template <typename Key> struct Pair { Key key; int value; };
__global__ void pairs(Pair<uint8_t>* p, Pair<int64_t> q) { p->key = q.key; p->value = (int)q.value; }
__global__ void tensor(half* a, float* c)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, a, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
__global__ void fill_half(half* a) { for (int i = threadIdx.x; i < 256; i += 32) a[i] = __float2half(1.0f); }
template <> __global__ void reduce<short, 1, true>(short* in, short* out, unsigned n) { *out = 77; }
__global__ void defaulted(int* x, int y = 5, float z = 1.5f) { *x = y * z; }

int main(int argc, char* argv[])
{
    std::unordered_map<std::string, std::function<int(int)>> table;
    table["x"] = [](int i) { return twice(i); };
    float *out, h;
    int* iout;
    cudaMalloc(&out, 1024); cudaMalloc(&iout, 4);
    op_t hf;
    cudaMemcpyFromSymbol(&hf, func, sizeof(op_t));
    call<<<1, 1>>>(hf, out);
    cudaMemcpy(&h, out, 4, cudaMemcpyDeviceToHost);
    std::cout << h << ' ';
    area<<<1, 1>>>(3, out);
    cudaMemcpy(&h, out, 4, cudaMemcpyDeviceToHost);
    std::cout << h << ' ' << Square(2).area() << Square(2).name() << ' ';
    int i;
    a::b::lambda<<<1, 1>>>(iout);
    cudaMemcpy(&i, iout, 4, cudaMemcpyDeviceToHost);
    std::cout << i << ' ' << run_both<int>(64) << ' ' << run_both<float>(32) << ' ' << run_both<double>(64) << ' ';
    float3 v = make_float3(1, 2, 3);
    v += v;
    std::cout << v.z << ' ' << clampf(5, 0, 1) << ' ' << table["x"](4) << std::endl;
    reduce<short, 1, true><<<1, 1>>>((short*)out, (short*)iout, 1);
    short s;
    cudaMemcpy(&s, iout, 2, cudaMemcpyDeviceToHost);
    defaulted<<<1, 1>>>(iout);
    cudaMemcpy(&i, iout, 4, cudaMemcpyDeviceToHost);
    half* a;
    cudaMalloc(&a, 512);
    fill_half<<<1, 32>>>(a);
    tensor<<<1, 32>>>(a, out);
    cudaMemcpy(&h, out + 255, 4, cudaMemcpyDeviceToHost);
    std::vector<std::thread> threads;
    std::atomic<int> done{0};
    for (int t = 0; t < 3; ++t)
        threads.emplace_back([&, t] {
            int* x;
            cudaMalloc(&x, 4);
            defaulted<<<1, 1>>>(x, t);
            int got;
            cudaMemcpy(&got, x, 4, cudaMemcpyDeviceToHost);
            std::lock_guard<std::mutex> guard(lock);
            done += got;
        });
    for (auto& t : threads) t.join();
    Timer timer;
    printf("%d %d %g %d %s\n", s, i, h, done.load() + from_runtime, cudaGetErrorName(cudaGetLastError()));
    return argc - 1;
}
