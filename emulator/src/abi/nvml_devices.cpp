// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// NVML: device identity, memory, processes and utilization. A software device has no clocks, fans, links or
// temperatures; these are "not supported".
#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sched.h>
#include <set>
#include <unistd.h>
#include <vector>

#include "../state/context.hpp"
#include "../state/device.hpp"
#include "../state/telemetry.hpp"
#include "abi.hpp"
#include "nvml.hpp"

using namespace emu;
using namespace emu::state;
using namespace emu::nvml;

namespace {

constexpr unsigned architecture_unknown = 0xffffffff, no_instance = 0xffffffff;
constexpr unsigned link_generation = 5, link_width = 16;
constexpr unsigned field_link_count = 91; // NVML_FI_DEV_NVLINK_LINK_COUNT

struct Architecture {
    int compute; // the first compute capability of the architecture, as major * 10 + minor
    unsigned code;
};
const Architecture architectures[] = {{100, 10}, {90, 9}, {89, 8}, {80, 7}, {75, 6},
                                      {70, 5},   {60, 4}, {50, 3}, {30, 2}};

bool same_text(const std::string& a, const char* b)
{
    return std::equal(a.begin(), a.end(), b, b + std::strlen(b),
                      [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// Returns the memory used by this process; the child of a fork() uses none.
size_t used_memory(const Device& device)
{
    return emu::abi::is_initialized() ? device.memory().used() : 0;
}

bool has_context(const Device& device)
{
    for (const auto& row : Context::all())
        if (&row.first->device() == &device)
            return true;
    return false;
}

// Reads a list such as "0-3,8" from a system file, or returns `otherwise` if there is no such file.
std::set<unsigned> read_list(const std::string& path, unsigned otherwise)
{
    std::set<unsigned> numbers;
    std::ifstream file(path);
    unsigned first, last;
    char sign = ',';
    while (sign == ',' && file >> first) {
        last = first;
        if (file.peek() == '-')
            file >> sign >> last;
        for (unsigned number = first; number <= last; ++number)
            numbers.insert(number);
        if (!(file >> sign))
            break;
    }
    if (numbers.empty())
        numbers.insert(otherwise);
    return numbers;
}

std::set<unsigned> online_cpus()
{
    return read_list("/sys/devices/system/cpu/online", 0);
}

nvmlReturn_t return_mask(const std::set<unsigned>& numbers, unsigned size, unsigned long* mask)
{
    constexpr unsigned bits = 8 * sizeof(unsigned long);
    NVML_REQUIRE(mask && size, NVML_ERROR_INVALID_ARGUMENT);
    std::fill(mask, mask + size, 0ul);
    for (unsigned number : numbers)
        if (number / bits < size)
            mask[number / bits] |= 1ul << number % bits;
    return NVML_SUCCESS;
}

// The devices are near all memory and all cores.
nvmlReturn_t bind_thread()
{
    std::set<unsigned> cpus = online_cpus();
    unsigned most = *cpus.rbegin() + 1;
    cpu_set_t* mask = CPU_ALLOC(most);
    size_t size = CPU_ALLOC_SIZE(most);
    CPU_ZERO_S(size, mask);
    for (unsigned cpu : cpus)
        CPU_SET_S(cpu, size, mask);
    int failed = sched_setaffinity(0, size, mask);
    CPU_FREE(mask);
    return failed ? NVML_ERROR_UNKNOWN : NVML_SUCCESS;
}

nvmlReturn_t find_by_uuid(const std::string& uuid, nvmlDevice_t* out)
{
    NVML_REQUIRE(out, NVML_ERROR_INVALID_ARGUMENT);
    for (int i = 0; i < installed_count(); ++i)
        if (same_text(installed_at(i)->uuid_text(), uuid.c_str()))
            return give(handle_of(i), out);
    return NVML_ERROR_NOT_FOUND;
}

// Answers one field: the software device has no links, and no other fields.
void answer(nvmlFieldValue_t& field, bool read)
{
    auto now = std::chrono::system_clock::now().time_since_epoch();
    field.timestamp = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
    field.latencyUsec = 0;
    field.value.ullVal = 0;
    field.valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
    field.nvmlReturn = read && field.fieldId == field_link_count ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
}

} // namespace

#define DEVICE(handle) \
    Device* found; \
    NVML_TRY(need_device(handle, &found))

// --------------------------------------------------------------------------------- finding

NVML_ENTRY(nvmlDeviceGetCount_v2)(unsigned int* deviceCount)
{
    return give(unsigned(installed_count()), deviceCount);
}

NVML_ENTRY(nvmlDeviceGetHandleByIndex_v2)(unsigned int index, nvmlDevice_t* device)
{
    NVML_REQUIRE(index < unsigned(installed_count()), NVML_ERROR_INVALID_ARGUMENT);
    return give(handle_of(int(index)), device);
}

NVML_ENTRY(nvmlDeviceGetHandleByUUID)(const char* uuid, nvmlDevice_t* device)
{
    NVML_REQUIRE(uuid, NVML_ERROR_INVALID_ARGUMENT);
    return find_by_uuid(uuid, device);
}

NVML_ENTRY(nvmlDeviceGetHandleByUUIDV)(const nvmlUUID_t* uuid, nvmlDevice_t* device)
{
    NVML_REQUIRE(uuid && device, NVML_ERROR_INVALID_ARGUMENT);
    if (uuid->type == NVML_UUID_TYPE_ASCII)
        return find_by_uuid(uuid->value.str, device);
    NVML_REQUIRE(uuid->type == NVML_UUID_TYPE_BINARY, NVML_ERROR_INVALID_ARGUMENT);
    for (int i = 0; i < installed_count(); ++i) {
        CUuuid own = installed_at(i)->uuid();
        if (std::memcmp(own.bytes, uuid->value.bytes, sizeof own.bytes) == 0)
            return give(handle_of(i), device);
    }
    return NVML_ERROR_NOT_FOUND;
}

NVML_ENTRY(nvmlDeviceGetHandleByPciBusId_v2)(const char* pciBusId, nvmlDevice_t* device)
{
    NVML_REQUIRE(pciBusId && device, NVML_ERROR_INVALID_ARGUMENT);
    unsigned domain = 0, bus = 0, slot = 0, function = 0;
    if (std::sscanf(pciBusId, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3) {
        domain = function = 0;
        NVML_REQUIRE(std::sscanf(pciBusId, "%x:%x.%x", &bus, &slot, &function) >= 2, NVML_ERROR_INVALID_ARGUMENT);
    }
    for (int i = 0; i < installed_count(); ++i) {
        auto number = [&](CUdevice_attribute attribute) { return unsigned(installed_at(i)->number(attribute)); };
        if (function == 0 && domain == number(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID) &&
            bus == number(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID) && slot == number(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID))
            return give(handle_of(i), device);
    }
    return NVML_ERROR_NOT_FOUND;
}

// -------------------------------------------------------------------------------- identity

NVML_ENTRY(nvmlDeviceGetIndex)(nvmlDevice_t device, unsigned int* index)
{
    DEVICE(device);
    return give(unsigned(found->number()), index);
}

NVML_ENTRY(nvmlDeviceGetName)(nvmlDevice_t device, char* name, unsigned int length)
{
    DEVICE(device);
    return return_text(found->name(), name, length);
}

NVML_ENTRY(nvmlDeviceGetUUID)(nvmlDevice_t device, char* uuid, unsigned int length)
{
    DEVICE(device);
    return return_text(found->uuid_text(), uuid, length);
}

// Thirteen digits, as GPUs have them.
NVML_ENTRY(nvmlDeviceGetSerial)(nvmlDevice_t device, char* serial, unsigned int length)
{
    DEVICE(device);
    return return_text("000000000000" + std::to_string(found->number()), serial, length);
}

NVML_ENTRY(nvmlDeviceGetMinorNumber)(nvmlDevice_t device, unsigned int* minorNumber)
{
    DEVICE(device);
    return give(unsigned(found->number()), minorNumber);
}

// It stays ready between programs.
NVML_ENTRY(nvmlDeviceGetPersistenceMode)(nvmlDevice_t device, nvmlEnableState_t* mode)
{
    DEVICE(device);
    return give(NVML_FEATURE_ENABLED, mode);
}

NVML_ENTRY(nvmlDeviceGetC2cModeInfoV)(nvmlDevice_t device, nvmlC2cModeInfo_v1_t* c2cModeInfo)
{
    DEVICE(device);
    NVML_REQUIRE(c2cModeInfo, NVML_ERROR_INVALID_ARGUMENT);
    return give(0u, &c2cModeInfo->isC2cEnabled);
}

NVML_ENTRY(nvmlDeviceGetBrand)(nvmlDevice_t device, nvmlBrandType_t* type)
{
    DEVICE(device);
    return give(NVML_BRAND_UNKNOWN, type);
}

NVML_ENTRY(nvmlDeviceGetPciInfoExt)(nvmlDevice_t device, nvmlPciInfoExt_t* pci)
{
    DEVICE(device);
    NVML_REQUIRE(pci, NVML_ERROR_INVALID_ARGUMENT);
    NVML_REQUIRE(has_version(pci, 1), NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    *pci = nvmlPciInfoExt_t{pci->version, 0, 0, 0, 0, 0, 0, 0, ""}; // zero: no vendor, product or class
    pci->domain = unsigned(found->number(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID));
    pci->bus = unsigned(found->number(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID));
    pci->device = unsigned(found->number(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID));
    return return_text("0000" + found->pci_bus_id(), pci->busId, sizeof pci->busId);
}

NVML_ENTRY(nvmlDeviceGetPciInfo_v3)(nvmlDevice_t device, nvmlPciInfo_t* pci)
{
    DEVICE(device);
    NVML_REQUIRE(pci, NVML_ERROR_INVALID_ARGUMENT);
    *pci = nvmlPciInfo_t{}; // zero: no vendor and no product
    pci->domain = unsigned(found->number(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID));
    pci->bus = unsigned(found->number(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID));
    pci->device = unsigned(found->number(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID));
    NVML_TRY(return_text(found->pci_bus_id(), pci->busIdLegacy, sizeof pci->busIdLegacy));
    return return_text("0000" + found->pci_bus_id(), pci->busId, sizeof pci->busId);
}

// The link of an H200, which never carries anything.
NVML_ENTRY(nvmlDeviceGetMaxPcieLinkGeneration)(nvmlDevice_t device, unsigned int* maxLinkGen)
{
    DEVICE(device);
    return give(link_generation, maxLinkGen);
}

NVML_ENTRY(nvmlDeviceGetGpuMaxPcieLinkGeneration)(nvmlDevice_t device, unsigned int* maxLinkGenDevice)
{
    DEVICE(device);
    return give(link_generation, maxLinkGenDevice);
}

NVML_ENTRY(nvmlDeviceGetCurrPcieLinkGeneration)(nvmlDevice_t device, unsigned int* currLinkGen)
{
    DEVICE(device);
    return give(link_generation, currLinkGen);
}

NVML_ENTRY(nvmlDeviceGetMaxPcieLinkWidth)(nvmlDevice_t device, unsigned int* maxLinkWidth)
{
    DEVICE(device);
    return give(link_width, maxLinkWidth);
}

NVML_ENTRY(nvmlDeviceGetCurrPcieLinkWidth)(nvmlDevice_t device, unsigned int* currLinkWidth)
{
    DEVICE(device);
    return give(link_width, currLinkWidth);
}

NVML_ENTRY(nvmlDeviceGetPcieReplayCounter)(nvmlDevice_t device, unsigned int* value)
{
    DEVICE(device);
    return give(0u, value);
}

NVML_ENTRY(nvmlDeviceGetPcieThroughput)(nvmlDevice_t device, nvmlPcieUtilCounter_t counter, unsigned int* value)
{
    DEVICE(device);
    NVML_REQUIRE(unsigned(counter) < NVML_PCIE_UTIL_COUNT, NVML_ERROR_INVALID_ARGUMENT);
    return give(0u, value);
}

NVML_ENTRY(nvmlDeviceGetCudaComputeCapability)(nvmlDevice_t device, int* major, int* minor)
{
    DEVICE(device);
    NVML_TRY(give(found->major(), major));
    return give(found->minor(), minor);
}

NVML_ENTRY(nvmlDeviceGetArchitecture)(nvmlDevice_t device, nvmlDeviceArchitecture_t* arch)
{
    DEVICE(device);
    for (const Architecture& row : architectures)
        if (found->major() * 10 + found->minor() >= row.compute)
            return give(row.code, arch);
    return give(architecture_unknown, arch);
}

NVML_ENTRY(nvmlDeviceGetComputeMode)(nvmlDevice_t device, nvmlComputeMode_t* mode)
{
    DEVICE(device);
    return give(NVML_COMPUTEMODE_DEFAULT, mode);
}

NVML_ENTRY(nvmlDeviceGetAddressingMode)(nvmlDevice_t device, nvmlDeviceAddressingMode_t* mode)
{
    DEVICE(device);
    NVML_REQUIRE(mode, NVML_ERROR_INVALID_ARGUMENT);
    NVML_REQUIRE(has_version(mode, 1), NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    return give(unsigned(NVML_DEVICE_ADDRESSING_MODE_NONE), &mode->value);
}

NVML_ENTRY(nvmlDeviceGetDisplayMode)(nvmlDevice_t device, nvmlEnableState_t* display)
{
    DEVICE(device);
    return give(NVML_FEATURE_DISABLED, display);
}

NVML_ENTRY(nvmlDeviceGetDisplayActive)(nvmlDevice_t device, nvmlEnableState_t* isActive)
{
    return entry_nvmlDeviceGetDisplayMode(device, isActive);
}

NVML_ENTRY(nvmlDeviceGetNumFans)(nvmlDevice_t device, unsigned int* numFans)
{
    DEVICE(device);
    return give(0u, numFans);
}

NVML_ENTRY(nvmlDeviceIsMigDeviceHandle)(nvmlDevice_t device, unsigned int* isMigDevice)
{
    DEVICE(device);
    return give(0u, isMigDevice);
}

NVML_ENTRY(nvmlDeviceGetMaxMigDeviceCount)(nvmlDevice_t device, unsigned int* count)
{
    DEVICE(device);
    return give(0u, count);
}

NVML_ENTRY(nvmlDeviceGetMigDeviceHandleByIndex)(nvmlDevice_t device, unsigned int, nvmlDevice_t*)
{
    DEVICE(device);
    return NVML_ERROR_NOT_FOUND;
}

// ----------------------------------------------------------------------- memory, processes

NVML_ENTRY(nvmlDeviceGetMemoryInfo_v2)(nvmlDevice_t device, nvmlMemory_v2_t* memory)
{
    DEVICE(device);
    NVML_REQUIRE(memory, NVML_ERROR_INVALID_ARGUMENT);
    NVML_REQUIRE(has_version(memory, 2), NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    memory->total = found->total_memory();
    memory->used = used_memory(*found);
    memory->free = memory->total - memory->used;
    memory->reserved = 0;
    return NVML_SUCCESS;
}

// The host can map all memory.
NVML_ENTRY(nvmlDeviceGetBAR1MemoryInfo)(nvmlDevice_t device, nvmlBAR1Memory_t* bar1Memory)
{
    DEVICE(device);
    NVML_REQUIRE(bar1Memory, NVML_ERROR_INVALID_ARGUMENT);
    *bar1Memory = {found->total_memory(), found->total_memory(), 0};
    return NVML_SUCCESS;
}

NVML_ENTRY(nvmlDeviceGetComputeRunningProcesses_v3)(nvmlDevice_t device, unsigned int* infoCount,
                                                    nvmlProcessInfo_t* infos)
{
    DEVICE(device);
    std::vector<nvmlProcessInfo_t> own;
    if (has_context(*found) && emu::abi::is_initialized())
        own.push_back({unsigned(getpid()), used_memory(*found), no_instance, no_instance});
    return return_list(own, infoCount, infos);
}

NVML_ENTRY(nvmlDeviceGetUtilizationRates)(nvmlDevice_t device, nvmlUtilization_t* utilization)
{
    DEVICE(device);
    NVML_REQUIRE(utilization, NVML_ERROR_INVALID_ARGUMENT);
    // One figure for both, because kernels also use the memory.
    utilization->gpu = utilization->memory = busy_percent(found->ordinal());
    return NVML_SUCCESS;
}

NVML_ENTRY(nvmlDeviceGetPerformanceState)(nvmlDevice_t device, nvmlPstates_t* pState)
{
    DEVICE(device);
    return give(NVML_PSTATE_0, pState); // always as fast as it can be
}

NVML_ENTRY(nvmlDeviceGetSupportedPerformanceStates)(nvmlDevice_t device, nvmlPstates_t* pstates, unsigned int size)
{
    DEVICE(device);
    NVML_REQUIRE(pstates, NVML_ERROR_INVALID_ARGUMENT);
    NVML_REQUIRE(size >= sizeof(nvmlPstates_t), NVML_ERROR_INSUFFICIENT_SIZE);
    std::fill(pstates, pstates + size / sizeof(nvmlPstates_t), NVML_PSTATE_UNKNOWN);
    pstates[0] = NVML_PSTATE_0;
    return NVML_SUCCESS;
}

NVML_ENTRY(nvmlDeviceGetDynamicPstatesInfo)(nvmlDevice_t device, nvmlGpuDynamicPstatesInfo_t* pDynamicPstatesInfo)
{
    DEVICE(device);
    NVML_REQUIRE(pDynamicPstatesInfo, NVML_ERROR_INVALID_ARGUMENT);
    *pDynamicPstatesInfo = {};
    for (int domain : {0, 1}) { // the processor and the memory, as in nvmlDeviceGetUtilizationRates()
        pDynamicPstatesInfo->utilization[domain].bIsPresent = 1;
        pDynamicPstatesInfo->utilization[domain].percentage = busy_percent(found->ordinal());
    }
    return NVML_SUCCESS;
}

NVML_ENTRY(nvmlDeviceGetFieldValues)(nvmlDevice_t device, int valuesCount, nvmlFieldValue_t* values)
{
    DEVICE(device);
    NVML_REQUIRE(valuesCount > 0 && values, NVML_ERROR_INVALID_ARGUMENT);
    for (int i = 0; i < valuesCount; ++i)
        answer(values[i], true);
    return NVML_SUCCESS;
}

NVML_ENTRY(nvmlDeviceClearFieldValues)(nvmlDevice_t device, int valuesCount, nvmlFieldValue_t* values)
{
    DEVICE(device);
    NVML_REQUIRE(valuesCount > 0 && values, NVML_ERROR_INVALID_ARGUMENT);
    for (int i = 0; i < valuesCount; ++i)
        answer(values[i], false);
    return NVML_SUCCESS;
}

// ------------------------------------------------------------------------ place, affinity

NVML_ENTRY(nvmlDeviceGetCpuAffinityWithinScope)(nvmlDevice_t device, unsigned int cpuSetSize, unsigned long* cpuSet,
                                                nvmlAffinityScope_t scope)
{
    DEVICE(device);
    NVML_REQUIRE(scope <= 1, NVML_ERROR_INVALID_ARGUMENT);
    return return_mask(online_cpus(), cpuSetSize, cpuSet);
}

NVML_ENTRY(nvmlDeviceGetCpuAffinity)(nvmlDevice_t device, unsigned int cpuSetSize, unsigned long* cpuSet)
{
    return entry_nvmlDeviceGetCpuAffinityWithinScope(device, cpuSetSize, cpuSet, 0);
}

NVML_ENTRY(nvmlDeviceGetMemoryAffinity)(nvmlDevice_t device, unsigned int nodeSetSize, unsigned long* nodeSet,
                                        nvmlAffinityScope_t scope)
{
    DEVICE(device);
    NVML_REQUIRE(scope <= 1, NVML_ERROR_INVALID_ARGUMENT);
    return return_mask(read_list("/sys/devices/system/node/online", 0), nodeSetSize, nodeSet);
}

NVML_ENTRY(nvmlDeviceSetCpuAffinity)(nvmlDevice_t device)
{
    DEVICE(device);
    return bind_thread();
}

NVML_ENTRY(nvmlDeviceClearCpuAffinity)(nvmlDevice_t device)
{
    DEVICE(device);
    return bind_thread();
}

NVML_ENTRY(nvmlDeviceGetP2PStatus)(nvmlDevice_t device1, nvmlDevice_t device2, nvmlGpuP2PCapsIndex_t p2pIndex,
                                   nvmlGpuP2PStatus_t* p2pStatus)
{
    Device* peer;
    DEVICE(device1);
    NVML_TRY(need_device(device2, &peer));
    switch (p2pIndex) {
    case NVML_P2P_CAPS_INDEX_READ:
    case NVML_P2P_CAPS_INDEX_WRITE:
    case NVML_P2P_CAPS_INDEX_ATOMICS: {
        bool can = found == peer || can_access_peer(found->ordinal(), peer->ordinal());
        return give(can ? NVML_P2P_STATUS_OK : NVML_P2P_STATUS_NOT_SUPPORTED, p2pStatus);
    }
    case NVML_P2P_CAPS_INDEX_NVLINK:
    case NVML_P2P_CAPS_INDEX_PCI: return give(NVML_P2P_STATUS_NOT_SUPPORTED, p2pStatus);
    default: return NVML_ERROR_INVALID_ARGUMENT;
    }
}

// All devices share processor and memory, like devices on one board.
NVML_ENTRY(nvmlDeviceGetTopologyCommonAncestor)(nvmlDevice_t device1, nvmlDevice_t device2,
                                                nvmlGpuTopologyLevel_t* pathInfo)
{
    Device* other;
    DEVICE(device1);
    NVML_TRY(need_device(device2, &other));
    return give(NVML_TOPOLOGY_INTERNAL, pathInfo);
}

NVML_ENTRY(nvmlDeviceGetTopologyNearestGpus)(nvmlDevice_t device, nvmlGpuTopologyLevel_t level, unsigned int* count,
                                             nvmlDevice_t* deviceArray)
{
    DEVICE(device);
    std::vector<nvmlDevice_t> near;
    for (int i = 0; i < installed_count(); ++i)
        if (level == NVML_TOPOLOGY_INTERNAL && i != found->number())
            near.push_back(handle_of(i));
    return return_list(near, count, deviceArray);
}
