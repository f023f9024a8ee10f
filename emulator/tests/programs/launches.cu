// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Launches in all kinds of expressions.
#include <cstdio>

#define LAUNCH(k, g, b, ...) k<<<g, b>>>(__VA_ARGS__)

__global__ void one(int* x) { *x += 1; }
__global__ void two(int* x) { *x += 2; }
template <class F> __global__ void functor(F f, int* x) { f(x); }
struct Add {
    int by;
    __device__ void operator()(int* x) const { *x += by; }
};
struct Solver {
    void (*kernel)(int*);
    int* data;
    void run()
    {
        kernel<<<1, 1>>>(data);
        this->kernel<<<1, 1>>>(this->data);
    }
};
template <void (*K)(int*)> void via(int* x) { K<<<1, 1>>>(x); }
void maybe(bool first, int* x)
{
    if (first)
        one /* here */ <<<1, 1>>>(x);
    else
        two<<<1, 1>>>(x);
    for (int i = 0; i < 2; i++)
        two<<<1, dim3(1)>>>(x);
}
int value(int* x)
{
    int h;
    cudaMemcpy(&h, x, 4, cudaMemcpyDeviceToHost);
    return h;
}

int main()
{
    int* x;
    cudaMalloc(&x, 4);
    cudaMemset(x, 0, 4);
    LAUNCH(one, 1, 1, x);
    maybe(true, x);
    maybe(false, x);
    printf("%d ", value(x));
    Solver solver{two, x};
    solver.run();
    via<one>(x);
    functor<<<1, 1>>>(Add{100}, x);
    printf("%d ", value(x));
    true ? one<<<1, 1>>>(x) : two<<<1, 1>>>(x);
    printf("%d %s ", value(x), "a <<< b >>> c");
    printf("%d\n", (one<<<1, 1>>>(x), value(x)));
    return 0;
}
