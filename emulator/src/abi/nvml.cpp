// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// NVML: initialization, and the system chapter.
#include "nvml.hpp"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iterator>
#include <pthread.h>
#include <unistd.h>
#include <vector>

#include "../config.hpp"
#include "../state/context.hpp"
#include "../state/device.hpp"

using namespace emu;
using namespace emu::state;
using namespace emu::nvml;

namespace {

std::atomic<int> users{0};

// Handles are numbers starting here, not addresses.
constexpr uintptr_t first_handle = 0x4e564d4c0000, handles_of_generation = 64;
uintptr_t generation = 0; // number of forks between the first process that used NVML and this one

// Programs expect the version of a branch of drivers, as in "580.65.06", so this is the branch that came with the version
// of CUDA.
std::string driver_version()
{
    struct Branch {
        int cuda, number;
    };
    static const Branch branches[] = {{13010, 590}, {13000, 580}, {12090, 575}, {12080, 570},
                                      {12060, 560}, {12040, 550}, {12020, 535}, {12000, 525}};
    const auto* row = std::find_if(std::begin(branches), std::end(branches) - 1,
                                   [](const Branch& branch) { return config().driver_version >= branch.cuda; });
    return std::to_string(row->number) + ".00.00";
}

const char* error_text(nvmlReturn_t result)
{
    switch (result) {
    case NVML_SUCCESS: return "Success";
    case NVML_ERROR_UNINITIALIZED: return "Uninitialized";
    case NVML_ERROR_INVALID_ARGUMENT: return "Invalid Argument";
    case NVML_ERROR_NOT_SUPPORTED: return "Not Supported";
    case NVML_ERROR_NO_PERMISSION: return "Insufficient Permissions";
    case NVML_ERROR_NOT_FOUND: return "Not Found";
    case NVML_ERROR_INSUFFICIENT_SIZE: return "Insufficient Size";
    case NVML_ERROR_TIMEOUT: return "Timeout";
    case NVML_ERROR_LIBRARY_NOT_FOUND: return "NVML Shared Library Not Found";
    case NVML_ERROR_GPU_NOT_FOUND: return "No GPU was found";
    case NVML_ERROR_ARGUMENT_VERSION_MISMATCH: return "Argument version mismatch";
    default: return "Unknown Error";
    }
}

} // namespace

namespace emu::nvml {

bool is_open()
{
    return users.load(std::memory_order_relaxed) > 0;
}

nvmlDevice_t handle_of(int number)
{
    return reinterpret_cast<nvmlDevice_t>(first_handle + generation * handles_of_generation + uintptr_t(number));
}

nvmlReturn_t need_device(nvmlDevice_t handle, Device** out)
{
    uintptr_t number = reinterpret_cast<uintptr_t>(handle) - first_handle;
    uintptr_t of_generation = number / handles_of_generation;
    *out = of_generation == generation ? installed_at(int(number % handles_of_generation)) : nullptr;
    if (of_generation < generation)
        return NVML_ERROR_UNINITIALIZED; // handles from before a fork
    return *out ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

} // namespace emu::nvml

// The child of a fork() must initialize NVML itself and cannot use its parent's handles, as on a machine with GPUs.
NVML_ENTRY(nvmlInitWithFlags)(unsigned int)
{
    static const int registered = pthread_atfork(nullptr, nullptr, [] {
        users = 0;
        ++generation;
    });
    (void)registered;
    ++users;
    return NVML_SUCCESS;
}

NVML_ENTRY(nvmlInit_v2)()
{
    return entry_nvmlInitWithFlags(0);
}

NVML_ENTRY(nvmlShutdown)()
{
    int count = users.load();
    while (count > 0)
        if (users.compare_exchange_weak(count, count - 1))
            return NVML_SUCCESS;
    return NVML_ERROR_UNINITIALIZED;
}

extern "C" EMU_EXPORT const char* nvmlErrorString(nvmlReturn_t result)
{
    return error_text(result);
}

// ---------------------------------------------------------------------------------- system

NVML_ENTRY(nvmlSystemGetDriverVersion)(char* version, unsigned int length)
{
    return return_text(driver_version(), version, length);
}

NVML_ENTRY(nvmlSystemGetNVMLVersion)(char* version, unsigned int length)
{
    std::string major = std::to_string(config().driver_version / 1000);
    return return_text(major + "." + driver_version(), version, length);
}

NVML_ENTRY(nvmlSystemGetCudaDriverVersion_v2)(int* cudaDriverVersion)
{
    return give(config().driver_version, cudaDriverVersion);
}

NVML_ENTRY(nvmlSystemGetCudaDriverVersion)(int* cudaDriverVersion)
{
    return entry_nvmlSystemGetCudaDriverVersion_v2(cudaDriverVersion);
}

NVML_ENTRY(nvmlSystemGetDriverBranch)(nvmlSystemDriverBranchInfo_t* branchInfo, unsigned int length)
{
    NVML_REQUIRE(branchInfo, NVML_ERROR_INVALID_ARGUMENT);
    NVML_REQUIRE(has_version(branchInfo, 1), NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    unsigned room = unsigned(sizeof branchInfo->branch);
    return return_text("software", branchInfo->branch, length < room ? length : room);
}

// Only this process uses the devices, once it has a context.
NVML_ENTRY(nvmlSystemGetProcessName)(unsigned int pid, char* name, unsigned int length)
{
    NVML_REQUIRE(name, NVML_ERROR_INVALID_ARGUMENT);
    NVML_REQUIRE(pid == unsigned(getpid()) && !Context::all().empty(), NVML_ERROR_NOT_FOUND);
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::string words((std::istreambuf_iterator<char>(file)), {});
    return return_text(words.substr(0, words.find('\0')).substr(0, length ? length - 1 : 0), name, length);
}

NVML_ENTRY(nvmlSystemGetTopologyGpuSet)(unsigned int cpuNumber, unsigned int* count, nvmlDevice_t* deviceArray)
{
    NVML_REQUIRE(cpuNumber < unsigned(sysconf(_SC_NPROCESSORS_CONF)), NVML_ERROR_INVALID_ARGUMENT);
    std::vector<nvmlDevice_t> all;
    for (int i = 0; i < installed_count(); ++i)
        all.push_back(handle_of(i));
    return return_list(all, count, deviceArray);
}
