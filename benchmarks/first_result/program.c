// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// The steps of program.py through the C interfaces of the driver and NVRTC.
//
//     program DRIVER NVRTC CODE compile    compile with NVRTC and write the code to the file CODE
//     program DRIVER NVRTC CODE load       load the code of an earlier run, without NVRTC
//
// The libraries are opened at run time and declared here, so no toolkit is needed.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* const SOURCE =
    "extern \"C\" __global__ void twice(float* x, size_t count)\n"
    "{\n"
    "    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;\n"
    "    if (i < count)\n"
    "        x[i] = 2 * x[i];\n"
    "}\n";
enum { COUNT = 1024, MAJOR = 75, MINOR = 76 };

static void* open_library(const char* path) {
    void* library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return library;
}

static void* function(void* library, const char* name) {
    void* address = dlsym(library, name);
    if (address == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return address;
}

static void check(const char* name, int result) {
    if (result != 0) {
        fprintf(stderr, "%s: error %d\n", name, result);
        exit(1);
    }
}

// Every function takes only integers and pointers, and returns an int.
#define CALL(library, name, parameters, ...) \
    check(#name, ((int (*) parameters)function(library, #name))(__VA_ARGS__))

static char* compile(const char* nvrtc_path, int arch, const char* path, size_t* size) {
    void* nvrtc = open_library(nvrtc_path);
    void* program = NULL;
    char option[32];
    const char* options[] = {option};
    snprintf(option, sizeof option, "-arch=sm_%d", arch);
    CALL(nvrtc, nvrtcCreateProgram, (void**, const char*, const char*, int, const char* const*, const char* const*),
         &program, SOURCE, "program", 0, NULL, NULL);
    CALL(nvrtc, nvrtcCompileProgram, (void*, int, const char* const*), program, 1, options);
    CALL(nvrtc, nvrtcGetCUBINSize, (void*, size_t*), program, size);
    char* code = malloc(*size);
    CALL(nvrtc, nvrtcGetCUBIN, (void*, char*), program, code);
    CALL(nvrtc, nvrtcDestroyProgram, (void**), &program);
    FILE* file = fopen(path, "wb");
    check("writing the code", file == NULL || fwrite(code, 1, *size, file) != *size || fclose(file) != 0);
    return code;
}

static char* load(const char* path, size_t* size) {
    FILE* file = fopen(path, "rb");
    check("opening the code", file == NULL || fseek(file, 0, SEEK_END) != 0);
    *size = (size_t)ftell(file);
    rewind(file);
    char* code = malloc(*size);
    check("reading the code", fread(code, 1, *size, file) != *size);
    fclose(file);
    return code;
}

int main(int argc, char** argv) {
    check("number of arguments", argc != 5);
    void* driver = open_library(argv[1]);
    int device = 0, major = 0, minor = 0;
    void *context = NULL, *stream = NULL, *library = NULL, *kernel = NULL;
    float* x = NULL;
    size_t size = 0, count = COUNT;
    CALL(driver, cuInit, (unsigned), 0);
    CALL(driver, cuDeviceGet, (int*, int), &device, 0);
    CALL(driver, cuDevicePrimaryCtxRetain, (void**, int), &context, device);
    CALL(driver, cuCtxSetCurrent, (void*), context);
    CALL(driver, cuDeviceGetAttribute, (int*, int, int), &major, MAJOR, device);
    CALL(driver, cuDeviceGetAttribute, (int*, int, int), &minor, MINOR, device);
    CALL(driver, cuStreamCreate, (void**, unsigned), &stream, 1);
    int is_compiled = strcmp(argv[4], "compile") == 0;
    char* code = is_compiled ? compile(argv[2], major * 10 + minor, argv[3], &size) : load(argv[3], &size);
    CALL(driver, cuLibraryLoadData, (void**, const void*, void*, void*, unsigned, void*, void*, unsigned), &library, code,
         NULL, NULL, 0, NULL, NULL, 0);
    CALL(driver, cuLibraryGetKernel, (void**, void*, const char*), &kernel, library, "twice");
    CALL(driver, cuMemAllocHost_v2, (void**, size_t), (void**)&x, COUNT * sizeof *x);
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)i;
    void* arguments[] = {&x, &count};
    CALL(driver, cuLaunchKernel,
         (void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**), kernel,
         COUNT / 256, 1, 1, 256, 1, 1, 0, stream, arguments, NULL);
    CALL(driver, cuStreamSynchronize, (void*), stream);
    for (int i = 0; i < COUNT; i++)
        check("verifying the result", x[i] != 2 * (float)i);
    return 0;
}
