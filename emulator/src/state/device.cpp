// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "device.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <vector>

#include "../config.hpp"
#include "visible_devices.hpp"

namespace emu::state {

Device::Device(int ordinal, int number)
    : ordinal_(ordinal), number_(number), name_("CUDA software device (cuda.emulator)")
{
}

CUuuid Device::uuid() const
{
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    std::string seed = std::string(host) + "/" + std::to_string(getuid()) + "/" + std::to_string(number_);
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

std::string Device::uuid_text() const
{
    CUuuid id = uuid();
    std::string text = "GPU-";
    for (int i = 0; i < 16; ++i) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(id.bytes[i]));
        text += (i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "") + std::string(digits);
    }
    return text;
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

namespace {

struct Installed {
    std::vector<Device> devices;  // by ordinal: the visible ones, then the others
    std::vector<size_t> ordinals; // by number
    int visible = 0;
};

Installed* find_installed()
{
    auto* all = new Installed;
    int count = config().devices;
    std::vector<std::string> uuids;
    for (int number = 0; number < count; ++number)
        uuids.push_back(Device(number, number).uuid_text());
    std::vector<int> order = visible_devices(std::getenv("CUDA_VISIBLE_DEVICES"), uuids);
    all->visible = int(order.size());
    for (int number = 0; number < count; ++number)
        if (std::find(order.begin(), order.end(), number) == order.end())
            order.push_back(number);
    all->ordinals.resize(order.size());
    for (size_t ordinal = 0; ordinal < order.size(); ++ordinal) {
        all->devices.emplace_back(int(ordinal), order[ordinal]);
        all->ordinals[size_t(order[ordinal])] = ordinal;
    }
    return all;
}

Installed& installed()
{
    static Installed* const all = find_installed();
    return *all;
}

} // namespace

int device_count()
{
    return installed().visible;
}

Device* device_at(int ordinal)
{
    return ordinal >= 0 && ordinal < device_count() ? &installed().devices[size_t(ordinal)] : nullptr;
}

int installed_count()
{
    return config().devices;
}

Device* installed_at(int number)
{
    Installed& all = installed();
    bool exists = number >= 0 && number < installed_count();
    return exists ? &all.devices[all.ordinals[size_t(number)]] : nullptr;
}

bool can_access_peer(int from, int to)
{
    return from != to;
}

} // namespace emu::state
