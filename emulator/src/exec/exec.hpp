// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Runs kernels on the block pool. This room knows addresses, entry points and limits, but no contexts, streams or
// handles. Every function may be called on any host thread.
#pragma once

#include <atomic>
#include <memory>

#include "../../device_include/emulator_abi.h"
#include "../common.hpp"
#include "../config.hpp"

namespace emu::exec {

struct Limits {
    size_t stack_bytes = 64 << 10; // least bytes per thread; CU_LIMIT_STACK_SIZE may raise it
    size_t printf_bytes = 1 << 20; // CU_LIMIT_PRINTF_FIFO_SIZE
    size_t heap_bytes = 8 << 20;   // CU_LIMIT_MALLOC_HEAP_SIZE
};

// Receives the values that kernels of a graph give to its conditional handles.
class ConditionSink {
public:
    virtual void set(uint64_t handle, uint32_t value) = 0; // called on any thread

protected:
    ~ConditionSink() = default;
};

// Launches graphs on behalf of kernels of a graph.
class GraphLauncher {
public:
    virtual int launch(uint64_t graph, uint64_t way) = 0; // returns a cudaError_t; called on any thread
    virtual uint64_t current() const = 0;                 // the executable that runs the calling kernel

protected:
    ~GraphLauncher() = default;
};

// The numbers of the multiprocessors that a launch may use.
using Partition = std::vector<uint32_t>;

// One launch, which the caller has checked against the device. It belongs to the caller until run() returns; the image
// of its kernel has to stay loaded until then.
struct LaunchRequest {
    EmuEntry entry = nullptr;
    std::string name; // demangled, for reports
    Dim3 grid, block, cluster;
    uint32_t dynamic_shared = 0;
    uint32_t static_shared = 0;
    Bytes parameters; // packed as the layout says
    std::vector<EmuParameter> layout;
    bool cooperative = false; // all blocks are resident; grid barriers are allowed
    int device = 0;
    uint32_t multiprocessors = 1;               // of the device
    std::shared_ptr<const Partition> partition; // null: all multiprocessors
    uint64_t image = 0;                         // from register_image()
    uint64_t id = 0;                            // for cancel(); unique in the process
    Checks checks;
    Limits limits;
    Nanoseconds time_limit{0};
    uint64_t seed = 0;                   // of the shuffle mode; 0: natural order
    ConditionSink* conditions = nullptr; // of the graph that runs the kernel; null outside of graphs
    GraphLauncher* launcher = nullptr;   // likewise
};

enum class FaultKind {
    none,
    illegal_address,     // CUDA_ERROR_ILLEGAL_ADDRESS
    bad_index,           // CUDA_ERROR_LAUNCH_FAILED: an index that leaves an array, or a row of it
    misaligned_address,  // CUDA_ERROR_MISALIGNED_ADDRESS
    assertion,           // CUDA_ERROR_ASSERT
    uninitialized,       // CUDA_ERROR_LAUNCH_FAILED: a read of memory that nothing has written
    race,                // CUDA_ERROR_LAUNCH_FAILED: two accesses of which either may come first
    trap,                // CUDA_ERROR_LAUNCH_FAILED: __trap, unsupported device function
    deadlock,            // CUDA_ERROR_LAUNCH_FAILED, with who waits where
    divergent_barrier,   // CUDA_ERROR_LAUNCH_FAILED
    warp,                // CUDA_ERROR_LAUNCH_FAILED: a collective with contradictory masks
    timeout,             // CUDA_ERROR_LAUNCH_TIMEOUT
    stack_overflow,      // CUDA_ERROR_LAUNCH_FAILED
    illegal_instruction, // CUDA_ERROR_ILLEGAL_INSTRUCTION
    arithmetic,          // CUDA_ERROR_LAUNCH_FAILED: integer division by zero
    heap,                // CUDA_ERROR_LAUNCH_FAILED: wrong free() in a kernel
    out_of_resources,    // CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: no memory for stacks, or no threads
    cancelled,           // CUDA_ERROR_CONTEXT_IS_DESTROYED
};

CUresult result_of(FaultKind kind);

struct Fault {
    FaultKind kind = FaultKind::none;
    CUresult code = CUDA_SUCCESS;
    std::string kernel;
    Dim3 block, thread;   // indices, not sizes
    uint64_t address = 0; // of the access
    uint32_t size = 0;
    bool store = false;
    std::string file; // of the user; empty if unknown
    int line = 0;
    std::string text;       // the whole report, several lines, ready to print
    explicit operator bool() const { return kind != FaultKind::none; }
};

// Returns when every thread of the launch has ended, or the first fault has stopped it. Launches that run at the same
// time share the pool, and each progresses.
Fault run(const LaunchRequest& request);

// Makes a launch end soon with FaultKind::cancelled; no effect if it has ended.
void cancel(uint64_t id);

// The number of OS threads in the pool, which the first launch starts; 0 before it. The child of a fork() has a pool of
// its own.
int pool_size();

// How many blocks of such a launch can be resident at once on this executor; the caller refuses larger cooperative
// launches. Occupancy by the documented rules of hardware is in `state`.
uint64_t resident_blocks_limit(const LaunchRequest& request);

// Writes text that kernels have printed, in order, to file descriptor 1. Every synchronizing driver call does it, and a
// full buffer.
void flush_output();

// ------------------------------------------------------------------------ images of code

// A loaded module: the place of its code (for signals and preemption), of its data (which kernels may access), and of
// its variables.
struct Image {
    uintptr_t code_low = 0, code_high = 0;
    std::vector<EmuRange> data;              // .data, .bss, .rodata as mapped
    std::vector<const EmuVariable*> variables;
    std::string path; // where the line tables are read from: /proc/self/fd/N
    uintptr_t load_bias = 0;
    int device = 0;
};

uint64_t register_image(Image image);  // never 0
void unregister_image(uint64_t image); // no launch of it may be running

struct CodePlace {
    std::string file, function;
    int line = 0;
    std::string text; // the source line, if known
    bool inlined = false; // the code is that of an inlined function of our headers, and the line is close to its call
};

// Finds the source line of an address. `front` implements it and hands it over as a pointer, so that `exec` does not
// depend on `front`; reports use it.
using Symbolizer = CodePlace (*)(const Image& image, uintptr_t pc);
void set_symbolizer(Symbolizer symbolizer);

// Finds where each device has the memory behind a multicast address; returns their number, or 0 if not all have any.
using MulticastFinder = unsigned (*)(uint64_t address, size_t bytes, void** places);
void set_multicast_finder(MulticastFinder finder);

// Takes the counts of an image when it is unloaded or the process ends: for each byte of its code, how often the block
// of code that calls there was entered. Sets them to zero.
using CoverageSink = void (*)(const Image& image, std::atomic<uint64_t>* counts);
void set_coverage_sink(CoverageSink sink);
void finish_coverage(); // and the advice, of the images that are still loaded
// For advice, a configuration of a kernel: how many blocks fit on a multiprocessor, with and without their shared
// memory.
void advise_launch(const std::string& kernel, uint64_t threads, uint64_t shared, int resident, int by_threads,
                   int warps);

} // namespace emu::exec
