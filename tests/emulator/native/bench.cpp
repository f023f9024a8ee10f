// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
//     bench MODULE    times of launches and kernels, the best of several runs
#include "harness.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

namespace {

template <class Work> double best(int runs, Work work)
{
    double least = 1e9;
    for (int i = 0; i < runs; ++i) {
        auto begin = std::chrono::steady_clock::now();
        work();
        std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
        least = std::min(least, time.count());
    }
    return least;
}

void check(const emu::exec::Fault& fault)
{
    if (fault) {
        std::printf("%s\n", fault.text.c_str());
        std::exit(1);
    }
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 2)
        return 2;
    load(argv[1]);
    uint32_t n = 4 << 20, m = 256;
    auto *x = static_cast<float*>(allocate(n * 4)), *y = static_cast<float*>(allocate(n * 4));
    std::fill(x, x + n, 1.0f);
    std::fill(y, y + n, 1.0f);
    auto *out = static_cast<uint32_t*>(allocate(1 << 22));
    float a = 2;
    auto thousand = [&](Dim3 grid, Dim3 block) {
        return best(5, [&] {
            for (int i = 0; i < 1000; ++i)
                check(launch("nothing", grid, block));
        });
    };
    std::printf("launch 1 block of 1 thread     %8.2f us\n", thousand({1}, {1}));
    std::printf("launch 1 block of 32 threads   %8.2f us\n", thousand({1}, {32}));
    std::printf("launch 1 block of 256 threads  %8.2f us\n", thousand({1}, {256}));
    std::printf("launch 64 blocks of 256        %8.2f us\n", thousand({64}, {256}));
    std::printf("saxpy of 4 M floats            %8.2f ms\n",
                best(5, [&] { check(launch("saxpy", {n / 256}, {256}, n, a, x, y)); }));
    std::printf("matrix product 256^3           %8.2f ms\n",
                best(5, [&] { check(launch("matmul", {m / 16, m / 16}, {16, 16}, m, x, y, (float*)out)); }));
    std::printf("warp sums of 64 K threads      %8.2f ms\n",
                best(5, [&] { check(launch("warp_sum", {64}, {1024}, out)); }));
    auto grid = [&] {
        options.cooperative = true;
        check(launch("grid_sum", {64}, {64}, out, out + 4096));
    };
    grid();
    std::printf("2 grid barriers of 64 blocks   %8.2f ms\n", best(5, grid));
}
