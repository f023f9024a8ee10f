// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "device.hpp"

#include <cstdio>
#include <cstring>
#include <unistd.h>
#include <vector>

#include "../config.hpp"

namespace emu::state {

Device::Device(int ordinal) : ordinal_(ordinal), name_("CUDA software device (cuda.emulator)") {}

CUuuid Device::uuid() const
{
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    std::string seed = std::string(host) + "/" + std::to_string(getuid()) + "/" + std::to_string(ordinal_);
    CUuuid out;
    uint64_t hash = 0xcbf29ce484222325u; // FNV-1a, twice
    for (int half = 0; half < 2; ++half) {
        for (unsigned char byte : seed)
            hash = (hash ^ byte) * 0x100000001b3u;
        std::memcpy(out.bytes + 8 * half, &hash, 8);
    }
    out.bytes[6] = char((out.bytes[6] & 0x0f) | 0x40); // the bits that mark a random UUID (version 4)
    out.bytes[8] = char((out.bytes[8] & 0x3f) | 0x80);
    return out;
}

std::string Device::pci_bus_id() const
{
    char text[32];
    std::snprintf(text, sizeof text, "%04X:%02X:%02X.0", number(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID),
                  number(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID), number(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID));
    return text;
}

size_t Device::total_memory() const
{
    return config().memory;
}
Arena& Device::memory() const
{
    return AddressSpace::get().device(ordinal_);
}
int Device::major() const
{
    return config().compute_major;
}
int Device::minor() const
{
    return config().compute_minor;
}

int Device::number(CUdevice_attribute wanted) const
{
    int value = 0;
    attribute(wanted, &value);
    return value;
}

int device_count()
{
    return config().devices;
}

Device* device_at(int ordinal)
{
    static auto* devices = [] {
        auto* list = new std::vector<Device>;
        for (int i = 0; i < config().devices; ++i)
            list->emplace_back(i);
        return list;
    }();
    return ordinal >= 0 && ordinal < config().devices ? &(*devices)[size_t(ordinal)] : nullptr;
}

bool can_access_peer(int from, int to)
{
    return from != to;
}

} // namespace emu::state
