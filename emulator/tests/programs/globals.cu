// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Global variables of the host, which kernels do without, beside types that both use.
#include <stdio.h>
#include <sys/time.h>

struct timeval start, stop;
static struct timezone zone;
struct Point {
    float x, y;
} origin, corners[2] = {{1, 2}, {3, 4}};
struct Point p = {5, 6};
enum { ONE = 1, TWO };
enum Mode { FAST = 1, SLOW } mode = SLOW;
enum Mode chosen = FAST;
struct Forward;
typedef struct Node {
    struct Node* next;
    enum Mode mode;
} Node, *NodePointer;
struct {
    int verbose;
} options;
struct Bits {
    union {
        float f;
        unsigned u;
    };
    struct Inner {
        int a;
    } inner;
    struct {
        int b;
    } other;
};
cudaStream_t streams[2];
cudaEvent_t event = 0;
struct Buffers {
    cudaMemPool_t pool;
    cudaLimit limit;
    cudaHostFn_t done;
} buffers;
struct Packed {
    char c;
    double d;
} __attribute__((packed));
struct Aligned {
    char c;
} __attribute__((aligned(32))) aligned, *to_aligned = &aligned;
const char* names[] = {"a", "b"};
float (*function)(float);
int matrix[2][3], *pointer = &matrix[1][1];
volatile int flag;

__global__ void kernel(Point* out, Node node, NodePointer next, Bits bits)
{
    out->x = node.mode == SLOW ? bits.u + bits.inner.a + bits.other.b : FAST;
    out->y = next == nullptr ? sizeof(Point) + sizeof(Packed) + sizeof(Aligned) : 0;
}

int main()
{
    gettimeofday(&start, &zone);
    struct Point* out;
    Bits bits;
    bits.u = 7, bits.inner.a = 10, bits.other.b = 100;
    cudaMalloc(&out, sizeof(struct Point));
    kernel<<<1, 1>>>(out, Node{nullptr, mode}, NULL, bits);
    cudaMemcpy(&origin, out, sizeof origin, cudaMemcpyDeviceToHost);
    gettimeofday(&stop, NULL);
    options.verbose = stop.tv_sec >= start.tv_sec;
    printf("%g %g %g %g %d %d %s\n", origin.x, origin.y, corners[1].y, p.x, chosen, options.verbose, names[1]);
    return 0;
}
