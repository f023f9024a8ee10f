// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "visible_devices.hpp"

#include <algorithm>
#include <cctype>

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

int device_of(const std::string& entry, const std::vector<std::string>& uuids)
{
    if (entry.compare(0, 4, "GPU-") == 0 && entry.size() > 4)
        return by_uuid(entry, uuids);
    bool is_number = !entry.empty() && entry.size() < 6 &&
                     std::all_of(entry.begin(), entry.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    int number = is_number ? std::stoi(entry) : no_device;
    return number < int(uuids.size()) ? number : no_device;
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
    for (size_t start = 0; start <= rest.size();) {
        size_t end = std::min(rest.find(',', start), rest.size());
        int number = device_of(trimmed(rest.substr(start, end - start)), uuids);
        if (number == no_device || std::count(found.begin(), found.end(), number))
            break;
        found.push_back(number);
        start = end + 1;
    }
    return found;
}

} // namespace emu::state
