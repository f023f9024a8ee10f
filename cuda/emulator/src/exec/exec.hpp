// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Runs kernels on the block pool. Knows addresses, entry points and limits; nothing of
// contexts, streams or handles. Every function may be called from any host thread.
#pragma once

#include <memory>

#include "../../device_include/emulator_abi.h"
#include "../common.hpp"
#include "../config.hpp"

namespace emu::exec {

struct Limits {
    size_t stack_bytes = 64 << 10; // per thread, at least; CU_LIMIT_STACK_SIZE may raise it
    size_t printf_bytes = 1 << 20; // CU_LIMIT_PRINTF_FIFO_SIZE
    size_t heap_bytes = 8 << 20;   // CU_LIMIT_MALLOC_HEAP_SIZE
};

// Takes what kernels of a graph set: the values of its conditional handles.
class ConditionSink {
public:
    virtual void set(uint64_t handle, uint32_t value) = 0; // from any thread

protected:
    ~ConditionSink() = default;
};

// Launches graphs for kernels of a graph.
class GraphLauncher {
public:
    virtual int launch(uint64_t graph, uint64_t way) = 0; // a cudaError_t; from any thread
    virtual uint64_t current() const = 0;                 // the executable that runs the kernel

protected:
    ~GraphLauncher() = default;
};

// One launch, validated by the caller against the device. Owned by the caller until
// run() returns; a kernel's own image must stay loaded that long.
// The numbers of the multiprocessors that a launch may use.
using Partition = std::vector<uint32_t>;

struct LaunchRequest {
    EmuEntry entry = nullptr;
    std::string name;                         // as shown in reports (demangled)
    Dim3 grid, block, cluster;
    uint32_t dynamic_shared = 0;
    uint32_t static_shared = 0;
    Bytes parameters;                         // packed by the layout
    std::vector<EmuParameter> layout;
    bool cooperative = false;                 // all blocks resident, grid barriers allowed
    int device = 0;
    uint32_t multiprocessors = 1;             // that the device has
    std::shared_ptr<const Partition> partition; // null: all of them
    uint64_t image = 0;                       // from register_image()
    uint64_t id = 0;                          // for cancel(); unique in the process
    Checks checks;
    Limits limits;
    Nanoseconds time_limit{0};
    uint64_t seed = 0;                        // shuffle mode; 0: natural order
    ConditionSink* conditions = nullptr;      // of the graph that runs this; null: no graph does
    GraphLauncher* launcher = nullptr;        // the same
};

enum class FaultKind {
    none,
    illegal_address,      // CUDA_ERROR_ILLEGAL_ADDRESS
    misaligned_address,   // CUDA_ERROR_MISALIGNED_ADDRESS
    assertion,            // CUDA_ERROR_ASSERT
    trap,                 // CUDA_ERROR_LAUNCH_FAILED: __trap, unsupported device function
    deadlock,             // CUDA_ERROR_LAUNCH_FAILED, with who waits where
    divergent_barrier,    // CUDA_ERROR_LAUNCH_FAILED
    warp,                 // CUDA_ERROR_LAUNCH_FAILED: a collective with contradictory masks
    timeout,              // CUDA_ERROR_LAUNCH_TIMEOUT
    stack_overflow,       // CUDA_ERROR_LAUNCH_FAILED
    illegal_instruction,  // CUDA_ERROR_ILLEGAL_INSTRUCTION
    arithmetic,           // CUDA_ERROR_LAUNCH_FAILED: integer division by zero
    heap,                 // CUDA_ERROR_LAUNCH_FAILED: bad free() in a kernel
    out_of_resources,     // CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: no stack or thread to be had
    cancelled,            // CUDA_ERROR_CONTEXT_IS_DESTROYED
};

CUresult result_of(FaultKind kind);

struct Fault {
    FaultKind kind = FaultKind::none;
    CUresult code = CUDA_SUCCESS;
    std::string kernel;
    Dim3 block, thread;     // indices, not sizes
    uint64_t address = 0;   // of the access
    uint32_t size = 0;
    bool store = false;
    std::string file;       // user's file; empty when not known
    int line = 0;
    std::string text;       // the whole report, several lines, ready to print
    explicit operator bool() const { return kind != FaultKind::none; }
};

// Blocks until every thread of the launch has ended or the first fault has stopped it.
// Several launches may run at once and share the pool; none starves.
Fault run(const LaunchRequest& request);

// Makes the launch end soon with FaultKind::cancelled; harmless when it has ended.
void cancel(uint64_t id);

// The OS threads of the pool; started by the first launch. After fork() the child starts
// its own. 0 in a process that has not launched.
int pool_size();

// How many blocks of this kind can be resident at once on one device in this executor;
// cooperative launches of more are refused by the caller. Occupancy figures that follow
// the documented hardware rules are not here but in state.
uint64_t resident_blocks_limit(const LaunchRequest& request);

// Text printed by kernels is kept in order and written to file descriptor 1 by this call
// (called by every synchronising driver function) or when the buffer is full.
void flush_output();

// ------------------------------------------------------------------------ images of code

// A loaded module: where its code lies (for signals and preemption), where its data lies
// (kernels may access it), and its variables.
struct Image {
    uintptr_t code_low = 0, code_high = 0;
    std::vector<EmuRange> data;              // .data, .bss, .rodata as mapped
    std::vector<const EmuVariable*> variables;
    std::string path;                        // to read line tables from: /proc/self/fd/N
    uintptr_t load_bias = 0;
    int device = 0;
};

uint64_t register_image(Image image);        // never 0
void unregister_image(uint64_t image);       // no launch of it may be running

struct CodePlace {
    std::string file, function;
    int line = 0;
};

// Implemented by front (line tables); exec calls it when it writes a report. The one call
// across, given as a pointer so that exec links without front.
using Symbolizer = CodePlace (*)(const Image& image, uintptr_t pc);
void set_symbolizer(Symbolizer symbolizer);

} // namespace emu::exec
