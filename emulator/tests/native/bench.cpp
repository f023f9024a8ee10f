// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
//     bench MODULE [PART]    prints the times of launches and kernels, each the least of several runs
#include "harness.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace {

double processor_time()
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return double(time.tv_sec) * 1e3 + double(time.tv_nsec) * 1e-6;
}

const char* only = ""; // only work with this in its title is measured

// Milliseconds; on a busy machine the processor time, divided by the cores, is more exact.
template <class Work> void best(const char* title, const char* unit, int runs, Work work)
{
    if (!std::strstr(title, only))
        return;
    double least = 1e9, least_processor = 1e9;
    for (int i = 0; i < runs; ++i) {
        auto begin = std::chrono::steady_clock::now();
        double processor = processor_time();
        work();
        std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
        least = std::min(least, time.count());
        least_processor = std::min(least_processor, processor_time() - processor);
    }
    std::printf("%-32s %8.2f %s, processor time %8.2f %s\n", title, least, unit, least_processor, unit);
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
    if (argc > 2)
        only = argv[2];
    uint32_t n = 4 << 20, m = 256;
    auto *x = static_cast<float*>(allocate(n * 4)), *y = static_cast<float*>(allocate(n * 4));
    std::fill(x, x + n, 1.0f);
    std::fill(y, y + n, 1.0f);
    auto *out = static_cast<uint32_t*>(allocate(1 << 22));
    float a = 2;
    auto thousand = [&](const char* title, Dim3 grid, Dim3 block) {
        best(title, "us", 10, [&] {
            for (int i = 0; i < 1000; ++i)
                check(launch("nothing", grid, block));
        });
    };
    thousand("launch 1 block of 1 thread", {1}, {1});
    thousand("launch 1 block of 32 threads", {1}, {32});
    thousand("launch 1 block of 256 threads", {1}, {256});
    thousand("launch 64 blocks of 256", {64}, {256});
    best("saxpy of 4 M floats", "ms", 10,
         [&] { check(launch("saxpy", {n / 256}, {256}, n, a, x, y)); });
    best("matrix product 256^3", "ms", 10, [&] {
        check(launch("matmul", {m / 16, m / 16}, {16, 16}, m, x, y, reinterpret_cast<float*>(out)));
    });
    for (uint32_t threads : {2, 32, 256, 1024}) {
        std::string title = "1 M barriers by " + std::to_string(threads) + " threads";
        uint32_t rounds = 1000000 / threads;
        best(title.c_str(), "ms", 10, [&] { check(launch("barriers", {1}, {threads}, rounds)); });
    }
    best("warp sums of 64 K threads", "ms", 10, [&] { check(launch("warp_sum", {64}, {1024}, out)); });
    auto grid = [&] {
        options.cooperative = true;
        check(launch("grid_sum", {64}, {64}, out, out + 4096));
    };
    best("2 grid barriers of 64 blocks", "ms", 10, grid);
}
