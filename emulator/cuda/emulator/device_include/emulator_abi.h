// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The interface between a compiled kernel module and the library. Freestanding: includes nothing, compiles as C++11 and
// later, with g++ and clang. Any change of a layout, a signature or a meaning increments EMU_ABI_VERSION. The loader
// rejects modules of other versions, and the version is part of the cache key.
#pragma once

#define EMU_ABI_VERSION 10u

#define EMU_HIDDEN __attribute__((visibility("hidden")))
#define EMU_IMPORT __attribute__((visibility("default")))
#define EMU_TLS __thread __attribute__((tls_model("initial-exec")))
#define EMU_NO_CHECK __attribute__((no_sanitize("kernel-address", "address", "thread", "alignment")))
// Parameters with the caller's source location. The default arguments are evaluated at the call, so calls keep their
// location even if the compiler duplicates, inlines or moves them.
#define EMU_LOCATION const char *file = __builtin_FILE(), emu_u32 line = __builtin_LINE()

typedef __UINT8_TYPE__ emu_u8;
typedef __UINT32_TYPE__ emu_u32;
typedef __INT32_TYPE__ emu_i32;
typedef __UINT64_TYPE__ emu_u64;
typedef __UINTPTR_TYPE__ emu_uptr;
typedef __SIZE_TYPE__ emu_size;

extern "C" {

// ------------------------------------------------------------------------ thread state
//
// The library defines these symbols; modules import them. Only the executor writes them: block-wide values when a
// block starts, per-thread values on every fiber switch. A block never leaves its OS thread, so an address of
// thread-local memory taken by a kernel stays valid for the whole block. Their total size must stay below 448 bytes,
// because a library loaded with dlopen gets little of the static TLS area.

struct EmuDim3 {
    emu_u32 x, y, z;
};

// A range [low, high) allowed by the slow check, remembered for the fast check. The last range allows reads only.
struct EmuRange {
    emu_uptr low, high;
};

enum { EMU_RECENT_RANGES = 4 };

struct EmuThread {
    emu_u32 linear;              // x + y * width + z * width * height
    emu_u32 end;                 // the kernel runs the threads from `linear` up to this number
    emu_u32 row_end;             // the minimum of this and the end of their row, set by the kernel
    emu_u32 threads;             // threads in the block
    void* dynamic_shared;        // at least 16-byte aligned; the host uses 1024
    emu_u32 dynamic_shared_size; // bytes requested by the launch
    emu_u32 static_shared_size;  // bytes of __shared__ used by the running kernel
    emu_uptr stack_low;          // usable stack of the running fiber
    emu_uptr stack_high;
    EmuRange recent[EMU_RECENT_RANGES];
    emu_u32 recent_next;         // next entry of `recent` to replace
    emu_u32 checks;              // EMU_CHECK_* in force for this launch
    EmuDim3 cluster_block;       // this block within its cluster (0,0,0 without clusters)
    EmuDim3 cluster_dim;         // blocks per cluster (1,1,1 without clusters)
    void* block;                 // owned by the executor
    void* fiber;                 // owned by the executor
    emu_u32 no_preempt;          // if positive, the monitor does not preempt this thread
    emu_u32 smid;                // this block's SM number
    emu_u32 nsmid;               // the device's number of SMs
    emu_u32 reserved[2];
};

#define EMU_LANE (::emu_thread.linear & 31)
#define EMU_WARP (::emu_thread.linear >> 5)

extern EMU_IMPORT EMU_TLS EmuThread emu_thread;
// Separate symbols, so that the device header can declare `threadIdx` and similar variables as const uint3 and dim3
// with these symbols as their assembler names.
extern EMU_IMPORT EMU_TLS EmuDim3 emu_thread_idx;
extern EMU_IMPORT EMU_TLS EmuDim3 emu_block_idx;
extern EMU_IMPORT EMU_TLS EmuDim3 emu_block_dim;
extern EMU_IMPORT EMU_TLS EmuDim3 emu_grid_dim;

// EmuThread::checks omits STACK, ROWS, COVERAGE and DEBUG, which concern only the compiler.
enum { EMU_CHECK_MEMORY = 1, EMU_CHECK_INITIALIZED = 2, EMU_CHECK_RACES = 4, EMU_CHECK_STACK = 8, EMU_CHECK_ROWS = 16,
       EMU_CHECK_COVERAGE = 32, EMU_CHECK_DEBUG = 64, EMU_CHECK_ADVICE = 128 };

// ---------------------------------------------------------------------------- barriers
//
// Every function that may suspend the calling thread is an opaque call, so the compiler
// keeps no values of shared or global memory in registers across it. A barrier is identified by
// its source location, never by the address of the call, because the compiler duplicates calls.

enum EmuReduce { EMU_REDUCE_COUNT = 0, EMU_REDUCE_AND = 1, EMU_REDUCE_OR = 2 };

EMU_IMPORT void emu_barrier(EMU_LOCATION);                                   // __syncthreads
// Implements __syncthreads_count/and/or, and bar.red; id and count as below.
EMU_IMPORT int emu_barrier_reduce(int op, int predicate, emu_u32 id, emu_u32 count, EMU_LOCATION);
EMU_IMPORT void emu_barrier_named(emu_u32 id, emu_u32 count, EMU_LOCATION); // id 0..15; count 0: whole block
EMU_IMPORT void emu_barrier_arrive(emu_u32 id, emu_u32 count, EMU_LOCATION);
// A split barrier: wait takes the token returned by arrive.
EMU_IMPORT emu_u32 emu_block_arrive(EMU_LOCATION);
EMU_IMPORT void emu_block_wait(emu_u32 token, EMU_LOCATION);
// Tile barriers: 64 to 1024 adjacent threads, a power of two, aligned to their number. The slots hold one pointer per
// thread of the block; a tile's threads exchange values through them.
EMU_IMPORT void emu_tile_barrier(emu_u32 size, EMU_LOCATION);
EMU_IMPORT void** emu_tile_slots(void);
// Waits for all threads of all blocks of a cooperative launch. Any other launch ends with a trap that names the
// problem.
EMU_IMPORT void emu_grid_barrier(EMU_LOCATION);
EMU_IMPORT int emu_grid_is_cooperative(void);
// Cluster barriers: wait takes the token returned by arrive.
EMU_IMPORT emu_u32 emu_cluster_arrive(EMU_LOCATION);
EMU_IMPORT void emu_cluster_wait(emu_u32 token, EMU_LOCATION);
EMU_IMPORT emu_u32 emu_cluster_token(void); // of the last arrival of this thread
EMU_IMPORT void* emu_cluster_map(const void* shared_address, emu_u32 rank);
EMU_IMPORT emu_u32 emu_cluster_rank_of(const void* shared_address); // of its block
EMU_IMPORT int emu_is_shared(const void* address, int in_cluster);  // of this block, or of its cluster
EMU_IMPORT int emu_is_local(const void* address);                   // of this thread
EMU_IMPORT int emu_is_constant(const void* address);                // of a __constant__ variable

// ------------------------------------------------------------------------------- warps
//
// One function for all collectives. Each lane of `mask` calls with the same op, mask and width; the last lane to arrive
// computes everyone's results. An exited lane counts as absent. It is a fault (EMU_FAULT_WARP) if a lane's mask lacks
// its own bit, or if lanes call with different ops. `in` and `out` point into the caller's stack frame.

enum EmuWarpOp {
    EMU_WARP_SYNC = 0,
    EMU_WARP_SHUFFLE_INDEX = 1, // argument: source lane; width: 1..32, a power of two
    EMU_WARP_SHUFFLE_UP = 2,    // argument: delta
    EMU_WARP_SHUFFLE_DOWN = 3,
    EMU_WARP_SHUFFLE_XOR = 4,   // argument: lane mask
    EMU_WARP_ALL = 8,           // in: 4 bytes predicate; out: 4 bytes
    EMU_WARP_ANY = 9,
    EMU_WARP_UNIFORM = 10,
    EMU_WARP_BALLOT = 11,
    EMU_WARP_MATCH_ANY = 12,    // in: `size` bytes; out: 4 bytes mask
    EMU_WARP_MATCH_ALL = 13,    // out: 4 bytes mask, then 4 bytes predicate
    EMU_WARP_ADD_U32 = 16,      // reductions; in and out: `size` bytes
    EMU_WARP_MIN_U32 = 17,
    EMU_WARP_MAX_U32 = 18,
    EMU_WARP_MIN_I32 = 19,
    EMU_WARP_MAX_I32 = 20,
    EMU_WARP_AND = 21,
    EMU_WARP_OR = 22,
    EMU_WARP_XOR = 23,
};

struct EmuWarpCall {
    emu_u32 op;       // EmuWarpOp
    emu_u32 mask;     // participants, by absolute lane
    emu_u32 argument; // see EmuWarpOp
    emu_u32 width;    // shuffles only; else 32
    emu_u32 size;     // bytes of `in`: 1, 2, 4, 8 or 16
    emu_u32 in_range; // set for shuffles: whether the source lane lay within the segment
    const void* in;
    void* out;
};

EMU_IMPORT void emu_warp(EmuWarpCall* call);
EMU_IMPORT emu_u32 emu_active_mask(void); // lanes of this warp that have not exited

// ---------------------------------------------------------------------------- services

EMU_IMPORT int emu_printf(const char* format, ...) __attribute__((format(printf, 1, 2)));
// The kinds of the values, which the format must fit.
enum EmuPrinted { EMU_PRINTED_INT = 1, EMU_PRINTED_LONG, EMU_PRINTED_DOUBLE, EMU_PRINTED_POINTER, EMU_PRINTED_OBJECT };
EMU_IMPORT int emu_printf_of(const emu_u8* kinds, emu_u32 count, const char* format, ...);
EMU_IMPORT int emu_vprintf(const char* format, __builtin_va_list arguments);
// The values are stored consecutively, as in a struct.
EMU_IMPORT int emu_printf_packed(const char* format, const void* values);
EMU_IMPORT void emu_assert_fail(const char* expression, const char* file, unsigned line,
                                const char* function) __attribute__((noreturn));
EMU_IMPORT void emu_trap(const char* why) __attribute__((noreturn)); // why: may be null
EMU_IMPORT void emu_unreachable(const char* what, const char* file, emu_u32 line);
EMU_IMPORT void emu_exit_thread(void) __attribute__((noreturn));
EMU_IMPORT void* emu_malloc(emu_size bytes); // 16-byte aligned; null when the heap is full
EMU_IMPORT void emu_free(void* pointer);
EMU_IMPORT emu_u64 emu_clock(void);        // cycles, as clock64()
EMU_IMPORT emu_u64 emu_global_timer(void); // nanoseconds
EMU_IMPORT void emu_nanosleep(emu_u32 nanoseconds);
EMU_IMPORT void emu_yield(void); // lets other threads of the block run
EMU_IMPORT void emu_set_condition(emu_u64 handle, emu_u32 value); // for a conditional node

// Kernels that launch graphs: the values that cudaGraphLaunch() accepts and returns.
enum EmuGraphLaunch {
    EMU_ERROR_INVALID_VALUE = 1,
    EMU_ERROR_LAUNCH_PENDING_COUNT_EXCEEDED = 69,
    EMU_ERROR_NOT_SUPPORTED = 801
};
EMU_IMPORT int emu_launch_graph(emu_u64 graph, emu_u64 way);
EMU_IMPORT emu_u64 emu_current_graph(void); // null outside a graph

// ------------------------------------------------------------------- textures, surfaces
//
// One function for all texture reads, and one for all surface accesses. A handle of any other object, or of one with
// another shape, is a fault (EMU_FAULT_TRAP).

enum EmuTextureKind {
    EMU_TEXTURE_FETCH = 0, // of linear memory, by `index`
    EMU_TEXTURE_1D = 1,
    EMU_TEXTURE_2D = 2,
    EMU_TEXTURE_3D = 3,
    EMU_TEXTURE_1D_LAYERED = 4,
    EMU_TEXTURE_2D_LAYERED = 5,
    EMU_TEXTURE_CUBE = 6,
    EMU_TEXTURE_CUBE_LAYERED = 7,
    EMU_TEXTURE_GATHER = 8, // `index`: the channel
};

enum EmuTextureLevel { EMU_LEVEL_BASE = 0, EMU_LEVEL_GIVEN = 1, EMU_LEVEL_GRADIENTS = 2 };

struct EmuTextureCall {
    emu_u64 texture;
    emu_u32 kind;       // EmuTextureKind
    emu_u32 level_kind; // EmuTextureLevel
    float at[3];
    emu_i32 index;
    emu_i32 layer;
    float level;
    float dx[3], dy[3]; // gradients
    emu_u32 words[4];   // the result: bits of floats, or integers extended to 32 bits
    const char* file;   // of the call in the kernel
    emu_u32 line;
};

EMU_IMPORT void emu_texture_read(EmuTextureCall* call);

enum EmuImageProperty {
    EMU_IMAGE_WIDTH = 0,
    EMU_IMAGE_HEIGHT = 1,
    EMU_IMAGE_DEPTH = 2,
    EMU_IMAGE_ARRAY_SIZE = 3,
    EMU_IMAGE_NUM_MIPMAP_LEVELS = 4,
};
// Returns a property of a texture or surface.
EMU_IMPORT emu_u32 emu_image_query(emu_u64 object, int is_surface, emu_u32 property, emu_u32 level, EMU_LOCATION);

enum EmuSurfaceKind { // the values of EmuTextureKind
    EMU_SURFACE_1D = 1,
    EMU_SURFACE_2D = 2,
    EMU_SURFACE_3D = 3,
    EMU_SURFACE_1D_LAYERED = 4,
    EMU_SURFACE_2D_LAYERED = 5,
    EMU_SURFACE_CUBE = 6,
    EMU_SURFACE_CUBE_LAYERED = 7,
};

enum EmuBoundary { EMU_BOUNDARY_ZERO = 0, EMU_BOUNDARY_CLAMP = 1, EMU_BOUNDARY_TRAP = 2 };

struct EmuSurfaceCall {
    emu_u64 surface;
    emu_u32 kind;     // EmuSurfaceKind
    emu_u32 boundary; // EmuBoundary
    emu_i32 x, y, z;  // x in bytes; z: slice, layer, face, or 6 * layer + face
    emu_u32 size;     // bytes of `data`: 1, 2, 4, 8 or 16
    void* data;
    emu_u32 store;    // 0: load
    emu_u32 line;
    const char* file;
};

EMU_IMPORT void emu_surface_access(EmuSurfaceCall* call);

// ------------------------------------------------------------------------ access checks
//
// `-fsanitize=kernel-address` with outlined checks makes the compiler call __asan_load{1,2,4,8,16,N}_noabort and
// __asan_store*. Each module has its own hidden definitions (emulator_checks.h), so calls never reach a sanitizer in
// the process:
//   1. the address is in the module's `space`: check the shadow byte;
//   2. it is in the frames of the thread's functions or in one of `recent`: allowed;
//   3. otherwise emu_check_slow, which returns for allowed memory (and remembers the range) or ends the launch with a
//      fault.
// The shadow has one byte for 8 bytes of memory. 0: all are accessible; 1..7: only the first bytes; 0x80 and above:
// none, and the value is the reason (EmuShadow). Before step 1, the same callbacks check the access's alignment.
// With EMU_CHECK_MEMORY alone, g++ reads the fixed shadow inline, and calls __asan_report_* for memory that is closed
// there. These functions do the same.

enum EmuShadow {
    EMU_SHADOW_OPEN = 0x00,
    EMU_SHADOW_UNMAPPED = 0xf0, // never allocated
    EMU_SHADOW_REDZONE = 0xf1,  // beside an allocation
    EMU_SHADOW_FREED = 0xf2,
    EMU_SHADOW_FOREIGN = 0xf3,  // of another device, without peer access
};

enum EmuAccess {
    EMU_ACCESS_LOAD = 0, EMU_ACCESS_STORE = 1, EMU_ACCESS_MISALIGNED = 2, EMU_ACCESS_ATOMIC = 4, EMU_ACCESS_VOLATILE = 8,
    EMU_ACCESS_RELEASE = 16, // an atomic access with release or stronger order
    EMU_ACCESS_RETURNED = 32, // in the frame of a function that has returned
    EMU_ACCESS_LATER = 64, // a store that happens after the call
    EMU_ACCESS_MARKED = 128 // to global memory, by a kernel whose unwritten variables have the values below
};

// With EMU_CHECK_INITIALIZED: the values of local variables that the kernel has not written, see emulator_unwritten.h.
// The floating-point ones are the same NaN.
#define EMU_UNWRITTEN_FLOAT 0x7fe5a3d1u
#define EMU_UNWRITTEN_DOUBLE 0x7ffcb47a20000000ull
#define EMU_UNWRITTEN_LONG 0xfe8d4b29c2864b95ull

// For the races check: a fence, and the scope of the calling thread's next atomic access.
// RELEASE: it has release or stronger order. TOGETHER, alone: the next access is one of a PTX module; see
// Races::is_harmless. SWAP, alone: the next atomic store is a compare and swap.
enum EmuScope {
    EMU_SCOPE_BLOCK = 0,
    EMU_SCOPE_DEVICE = 1,
    EMU_SCOPE_RELEASE = 2,
    EMU_SCOPE_TOGETHER = 4,
    EMU_SCOPE_SWAP = 8
};
EMU_IMPORT void emu_fence(emu_u32 scope);
EMU_IMPORT void emu_next_scope(emu_u32 scope);

EMU_IMPORT void emu_check_slow(emu_uptr address, emu_size size, emu_u32 access, void* pc);
// A variable or compiler constant, with the red zone after it, in the form that compilers pass to
// __asan_register_globals(). A module's constructor calls that function.
struct EmuTable {
    const void* address;
    emu_size size, room; // room: with the red zone
    const char* name;
    const void* more[4];
};
EMU_IMPORT void emu_name_tables(const EmuTable* tables, emu_size count);
EMU_IMPORT void emu_misaligned(emu_uptr address, emu_size size, emu_u32 access, const char* file, emu_u32 line);
// Called for each allowed access if `emu_thread.checks` contains more than EMU_CHECK_MEMORY. Returns true, without a check,
// if other threads should run first.
EMU_IMPORT bool emu_watch(emu_uptr address, emu_size size, emu_u32 access, void* pc);
EMU_IMPORT void emu_preempt(void);
// With EMU_CHECK_INITIALIZED: an atomic operation is about to use the earlier value.
EMU_IMPORT void emu_update(emu_uptr address, emu_size size);

// Called before a volatile access outside the window: lets all lanes of a warp come to such an access first.
EMU_IMPORT void emu_step(emu_uptr address, void* pc);

// With EMU_CHECK_RACES: a load of memory that stays the same while the kernel runs.
EMU_IMPORT void emu_read_only(emu_uptr address, emu_size size, EMU_LOCATION);

// Called in each basic block with EMU_CHECK_COVERAGE; `pc` is in the block.
EMU_IMPORT void emu_cover(void* pc);

// Reports an index outside an array type; `type` is in the compiler's notation: "'int [8]'".
EMU_IMPORT void emu_bad_index(emu_uptr index, const char* type, const char* file, emu_u32 line);
EMU_IMPORT void emu_bad_division(const char* file, emu_u32 line); // where the processor does not trap

// Compiler-inserted code finds the shadow of an address at this fixed distance from the address divided by 8.
#define EMU_FIXED_SHADOW 0x200000000000ull

// The address window that has a shadow. The loader fills this in before any kernel runs.
struct EmuSpace {
    emu_uptr base;
    emu_uptr size;
    emu_u8* shadow; // of `base`
    // With EMU_CHECK_INITIALIZED, one bit for each byte that has been written, for memory that can be uninitialized.
    emu_u8* contents;
    emu_uptr contents_size; // in bytes of memory, starting at `base`
};

// --------------------------------------------------------------------------- records
//
// A module has no constructors, except those of the checks, which name its constants. The loader finds its data by
// symbol name (not by section, because a static member of a template cannot be put into one):
//   emu_module                                   one EmuModule
//   any symbol containing "emu_kernel_record"    an EmuKernel each
//   any symbol containing "emu_variable_record"  an EmuVariable each
// The lowered name of a kernel or variable is the symbol at `address`.

struct EmuModule {
    emu_u32 abi_version; // EMU_ABI_VERSION
    emu_u32 size;        // sizeof(EmuModule)
    emu_u32 checks;      // EMU_CHECK_* the module was compiled with
    emu_u32 architecture; // 90 for sm_90: __CUDA_ARCH__ / 10
    EmuSpace space;      // written by the loader
    emu_u64 reserved[4];
};

struct EmuParameter {
    emu_u32 offset; // in the packed buffer, by C alignment rules
    emu_u32 size;
};

// Calls the kernel with copies of the parameters; params[i] points to the value of parameter i. Runs one thread,
// prepared by the executor, or also all threads that follow before EmuThread::end.
typedef void (*EmuEntry)(void* const* params);

struct EmuKernel {
    emu_u32 abi_version;
    emu_u32 size; // sizeof(EmuKernel)
    const void* address; // of the kernel function
    EmuEntry entry;
    const EmuParameter* parameters;
    emu_u32 parameter_count;
    emu_u32 parameter_bytes;
    emu_u32 static_shared; // bytes
    emu_u32 max_threads;   // __launch_bounds__; 0: not specified
    emu_u32 min_blocks;
    emu_u32 max_cluster;
    EmuDim3 cluster; // __cluster_dims__; 0: not specified
    emu_u32 flags;   // 0
    const char* file;
    emu_u32 line;
    emu_u32 reserved[3];
};

enum EmuVariableKind {
    EMU_VARIABLE_DEVICE = 0,
    EMU_VARIABLE_CONSTANT = 1,
    EMU_VARIABLE_MANAGED = 2,
    EMU_VARIABLE_SHARED = 3, // `address` is null, `locate` returns the calling thread's copy
};

// For a shared variable at namespace scope: the compiler does not instrument accesses to constant places in it.
enum EmuVariableFlag { EMU_SHARED_IS_OUTSIDE = 1 };

struct EmuVariable {
    emu_u32 abi_version;
    emu_u32 kind; // EmuVariableKind
    void* address;
    void* (*locate)(void);
    emu_u64 size; // bytes, without the padding added by the front end
    emu_u64 room; // bytes with that padding
    const char* name;
    const char* file;
    emu_u32 line;
    emu_u32 flags; // EmuVariableFlag
};

} // extern "C"
