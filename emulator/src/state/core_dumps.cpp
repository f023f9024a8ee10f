// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "core_dumps.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unistd.h>
#include <vector>

namespace emu::state::core_dumps {
namespace {

constexpr size_t most_characters = 1023;

struct Settings {
    std::mutex mutex;
    bool flags[CU_COREDUMP_MAX] = {};
    unsigned generation = CU_COREDUMP_DEFAULT_FLAGS;
    std::string file = "core.cuda.%h.%p", pipe = "corepipe.cuda.%h.%p";
    std::vector<Listener*> listeners; // in the order of their registration
    Settings() { flags[CU_COREDUMP_TRIGGER_HOST] = true; }
};
Settings& settings = *new Settings;
thread_local bool is_writing = false;

bool is_flag(CUcoredumpSettings setting)
{
    return setting >= CU_COREDUMP_ENABLE_ON_EXCEPTION && setting <= CU_COREDUMP_ENABLE_USER_TRIGGER;
}

std::string* text_of(CUcoredumpSettings setting)
{
    return setting == CU_COREDUMP_FILE ? &settings.file : setting == CU_COREDUMP_PIPE ? &settings.pipe : nullptr;
}

std::string path_of(const std::string& pattern)
{
    char host[256] = "localhost";
    gethostname(host, sizeof host - 1);
    std::string out;
    for (size_t i = 0; i < pattern.size(); ++i) {
        const char next = pattern[i] == '%' && i + 1 < pattern.size() ? pattern[i + 1] : '\0';
        if (next == 'h' || next == 'p')
            out += next == 'h' ? std::string(host) : std::to_string(getpid()), ++i;
        else
            out += pattern[i];
    }
    return out;
}

void call(bool at_end, int device)
{
    std::vector<Listener> called;
    {
        std::lock_guard lock(settings.mutex);
        for (const Listener* listener : settings.listeners)
            if (listener->at_end == at_end)
                called.push_back(*listener);
    }
    for (const Listener& listener : called)
        listener.callback(listener.data, int(getpid()), device);
}

} // namespace

CUresult set(CUcoredumpSettings setting, const void* value, size_t* size)
{
    if (!size)
        return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard lock(settings.mutex);
    std::string* text = text_of(setting);
    if (!text && !is_flag(setting) && setting != CU_COREDUMP_GENERATION_FLAGS)
        return CUDA_ERROR_INVALID_VALUE;
    const size_t expected = text ? most_characters + 1 : is_flag(setting) ? sizeof(bool) : sizeof(unsigned);
    if (!value) {
        *size = expected;
        return CUDA_SUCCESS;
    }
    if (text ? strnlen(static_cast<const char*>(value), *size) > most_characters : *size != expected)
        return CUDA_ERROR_INVALID_VALUE;
    if (text)
        text->assign(static_cast<const char*>(value), strnlen(static_cast<const char*>(value), *size));
    else if (is_flag(setting))
        settings.flags[setting] = *static_cast<const bool*>(value);
    else
        settings.generation = *static_cast<const unsigned*>(value);
    return CUDA_SUCCESS;
}

CUresult get(CUcoredumpSettings setting, void* value, size_t* size)
{
    if (!size)
        return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard lock(settings.mutex);
    const std::string* text = text_of(setting);
    if (!text && !is_flag(setting) && setting != CU_COREDUMP_GENERATION_FLAGS)
        return CUDA_ERROR_INVALID_VALUE;
    const size_t needed = text ? text->size() + 1 : is_flag(setting) ? sizeof(bool) : sizeof(unsigned);
    if (value && *size < needed)
        return CUDA_ERROR_INVALID_VALUE;
    if (value && text)
        std::memcpy(value, text->c_str(), needed);
    else if (value && is_flag(setting))
        *static_cast<bool*>(value) = settings.flags[setting];
    else if (value)
        *static_cast<unsigned*>(value) = settings.generation;
    *size = needed;
    return CUDA_SUCCESS;
}

CUresult listen(const Listener& listener, Listener** out)
{
    if (is_writing)
        return CUDA_ERROR_NOT_PERMITTED;
    if (!listener.callback)
        return CUDA_ERROR_INVALID_VALUE;
    auto* made = new Listener(listener);
    std::lock_guard lock(settings.mutex);
    settings.listeners.push_back(made);
    if (out)
        *out = made;
    return CUDA_SUCCESS;
}

CUresult stop_listening(Listener* listener, bool at_end)
{
    if (is_writing)
        return CUDA_ERROR_NOT_PERMITTED;
    std::lock_guard lock(settings.mutex);
    auto& all = settings.listeners;
    auto place = std::find(all.begin(), all.end(), listener);
    if (place == all.end() || (*place)->at_end != at_end)
        return CUDA_ERROR_INVALID_VALUE;
    delete *place;
    all.erase(place);
    return CUDA_SUCCESS;
}

void write(int device, const std::string& report)
{
    std::string path;
    unsigned flags;
    bool aborts;
    {
        std::lock_guard lock(settings.mutex);
        if (!settings.flags[CU_COREDUMP_ENABLE_ON_EXCEPTION])
            return;
        path = path_of(settings.file);
        flags = settings.generation;
        aborts = settings.flags[CU_COREDUMP_TRIGGER_HOST] && !(flags & CU_COREDUMP_SKIP_ABORT);
    }
    is_writing = true;
    call(false, device);
    if (!(flags & unsigned(CU_COREDUMP_LOG_ONLY)))
        if (std::FILE* file = std::fopen(path.c_str(), "we")) {
            std::fprintf(file, "%s\n", report.c_str());
            std::fclose(file);
        }
    call(true, device);
    is_writing = false;
    if (aborts)
        std::abort();
}

} // namespace emu::state::core_dumps
