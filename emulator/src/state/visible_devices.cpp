// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "visible_devices.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace emu::state {
namespace {

constexpr int no_device = -1;

std::string trimmed(const std::string& entry)
{
    auto is_blank = [](unsigned char letter) { return std::isspace(letter) != 0; };
    auto first = std::find_if_not(entry.begin(), entry.end(), is_blank);
    auto last = std::find_if_not(entry.rbegin(), std::make_reverse_iterator(first), is_blank).base();
    return {first, last};
}

int by_uuid(const std::string& entry, const std::vector<std::string>& uuids)
{
    int found = no_device;
    for (size_t number = 0; number < uuids.size(); ++number) {
        bool begins = entry.size() <= uuids[number].size() &&
                      std::equal(entry.begin(), entry.end(), uuids[number].begin(),
                                 [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
        if (begins && found != no_device)
            return no_device;
        if (begins)
            found = int(number);
    }
    return found;
}

bool is_uuid(const std::string& entry)
{
    return entry.compare(0, 4, "GPU-") == 0;
}

// Drivers read numbers with strtoul(), which accepts a sign and ignores what follows the digits.
int device_of(const std::string& entry, const std::vector<std::string>& uuids)
{
    if (is_uuid(entry))
        return entry.size() > 4 ? by_uuid(entry, uuids) : no_device;
    char* end = nullptr;
    unsigned long number = std::strtoul(entry.c_str(), &end, 10);
    return end != entry.c_str() && number < uuids.size() ? int(number) : no_device;
}

} // namespace

std::vector<int> visible_devices(const char* text, const std::vector<std::string>& uuids)
{
    std::vector<int> found;
    if (!text) {
        for (size_t number = 0; number < uuids.size(); ++number)
            found.push_back(int(number));
        return found;
    }
    std::string rest = text;
    bool by_uuids = is_uuid(trimmed(rest));
    for (size_t start = 0; start <= rest.size();) {
        size_t end = std::min(rest.find(',', start), rest.size());
        std::string entry = trimmed(rest.substr(start, end - start));
        int number = device_of(entry, uuids);
        if (number == no_device || is_uuid(entry) != by_uuids)
            break;
        if (std::count(found.begin(), found.end(), number))
            return {};
        found.push_back(number);
        start = end + 1;
    }
    return found;
}

} // namespace emu::state
