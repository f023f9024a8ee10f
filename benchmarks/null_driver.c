// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// A CUDA driver that does nothing, so the time of a call is the library's overhead.
//
//     cc -O2 -shared -fPIC -Wl,-soname,libcuda.so.1 -o libcuda.so.1 null_driver.c
//
// The bindings find every entry point through cuGetProcAddress_v2, the only exported function. Entry
// points that are missing from the table below succeed and write nothing. A kernel's name contains the
// sizes of its parameters: "saxpy_4_8_8_8_8" has five.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define MAX_PARAMS 32

typedef int Result;
typedef unsigned long long Pointer;
enum { SUCCESS = 0, INVALID_VALUE = 1, INVALID_CONTEXT = 201 };

struct Kernel {
    size_t count;
    size_t size[MAX_PARAMS];
    size_t offset[MAX_PARAMS];
};

struct KernelNode {
    void* function;
    unsigned grid[3], block[3], shared;
    void** parameters;
    void** extra;
    void* kernel;
    void* context;
};

static char primary_context, default_pool, a_library;
static __thread void* current_context;

// Nothing uses the handles and addresses, so any distinct numbers will do.
static uintptr_t new_number(void) {
    static uintptr_t last = 0x10000;
    return __sync_add_and_fetch(&last, 1 << 20);
}

// clang-format off

static Result succeed(void) { return SUCCESS; }
static Result new_handle(void** handle) { *handle = (void*)new_number(); return SUCCESS; }
static Result new_pointer(Pointer* pointer) { *pointer = new_number(); return SUCCESS; }
static Result one(int* value) { *value = 1; return SUCCESS; }

// Initialization and devices
static Result driver_version(int* version) { *version = 13000; return SUCCESS; }
static Result device_get(int* device, int ordinal) { *device = ordinal; return SUCCESS; }
static Result device_name(char* name, int size, int device) { strncpy(name, "null", size); return SUCCESS; }
static Result device_uuid(char* uuid, int device) { memset(uuid, 1, 16); return SUCCESS; }

static Result device_attribute(int* value, int attribute, int device) {
    switch (attribute) {
    case 10: *value = 32; break;    // warp size
    case 1: *value = 1024; break;   // threads per block
    case 75: *value = 9; break;     // compute capability
    case 76: *value = 0; break;
    default: *value = 1;
    }
    return SUCCESS;
}

// Contexts
static Result primary_retain(void** context, int device) { *context = &primary_context; return SUCCESS; }
static Result primary_state(int device, unsigned* flags, int* is_active) { *flags = 0; *is_active = 1; return SUCCESS; }
static Result set_current(void* context) { current_context = context; return SUCCESS; }
static Result get_current(void** context) { *context = current_context; return SUCCESS; }
static Result pop_current(void** context) { if (context) *context = current_context; return SUCCESS; }
static Result context_device(int* device) { *device = 0; return current_context ? SUCCESS : INVALID_CONTEXT; }
static Result context_id(void* context, Pointer* id) { *id = 1; return SUCCESS; }
static Result priorities(int* least, int* greatest) { *least = 0; *greatest = -5; return SUCCESS; }

// Streams and events
static Result stream_context(void* stream, void** context) { *context = &primary_context; return SUCCESS; }
static Result stream_number(void* stream, int* value) { *value = 0; return SUCCESS; }
static Result stream_id(void* stream, Pointer* id) { *id = 1; return SUCCESS; }
static Result elapsed(float* milliseconds) { *milliseconds = 1; return SUCCESS; }

// Memory
static Result host_alloc(void** pointer, size_t size) { *pointer = malloc(size); return SUCCESS; }
static Result host_free(void* pointer) { free(pointer); return SUCCESS; }
static Result get_pool(void** pool) { *pool = &default_pool; return SUCCESS; }

static Result pool_attribute(void* pool, int attribute, void* value) {
    memset(value, 0, attribute <= 3 ? sizeof(int) : sizeof(Pointer));  // the first three are flags
    return SUCCESS;
}

static Result pointer_attribute(void* value, int attribute, Pointer pointer) {
    if (attribute == 1) *(void**)value = &primary_context;
    else *(int*)value = attribute == 2 ? 2 : 0;  // memory type: device
    return SUCCESS;
}

static Result pointer_attributes(unsigned count, int* attributes, void** values, Pointer pointer) {
    for (unsigned i = 0; i < count; i++) pointer_attribute(values[i], attributes[i], pointer);
    return SUCCESS;
}

// Libraries and kernels
static Result get_kernel(struct Kernel** kernel, void* library, const char* name) {
    struct Kernel* made = calloc(1, sizeof *made);
    size_t end = 0;
    for (name = strchr(name, '_'); name && made->count < MAX_PARAMS; name = strchr(name + 1, '_')) {
        const size_t size = strtoul(name + 1, NULL, 10);
        if (size == 0) break;
        made->offset[made->count] = (end + size - 1) / size * size;
        end = made->offset[made->count] + size;
        made->size[made->count++] = size;
    }
    *kernel = made;
    return SUCCESS;
}

static Result kernel_function(void** function, void* kernel) { *function = kernel; return SUCCESS; }
static Result kernel_library(void** library, void* kernel) { *library = &a_library; return SUCCESS; }
static Result kernel_name(const char** name, void* kernel) { *name = "kernel"; return SUCCESS; }
static Result kernel_attribute(int* value) { *value = 1024; return SUCCESS; }
static Result param_count(struct Kernel* kernel, size_t* count) { *count = kernel->count; return SUCCESS; }

static Result param_info(struct Kernel* kernel, size_t index, size_t* offset, size_t* size) {
    if (index >= kernel->count) return INVALID_VALUE;
    *offset = kernel->offset[index];
    if (size) *size = kernel->size[index];
    return SUCCESS;
}

// Graphs
static int is_capturing;
static Result node_type(void* node, int* type) { *type = 0; return SUCCESS; }  // a kernel
// A captured graph has a node for each of the first kernels launched in it, and keeps their parameters.
#define MAX_NODES 8
static struct { struct Kernel* kernel; char block[256]; void* cells[MAX_PARAMS]; } nodes[MAX_NODES];
static size_t node_count;

static Result launch(const void* config, struct Kernel* kernel, void** parameters) {
    if (!is_capturing || node_count == MAX_NODES) return SUCCESS;
    for (size_t i = 0; i < kernel->count; i++) {
        nodes[node_count].cells[i] = nodes[node_count].block + kernel->offset[i];
        memcpy(nodes[node_count].cells[i], parameters[i], kernel->size[i]);
    }
    nodes[node_count++].kernel = kernel;
    return SUCCESS;
}

static Result graph_nodes(void* graph, void** found, size_t* count) {
    for (size_t i = 0; found && i < node_count; i++) found[i] = &nodes[i];
    *count = node_count;
    return SUCCESS;
}

static Result graph_edges(void* graph, void** from, void** to, void* data, size_t* count) { *count = 0; return SUCCESS; }

static Result kernel_params(void* node, struct KernelNode* params) {
    const size_t i = (char*)node >= (char*)nodes ? ((char*)node - (char*)nodes) / sizeof *nodes : MAX_NODES;
    if (i >= MAX_NODES) return SUCCESS;
    params->kernel = nodes[i].kernel;
    params->parameters = nodes[i].cells;
    return SUCCESS;
}

static Result capture_begin(void) { is_capturing = 1; node_count = 0; return SUCCESS; }
static Result capture_end(void* stream, void** graph) { is_capturing = 0; return new_handle(graph); }
static Result capture_status(void* stream, int* status) { *status = is_capturing; return SUCCESS; }

// Errors
static Result error_name(int error, const char** name) { *name = "CUDA_ERROR"; return SUCCESS; }
static Result error_text(int error, const char** text) { *text = "an error"; return SUCCESS; }

// clang-format on

EXPORT Result cuGetProcAddress_v2(const char* name, void** function, int version, Pointer flags, int* status);

static const struct {
    const char* name;
    void* function;
} entry_points[] = {
    {"cuGetProcAddress", cuGetProcAddress_v2},
    {"cuGraphAddKernelNode", new_handle},
    {"cuGraphAddNode", new_handle},
    {"cuGraphAddNode_v2", new_handle},
    {"cuGraphCreate", new_handle},
    {"cuGraphInstantiateWithFlags", new_handle},
    {"cuGraphInstantiateWithParams", new_handle},
    {"cuGraphNodeGetType", node_type},
    {"cuGraphGetNodes", graph_nodes},
    {"cuGraphGetEdges", graph_edges},
    {"cuGraphKernelNodeGetParams", kernel_params},
    {"cuLaunchKernelEx", launch},
    {"cuStreamBeginCapture", capture_begin},
    {"cuStreamEndCapture", capture_end},
    {"cuStreamIsCapturing", capture_status},
    {"cuUserObjectCreate", new_handle},
    {"cuDriverGetVersion", driver_version},
    {"cuDeviceGetCount", one},
    {"cuDeviceGet", device_get},
    {"cuDeviceGetName", device_name},
    {"cuDeviceGetUuid", device_uuid},
    {"cuDeviceGetAttribute", device_attribute},
    {"cuDeviceGetDefaultMemPool", get_pool},
    {"cuDeviceGetMemPool", get_pool},
    {"cuDevicePrimaryCtxRetain", primary_retain},
    {"cuDevicePrimaryCtxGetState", primary_state},
    {"cuCtxSetCurrent", set_current},
    {"cuCtxPushCurrent", set_current},
    {"cuCtxGetCurrent", get_current},
    {"cuCtxPopCurrent", pop_current},
    {"cuCtxGetDevice", context_device},
    {"cuCtxGetId", context_id},
    {"cuCtxGetStreamPriorityRange", priorities},
    {"cuStreamCreate", new_handle},
    {"cuStreamCreateWithPriority", new_handle},
    {"cuStreamGetCtx", stream_context},
    {"cuStreamGetDevice", stream_number},
    {"cuStreamGetFlags", stream_number},
    {"cuStreamGetPriority", stream_number},
    {"cuStreamGetCaptureInfo", stream_number},
    {"cuStreamGetId", stream_id},
    {"cuEventCreate", new_handle},
    {"cuEventElapsedTime", elapsed},
    {"cuMemAlloc", new_pointer},
    {"cuMemAllocAsync", new_pointer},
    {"cuMemAllocFromPoolAsync", new_pointer},
    {"cuMemAllocHost", host_alloc},
    {"cuMemHostAlloc", host_alloc},
    {"cuMemFreeHost", host_free},
    {"cuMemPoolCreate", new_handle},
    {"cuMemPoolGetAttribute", pool_attribute},
    {"cuMemGetMemPool", get_pool},
    {"cuMemGetDefaultMemPool", get_pool},
    {"cuPointerGetAttribute", pointer_attribute},
    {"cuPointerGetAttributes", pointer_attributes},
    {"cuLibraryLoadData", new_handle},
    {"cuLibraryGetKernel", get_kernel},
    {"cuLibraryGetModule", new_handle},
    {"cuKernelGetFunction", kernel_function},
    {"cuKernelGetLibrary", kernel_library},
    {"cuKernelGetName", kernel_name},
    {"cuKernelGetAttribute", kernel_attribute},
    {"cuFuncGetAttribute", kernel_attribute},
    {"cuKernelGetParamCount", param_count},
    {"cuKernelGetParamInfo", param_info},
    {"cuFuncGetParamInfo", param_info},
    {"cuOccupancyMaxActiveBlocksPerMultiprocessor", one},
    {"cuGetErrorName", error_name},
    {"cuGetErrorString", error_text},
};

Result cuGetProcAddress_v2(const char* name, void** function, int version, Pointer flags, int* status) {
    if (status) *status = 0;
    *function = succeed;
    for (size_t i = 0; i < sizeof entry_points / sizeof *entry_points; i++)
        if (strcmp(entry_points[i].name, name) == 0) *function = entry_points[i].function;
    return SUCCESS;
}
