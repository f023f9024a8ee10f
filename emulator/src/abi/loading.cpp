// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Entry points: how programs find the driver's functions.
#include <algorithm>
#include <cstring>
#include <mutex>

#include "../config.hpp"
#include "../exec/exec.hpp"
#include "../front/front.hpp"
#include "../state/device.hpp"
#include "../state/memory/arena.hpp"
#include "abi.hpp"

namespace emu::abi {

const Entry* find_entry(const char* name, int version)
{
    int highest = std::min(version, config().driver_version);
    const Entry* end = entries + entry_count;
    const Entry* found = nullptr;
    const Entry* row =
        std::lower_bound(entries, end, name, [](const Entry& e, const char* n) { return std::strcmp(e.name, n) < 0; });
    for (; row != end && std::strcmp(row->name, name) == 0; ++row)
        if (row->version <= highest)
            found = row;
    return found;
}

} // namespace emu::abi

using namespace emu;

ENTRY(cuInit, 2000)(unsigned int Flags)
{
    if (Flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!emu::abi::are_variables_valid())
        return CUDA_ERROR_INVALID_VALUE;
    if (state::device_count() == 0)
        return CUDA_ERROR_NO_DEVICE;
    if (emu::abi::is_initialized())
        return CUDA_SUCCESS;
    if (!state::AddressSpace::get().reserve())
        return CUDA_ERROR_OUT_OF_MEMORY;
    exec::set_symbolizer(&front::symbolize);
    exec::set_coverage_sink(&front::add_coverage);
    exec::set_host_activity(&emu::abi::host_activity);
    emu::abi::set_initialized();
    return CUDA_SUCCESS;
}

ENTRY(cuDriverGetVersion, 2020)(int* driverVersion)
{
    if (!driverVersion)
        return CUDA_ERROR_INVALID_VALUE;
    *driverVersion = config().driver_version;
    return CUDA_SUCCESS;
}

ENTRY(cuGetProcAddress, 12000)(const char* symbol, void** pfn, int cudaVersion, cuuint64_t flags,
                               CUdriverProcAddressQueryResult* symbolStatus)
{
    if (!symbol || !pfn)
        return CUDA_ERROR_INVALID_VALUE;
    const emu::abi::Entry* entry = emu::abi::find_entry(symbol, cudaVersion);
    bool known = entry || emu::abi::find_entry(symbol, config().driver_version);
    if (symbolStatus)
        *symbolStatus = entry   ? CU_GET_PROC_ADDRESS_SUCCESS
                        : known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    *pfn = nullptr;
    if (entry) {
        bool per_thread = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
        *pfn = per_thread && entry->per_thread ? entry->per_thread : entry->function;
    }
    // Without a place for the status, an unknown name is an error.
    return entry || symbolStatus ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

// The CUDA 11.3 entry, which bindings of that age and the runtime look up with dlsym().
extern "C" EMU_EXPORT CUresult cuGetProcAddress(const char* symbol, void** pfn, int cudaVersion, cuuint64_t flags)
{
    return entry_cuGetProcAddress_12000(symbol, pfn, cudaVersion, flags, nullptr);
}

// The private tables of NVIDIA's driver. NVRTC looks up this symbol and crashes without it. With this result, every call
// of NVIDIA's runtime library fails, but the code does not explain why.
ENTRY(cuGetExportTable, 3000)(const void** ppExportTable, const CUuuid*)
{
    static std::once_flag once;
    std::call_once(once, [] {
        say("the CUDA runtime library (libcudart) needs private tables of NVIDIA's driver, which the software device does "
            "not have: its calls fail with cudaErrorSymbolNotFound; use cuda.core, cuda.bindings, or a program's source "
            "(python -m cuda.emulator program.cu)");
    });
    if (ppExportTable)
        *ppExportTable = nullptr;
    return CUDA_ERROR_NOT_FOUND;
}
