// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Runs the kernels of kernels.cpp by the interface of the executor alone.
//     driver MODULE CASE    prints the results of the case as lines "name=value"
#include "harness.hpp"

#include <cstdio>
#include <chrono>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <random>
#include <thread>
#include <unistd.h>

namespace {

using Words = uint32_t*;

Words words(size_t count)
{
    return static_cast<Words>(allocate(count * sizeof(uint32_t)));
}

void print(const char* name, const uint32_t* values, size_t count)
{
    std::printf("%s=", name);
    for (size_t i = 0; i < count; ++i)
        std::printf("%s%u", i ? "," : "", values[i]);
    std::printf("\n");
}

void print(const char* name, uint32_t value)
{
    print(name, &value, 1);
}

// ------------------------------------------------------------------------ correct kernels

void saxpy()
{
    uint32_t n = 10007;
    float a = 2;
    auto *x = static_cast<float*>(allocate(n * 4)), *y = static_cast<float*>(allocate(n * 4));
    for (uint32_t i = 0; i < n; ++i)
        x[i] = float(i), y[i] = 1;
    show(launch("saxpy", {(n + 255) / 256}, {256}, n, a, x, y));
    uint32_t good = 0;
    for (uint32_t i = 0; i < n; ++i)
        good += y[i] == 2 * float(i) + 1;
    print("good", good);
}

void matmul()
{
    uint32_t n = 64, good = 0;
    auto *a = static_cast<float*>(allocate(n * n * 4)), *b = static_cast<float*>(allocate(n * n * 4)),
         *c = static_cast<float*>(allocate(n * n * 4));
    for (uint32_t i = 0; i < n * n; ++i)
        a[i] = float(i % 7), b[i] = float(i % 5);
    show(launch("matmul", {n / 16, n / 16}, {16, 16}, n, a, b, c));
    for (uint32_t i = 0; i < n; ++i)
        for (uint32_t j = 0; j < n; ++j) {
            float sum = 0;
            for (uint32_t k = 0; k < n; ++k)
                sum += a[i * n + k] * b[k * n + j];
            good += sum == c[i * n + j];
        }
    print("good", good);
}

void reverse()
{
    Words data = words(1000);
    for (uint32_t i = 0; i < 1000; ++i)
        data[i] = i;
    options.dynamic_shared = 4000;
    show(launch("reverse", {1}, {1000}, data));
    uint32_t good = 0;
    for (uint32_t i = 0; i < 1000; ++i)
        good += data[i] == 999 - i;
    print("good", good);
}

void warp_sum()
{
    Words out = words(128);
    show(launch("warp_sum", {1}, {128}, out));
    print("out", out, 128);
}

// argv[3..]: op, argument, width, mask, then 32 values
void warp_operation(char** argv)
{
    Words in = words(32), out = words(64);
    uint32_t numbers[4];
    for (int i = 0; i < 4; ++i)
        numbers[i] = uint32_t(std::strtoul(argv[i], nullptr, 0));
    for (int i = 0; i < 32; ++i)
        in[i] = uint32_t(std::strtoul(argv[4 + i], nullptr, 0));
    show(launch("warp_all_kinds", {1}, {32}, numbers[0], numbers[1], numbers[2], in, out, numbers[3]));
    print("out", out, 32);
    print("more", out + 32, 32);
}

void run_words(const char* kernel, Dim3 grid, Dim3 block, size_t count)
{
    Words out = words(count);
    show(launch(kernel, grid, block, out));
    print("out", out, count);
}

void run_flag(const char* kernel, Dim3 grid, Dim3 block)
{
    Words flag = words(1), count = words(1);
    show(launch(kernel, grid, block, flag, count));
    print("count", *count);
}

void grid_sum(uint32_t blocks)
{
    Words a = words(blocks), b = words(blocks);
    options.cooperative = true;
    show(launch("grid_sum", {blocks}, {64}, a, b));
    uint32_t good = 0;
    auto sum = [&](uint32_t i) { return i % blocks + (i + 1) % blocks; };
    for (uint32_t i = 0; i < blocks; ++i)
        good += a[i] == sum(i) + sum(i + 1);
    print("good", good);
}

void wait_for_host()
{
    Words flag = words(1);
    std::thread host([&] {
        usleep(20000);
        __atomic_store_n(flag, 1, __ATOMIC_SEQ_CST);
    });
    show(launch("wait_for_host", {1}, {1}, flag));
    host.join();
}

void float_state()
{
    Words flag = words(1);
    auto* out = static_cast<double*>(allocate(16));
    show(launch("float_state", {1}, {2}, flag, out));
    print("good", out[0] == 2.0 && out[1] == 4.0);
}

// Several threads launch at the same time: kernels with and without barriers, and one that fails.
void many_threads()
{
    std::atomic<uint32_t> good{0}, faults{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
        threads.emplace_back([&, t] {
            Words sums = words(128), data = words(256);
            uint32_t zero = 0, one = 1;
            for (int i = 0; i < 50; ++i) {
                bool fine = !launch("warp_sum", {4}, {128}, sums) && sums[0] == 496;
                for (uint32_t j = 0; j < 256; ++j)
                    data[j] = j;
                options.dynamic_shared = 1024;
                fine = fine && !launch("reverse", {1}, {256}, data) && data[0] == 255;
                good += fine;
                if (t == 0)
                    faults += launch("divide", {8}, {64}, data, one, zero).kind ==
                              emu::exec::FaultKind::arithmetic;
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    print("good", good);
    print("faults", faults);
}

// Cooperative grids at the same time: each needs threads of its own for all its blocks.
void grids_at_once()
{
    std::atomic<uint32_t> good{0};
    std::vector<std::thread> threads;
    for (uint32_t t = 0; t < 6; ++t)
        threads.emplace_back([&, t] {
            Words a = words(32), b = words(32);
            for (uint32_t i = 0; i < 100; ++i) {
                options.cooperative = true;
                good += !launch("grid_sum", {2 + (5 * t + i) % 20}, {64}, a, b);
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    print("good", good);
}

// The time limit applies to a block that another thread than the caller runs.
void limit_of_helper()
{
    options.time_limit = std::chrono::milliseconds(200);
    show(launch("loop_in_second_block", {2}, {256}, words(1)));
}

// Makes one launch of a kind; returns whether it ended as expected.
bool storm_step(uint32_t kind, uint32_t size, Words a, Words b)
{
    using Kind = emu::exec::FaultKind;
    uint32_t zero = 0, one = 1, far = 1u << 20;
    *a = *b = 0;
    switch (kind) {
    case 0: options.cooperative = true; return !launch("grid_sum", {size + 2}, {64}, a, b);
    case 1: return !launch("spin_on_flag", {1}, {size + 2}, a, b);
    case 2: return !launch("own_grid_barrier", {size % 4 + 1}, {33}, a, b);
    case 3: return launch("divide", {9}, {64}, a, one, zero).kind == Kind::arithmetic;
    case 4: return launch("write_at", {9}, {64}, a, far, one).kind == Kind::illegal_address;
    case 5:
        options.time_limit = emu::Nanoseconds(size * 100000 + 1);
        return launch("loop_for_ever", {size % 5 + 1}, {64}).kind == Kind::timeout;
    case 6: return launch("deadlock", {9}, {64}).kind == Kind::deadlock;
    default: return !launch("warp_sum", {2}, {128}, a) && a[100] == 32 * 96 + 496;
    }
}

// Launches of random kinds by several threads for argv[3] seconds.
void storm(double seconds)
{
    using Clock = std::chrono::steady_clock;
    auto end = Clock::now() + std::chrono::duration<double>(seconds);
    std::atomic<uint32_t> runs{0}, bad{0};
    std::vector<std::thread> threads;
    for (uint32_t t = 0; t < 6; ++t)
        threads.emplace_back([&, t] {
            std::minstd_rand random(t + 1);
            Words a = words(256), b = words(256);
            for (; Clock::now() < end; ++runs)
                bad += !storm_step(uint32_t(random() % 8), uint32_t(random() % 20), a, b);
        });
    for (std::thread& thread : threads)
        thread.join();
    print("ran", runs > 0);
    print("bad", bad);
}

void after_fork()
{
    Words out = words(128);
    launch("warp_sum", {4}, {128}, out);
    if (fork() == 0) {
        out[0] = 0;
        bool fine = !launch("warp_sum", {64}, {128}, out) && out[0] == 496;
        _exit(fine ? 7 : 1);
    }
    int status = 0;
    wait(&status);
    print("child", uint32_t(WEXITSTATUS(status)));
    out[0] = 0;
    show(launch("warp_sum", {4}, {128}, out));
    print("parent", out[0]);
}

// A signal handler of the program gets the faults of the program but not those of kernels, whenever it is installed.
sigjmp_buf back;
void on_own_fault(int)
{
    siglongjmp(back, 1);
}

void own_handler()
{
    volatile uint32_t own = 0;
    uint32_t offset = 0, thread = 3;
    volatile Words null = nullptr;
    for (volatile int round = 0; round < 3; round = round + 1) {
        if (round == 1) {
            struct sigaction action = {};
            action.sa_handler = on_own_fault;
            action.sa_flags = SA_NODEFER;
            sigaction(SIGSEGV, &action, nullptr);
        }
        auto fault = launch("write_at", {4}, {16}, Words(nullptr), offset, thread);
        own = own + (fault.kind == emu::exec::FaultKind::illegal_address);
        if (round && sigsetjmp(back, 1) == 0)
            *null = 1;
        else if (round)
            own = own + 10;
    }
    print("own", own);
}

void cancel()
{
    Words flag = words(1);
    std::thread host([] {
        usleep(20000);
        emu::exec::cancel(99);
    });
    options.id = 99;
    show(launch("wait_for_host", {4}, {64}, flag));
    host.join();
}

// ------------------------------------------------------------------------ faulty kernels

// After each fault another kernel must work.
void show_and_go_on(const emu::exec::Fault& fault)
{
    show(fault);
    Words out = words(128);
    options = Options{};
    launch("warp_sum", {8}, {128}, out);
    print("next", out[0]);
}

void write_at(const char* where)
{
    uint32_t index = 0, thread = 37;
    Words out = words(100);
    int offset = std::atoi(where);
    if (!std::strcmp(where, "freed"))
        release(out), offset = 2;
    if (!std::strcmp(where, "null"))
        out = nullptr, offset = 0;
    if (!std::strcmp(where, "host"))
        out = &index, offset = 0;
    if (!std::strcmp(where, "other_device"))
        out = static_cast<Words>(allocate(400, 1)), offset = 0;
    if (!std::strcmp(where, "peer"))
        out = static_cast<Words>(allocate(400, 1)), offset = 0, emu::exec::set_peer_access(0, 1, true);
    if (!std::strcmp(where, "registered")) {
        emu::exec::Region region;
        region.base = uintptr_t(&index), region.size = region.room = 4;
        emu::exec::open_host_range(region);
        out = &index, offset = 0;
    }
    show_and_go_on(launch("write_at", {4}, {16}, out, offset, thread));
}

void defect(const char* kernel, char** argv)
{
    std::string name = kernel;
    Words out = words(256);
    int number = argv[0] ? std::atoi(argv[0]) : 0, zero = 0;
    options.dynamic_shared = 100;
    if (name.compare(0, 6, "write_") == 0)
        return show_and_go_on(launch(kernel, {1}, {1}, number));
    if (name == "read_constant")
        return show_and_go_on(launch(kernel, {1}, {1}, number, out));
    if (name == "divide")
        return show_and_go_on(launch(kernel, {4}, {64}, out, number, zero));
    options.cooperative = name == "grid_barrier_missed";
    if (name.compare(0, 5, "loop_") == 0)
        options.time_limit = emu::Nanoseconds(50000000);
    show_and_go_on(launch(kernel, {3}, {64}, out));
}

bool run_working(const std::string& name, char** rest)
{
    if (name == "saxpy") saxpy();
    else if (name == "matmul") matmul();
    else if (name == "reverse") reverse();
    else if (name == "warp_sum") warp_sum();
    else if (name == "warp_operation") warp_operation(rest);
    else if (name == "warp_with_exits") run_words("warp_with_exits", {1}, {32}, 32);
    else if (name == "count_votes") run_words("count_votes", {1}, {6}, 18);
    else if (name == "early_exit_then_barrier") run_words("early_exit_then_barrier", {1}, {64}, 64);
    else if (name == "producer_consumer") options.dynamic_shared = 128, run_words("producer_consumer", {1}, {64}, 320);
    else if (name == "spin_on_flag") run_flag("spin_on_flag", {1}, {64});
    else if (name == "spin_with_warps") run_flag("spin_with_warps", {1}, {64});
    else if (name == "spin_with_sleep") run_flag("spin_with_sleep", {1}, {256});
    else if (name == "own_grid_barrier") run_flag("own_grid_barrier", {24}, {32});
    else if (name == "wait_for_host") wait_for_host();
    else if (name == "grid_sum") grid_sum(uint32_t(std::atoi(rest[0])));
    else if (name == "print_index") show(launch("print_index", {1}, {3})), emu::exec::flush_output();
    else if (name == "allocate") give_heap(), run_words("allocate", {2}, {32}, 64);
    else if (name == "copy_constant") run_words("copy_constant", {1}, {8}, 8);
    else if (name == "large_local") run_words("large_local", {1}, {3}, 3);
    else if (name == "clocks") run_words("clocks", {1}, {1}, 8);
    else if (name == "float_state") float_state();
    else if (name == "many_threads") many_threads();
    else if (name == "grids_at_once") grids_at_once();
    else if (name == "limit_of_helper") limit_of_helper();
    else if (name == "after_fork") after_fork();
    else if (name == "storm") storm(std::atof(rest[0]));
    else if (name == "cancel") cancel();
    else if (name == "own_handler") own_handler();
    else return false;
    return true;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 3)
        return 2;
    load(argv[1]);
    std::string name = argv[2];
    give_heap();
    if (name == "shuffled")
        options.seed = 5, saxpy(), options.seed = 5, reverse();
    else if (name == "write_at")
        write_at(argv[3]);
    else if (!run_working(name, argv + 3))
        defect(argv[2], argv + 3);
    return 0;
}
