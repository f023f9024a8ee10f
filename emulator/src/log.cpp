// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "log.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <deque>
#include <mutex>
#include <unistd.h>
#include <utility>

struct CUlogsCallbackEntry_st {
    CUlogsCallback callback;
    void* data;
};

namespace emu {
namespace {

constexpr size_t most_bytes = 25600; // as documented
constexpr const char* missing = "[older messages are missing]\n";

struct Explanation {
    uint64_t call = 0;
    std::string text;
};
thread_local Explanation explanation;

// Never destroyed, because threads may log while the process exits.
struct Messages {
    std::mutex mutex;
    std::deque<std::string> rows;
    unsigned first = 0; // number of the oldest message still in the log
    size_t bytes = 0;
    std::vector<CUlogsCallbackEntry_st*> listeners;
    std::string report; // that nobody has read
    int reporter = 0;   // the thread that added it
};
Messages& messages = *new Messages;

std::string head(const char* call)
{
    timespec now{};
    tm parts{};
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &parts);
    char text[128];
    std::snprintf(text, sizeof text, "[%02d:%02d:%02d.%03d][%d][CUDA][E][%s] ", parts.tm_hour, parts.tm_min,
                  parts.tm_sec, int(now.tv_nsec / 1000000), int(gettid()), call);
    return text;
}

// Indents all lines but the first, so that none of them looks like the head of a message.
std::string indented(const std::string& text)
{
    std::string out;
    for (char c : text) {
        out += c;
        if (c == '\n')
            out += "  ";
    }
    return out;
}

} // namespace

void explain(uint64_t call, std::string text)
{
    explanation = {call, std::move(text)};
}

std::string take_explanation(uint64_t call)
{
    return explanation.call == call ? std::move(explanation.text) : std::string();
}

namespace log {

void add(const char* call, const std::string& text, bool is_report)
{
    std::string row = head(call) + indented(text).substr(0, most_bytes / 4) + "\n";
    std::vector<CUlogsCallbackEntry_st> listeners;
    {
        std::lock_guard lock(messages.mutex);
        messages.bytes += row.size();
        messages.rows.push_back(row);
        while (messages.bytes > most_bytes) {
            messages.bytes -= messages.rows.front().size();
            messages.rows.pop_front();
            ++messages.first;
        }
        for (const auto* listener : messages.listeners)
            listeners.push_back(*listener);
        if (is_report && listeners.empty()) {
            messages.report = text;
            messages.reporter = int(gettid());
        }
    }
    for (const auto& listener : listeners)
        listener.callback(listener.data, CU_LOG_LEVEL_ERROR, row.data(), row.size());
}

std::string take_unread_report(bool all)
{
    std::lock_guard lock(messages.mutex);
    return all || messages.reporter == int(gettid()) ? std::exchange(messages.report, {}) : std::string();
}

bool has_unread_report()
{
    std::lock_guard lock(messages.mutex);
    return !messages.report.empty();
}

unsigned end()
{
    std::lock_guard lock(messages.mutex);
    return messages.first + unsigned(messages.rows.size());
}

bool read(unsigned* first, size_t room, std::string* out)
{
    std::lock_guard lock(messages.mutex);
    const auto& rows = messages.rows;
    unsigned end = messages.first + unsigned(rows.size());
    unsigned wanted = std::max(*first, messages.first);
    unsigned begin = end;
    size_t bytes = 0, spare = std::string(missing).size();
    while (begin > wanted && bytes + rows[begin - 1 - messages.first].size() <= room)
        bytes += rows[--begin - messages.first].size();
    bool whole = begin <= *first;
    while (!whole && begin < end && bytes + spare > room) // make room for the line that reports missing messages
        bytes -= rows[begin++ - messages.first].size();
    if (begin == end && *first < end)
        return false;
    *out = whole || begin == end ? "" : missing;
    for (unsigned i = begin; i < end; ++i)
        *out += rows[i - messages.first];
    *first = end;
    messages.report.clear();
    return true;
}

Listener* listen(CUlogsCallback callback, void* data)
{
    auto* listener = new Listener{callback, data};
    std::lock_guard lock(messages.mutex);
    messages.listeners.push_back(listener);
    return listener;
}

bool stop_listening(Listener* listener)
{
    std::lock_guard lock(messages.mutex);
    auto& all = messages.listeners;
    auto place = std::find(all.begin(), all.end(), listener);
    if (place == all.end())
        return false;
    delete *place;
    all.erase(place);
    return true;
}

} // namespace log
} // namespace emu
