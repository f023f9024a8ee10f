// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Runs kernels on the block pool. This layer uses addresses, entry points and limits, but no contexts, streams or
// handles. Every function may be called on any host thread.
#pragma once

#include <atomic>
#include <memory>

#include "device_include/emulator_abi.h"
#include "../common.hpp"
#include "../config.hpp"

namespace emu::exec {

struct Limits {
    size_t stack_bytes = 64 << 10; // minimum per thread; CU_LIMIT_STACK_SIZE may raise it
    size_t printf_bytes = 1 << 20; // CU_LIMIT_PRINTF_FIFO_SIZE
    size_t heap_bytes = 8 << 20;   // CU_LIMIT_MALLOC_HEAP_SIZE
};

// Receives the values that a graph's kernels set for its conditional handles.
class ConditionSink {
public:
    virtual void set(uint64_t handle, uint32_t value) = 0; // called on any thread

protected:
    ~ConditionSink() = default;
};

// Launches graphs on behalf of a graph's kernels.
class GraphLauncher {
public:
    virtual int launch(uint64_t graph, uint64_t way) = 0; // returns a cudaError_t; called on any thread
    virtual uint64_t current() const = 0;                 // the executable that runs the calling kernel

protected:
    ~GraphLauncher() = default;
};

// The SM numbers that a launch may use.
using Partition = std::vector<uint32_t>;

// One launch, already validated against the device. It belongs to the caller until run() returns; the kernel's image
// must stay loaded until then.
struct LaunchRequest {
    EmuEntry entry = nullptr;
    std::string name; // demangled, for reports
    Dim3 grid, block, cluster;
    uint32_t dynamic_shared = 0;
    uint32_t static_shared = 0;
    Bytes parameters; // packed according to the layout
    std::vector<EmuParameter> layout;
    bool cooperative = false; // all blocks are resident; grid barriers are allowed
    int device = 0;
    uint32_t multiprocessors = 1;               // of the device
    std::shared_ptr<const Partition> partition; // null: all SMs
    uint64_t image = 0;                         // from register_image()
    uint64_t id = 0;                            // for cancel(); unique in the process
    Checks checks;
    Limits limits;
    Nanoseconds time_limit{0};
    uint64_t seed = 0;                   // for shuffle mode; 0: natural order
    ConditionSink* conditions = nullptr; // for the graph that runs the kernel; null outside graphs
    GraphLauncher* launcher = nullptr;   // likewise
    // Set if the kernel waits for memory that the host may change; null: nobody asks.
    std::shared_ptr<std::atomic<bool>> polls_host;
};

enum class FaultKind {
    none,
    illegal_address,     // CUDA_ERROR_ILLEGAL_ADDRESS
    bad_index,           // CUDA_ERROR_LAUNCH_FAILED: an index outside an array, or outside a row of it
    misaligned_address,  // CUDA_ERROR_MISALIGNED_ADDRESS
    assertion,           // CUDA_ERROR_ASSERT
    uninitialized,       // CUDA_ERROR_LAUNCH_FAILED: a read of memory that was never written
    race,                // CUDA_ERROR_LAUNCH_FAILED: two unordered accesses
    trap,                // CUDA_ERROR_LAUNCH_FAILED: __trap, unsupported device function
    deadlock,            // CUDA_ERROR_LAUNCH_FAILED, with the waiting threads and their places
    divergent_barrier,   // CUDA_ERROR_LAUNCH_FAILED
    warp,                // CUDA_ERROR_LAUNCH_FAILED: a collective with contradictory masks
    timeout,             // CUDA_ERROR_LAUNCH_TIMEOUT
    stack_overflow,      // CUDA_ERROR_LAUNCH_FAILED
    illegal_instruction, // CUDA_ERROR_ILLEGAL_INSTRUCTION
    arithmetic,          // CUDA_ERROR_LAUNCH_FAILED: integer division by zero
    heap,                // CUDA_ERROR_LAUNCH_FAILED: invalid free() in a kernel
    out_of_resources,    // CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: no memory for stacks, or no threads
    canceled,            // CUDA_ERROR_CONTEXT_IS_DESTROYED
};

CUresult result_of(FaultKind kind);
const char* title_of(FaultKind kind); // the first words of a report

struct Fault {
    FaultKind kind = FaultKind::none;
    CUresult code = CUDA_SUCCESS;
    std::string kernel;
    Dim3 block, thread;   // indices, not sizes
    uint64_t address = 0; // of the access
    uint32_t size = 0;
    bool store = false;
    std::string file; // in the program; empty if unknown
    int line = 0;
    std::string text;       // the whole report, several lines, ready to print
    explicit operator bool() const { return kind != FaultKind::none; }
};

// Returns when every thread of the launch has exited, or after the first fault has stopped it. Concurrent launches
// share the pool, and each progresses.
Fault run(const LaunchRequest& request);

// What the host does while kernels run: the number of driver calls so far, and whether a thread waits for the device.
struct HostActivity {
    uint64_t calls = 0;
    bool waits = false;
};
void set_host_activity(HostActivity (*activity)());

// Makes a launch end soon with FaultKind::canceled. Has no effect once it has ended.
void cancel(uint64_t id);

// Returns the number of OS threads in the pool, or 0 before the first launch, which starts it. The child of a fork()
// has its own pool.
int pool_size();

// Returns how many blocks of such a launch this executor can keep resident at the same time; the caller rejects larger
// cooperative launches. `state` computes occupancy by the documented hardware rules.
uint64_t resident_blocks_limit(const LaunchRequest& request);

// Writes the text printed by kernels to file descriptor 1, in order. Called by every synchronizing driver call, and
// when the buffer is full.
void flush_output();

// ------------------------------------------------------------------------ images of code

// A loaded module: the location of its code (for signals and preemption), of its data (which kernels may access), and
// of its variables.
struct Image {
    uintptr_t code_low = 0, code_high = 0;
    std::vector<EmuRange> data;              // .data, .bss, .rodata as mapped
    std::vector<const EmuVariable*> variables;
    std::string path; // where the line tables are read from: /proc/self/fd/N
    uintptr_t load_bias = 0;
    int device = 0;
};

uint64_t register_image(Image image);  // never 0
void unregister_image(uint64_t image); // none of its launches may be running

struct CodePlace {
    std::string file, function;
    int line = 0;
    std::string text; // the source line, if known
    bool inlined = false; // the code belongs to an inlined function from our headers, and the line is close to its call
};

// Finds the source line of an address, for reports. `front` implements it and passes it as a pointer, so `exec` does
// not depend on `front`.
using Symbolizer = CodePlace (*)(const Image& image, uintptr_t pc);
void set_symbolizer(Symbolizer symbolizer);

// Finds each device's memory backing a multicast address. Returns the number of devices, or 0 if any lacks memory
// there.
using MulticastFinder = unsigned (*)(uint64_t address, size_t bytes, void** places);
void set_multicast_finder(MulticastFinder finder);

// Takes an image's counts when it is unloaded or the process exits: for each byte of its code, how often the basic
// block that calls from there was entered. Resets them to zero.
using CoverageSink = void (*)(const Image& image, std::atomic<uint64_t>* counts);
void set_coverage_sink(CoverageSink sink);
void finish_coverage(); // also writes the advice; for images that are still loaded
// For advice, a kernel configuration: how many blocks fit on an SM, with and without their shared memory.
void advise_launch(const std::string& kernel, uint64_t threads, uint64_t shared, int resident, int by_threads,
                   int warps);

} // namespace emu::exec
