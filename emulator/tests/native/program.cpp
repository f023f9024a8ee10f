// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// A program that compiles a file of kernels (the second argument) and runs them, with the library of the first argument as
// driver and as NVRTC. The third argument names a last kernel, which fails. Prints a result for each kernel.
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

void* library;

template <class... T> int call(const char* name, T... arguments)
{
    auto function = reinterpret_cast<int (*)(T...)>(dlsym(library, name));
    int result = function ? function(arguments...) : -1;
    if (result && std::string(name) != "cuCtxSynchronize")
        std::printf("%s returned %d\n", name, result);
    return result;
}

std::vector<char> compile(const std::string& source)
{
    void* program = nullptr;
    const char* option = "--gpu-architecture=sm_90";
    call("nvrtcCreateProgram", &program, source.c_str(), "program.cu", 0, nullptr, nullptr);
    bool failed = call("nvrtcCompileProgram", program, 1, &option);
    size_t size = 0;
    call(failed ? "nvrtcGetProgramLogSize" : "nvrtcGetCUBINSize", program, &size);
    std::vector<char> out(size);
    call(failed ? "nvrtcGetProgramLog" : "nvrtcGetCUBIN", program, out.data());
    if (failed)
        std::printf("%s\n", out.data());
    return out;
}

void* module;
typedef unsigned long long Pointer;
Pointer in, out;

int launch(const char* name, unsigned blocks, unsigned threads, int number = 0)
{
    void* kernel = nullptr;
    void* arguments[] = {&in, &out, &number};
    call("cuModuleGetFunction", &kernel, module, name);
    call("cuLaunchKernel", kernel, blocks, 1u, 1u, threads, 1u, 1u, 0u, (void*)nullptr, (void**)arguments, (void**)nullptr);
    return call("cuCtxSynchronize");
}

template <class T> void write(Pointer target, const std::vector<T>& values)
{
    call("cuMemcpyHtoD_v2", target, (const void*)values.data(), values.size() * sizeof(T));
}
template <class T> std::vector<T> read(size_t count)
{
    std::vector<T> values(count);
    call("cuMemcpyDtoH_v2", (void*)values.data(), out, count * sizeof(T));
    return values;
}

} // namespace

int main(int, char** arguments)
{
    library = dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        return std::printf("%s\n", dlerror()), 1;
    std::stringstream source;
    source << std::ifstream(arguments[2]).rdbuf();
    void* context = nullptr;
    call("cuInit", 0u);
    call("cuCtxCreate_v2", &context, 0u, 0);
    call("cuModuleLoadData", &module, (const void*)compile(source.str()).data());
    constexpr int count = 1000;
    call("cuMemAlloc_v2", &in, size_t(count * 4));
    call("cuMemAlloc_v2", &out, size_t(count * 4));
    std::vector<float> x(count), y(count, 1);
    for (int i = 0; i < count; ++i)
        x[i] = float(i);
    write(in, x), write(out, y);
    int code = launch("saxpy", 8, 128, count);
    int good = 0;
    y = read<float>(count);
    for (int i = 0; i < count; ++i)
        good += y[i] == 2 * x[i] + 1;
    std::printf("saxpy %d %d\n", code, good);
    write(in, std::vector<int>(128, 3)), write(out, std::vector<int>(1, 0));
    code = launch("sum", 4, 128);
    std::printf("sum %d %d\n", code, read<int>(1)[0]);
    write(in, std::vector<int>(1, 0));
    code = launch("spin", 1, 32);
    std::printf("spin %d %d\n", code, read<int>(1)[0]);
    write(in, std::vector<float>{1e20f, -1e20f, 3.7f});
    code = launch("words", 1, 32);
    std::printf("words %d", code);
    for (int value : read<int>(9))
        std::printf(" %d", value);
    std::printf("\n%s %d\n", arguments[3], launch(arguments[3], 1, 1, count));
}
