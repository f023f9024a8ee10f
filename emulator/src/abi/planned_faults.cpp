// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "planned_faults.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <fnmatch.h>
#include <map>
#include <mutex>

#include "../config.hpp"
#include "abi.hpp"

namespace emu::abi {
namespace {

struct Plan {
    std::string pattern;
    uint64_t first = 1;
    bool and_later = true;
    PlannedFault fault;
    uint64_t matched = 0, fired = 0;
    std::string last;
};

std::mutex mutex;
// Never destroyed, because threads may wait when the process exits.
std::condition_variable& removed()
{
    static auto* condition = new std::condition_variable;
    return *condition;
}
int next_id = 1;
std::map<int, Plan>& plans()
{
    static auto* rows = new std::map<int, Plan>;
    return *rows;
}

bool read_code(const std::string& text, CUresult* code)
{
    for (int i = 0; i < result_name_count; ++i)
        if (text == result_names[i].name || text == std::to_string(result_names[i].value)) {
            *code = CUresult(result_names[i].value);
            return *code != CUDA_SUCCESS;
        }
    return false;
}

bool read_time(const std::string& text, FaultTime* when)
{
    if (text == "before")
        *when = FaultTime::before;
    else if (text == "after")
        *when = FaultTime::after;
    else if (text == "later")
        *when = FaultTime::later;
    else if (text == "hang")
        *when = FaultTime::hang;
    else
        return false;
    return true;
}

// Returns true if a name matches. Patterns are separated by commas; one after '!' exempts, wherever it is in the list.
bool is_meant(const std::string& patterns, const char* name, const char* symbol)
{
    bool meant = false;
    for (size_t begin = 0; begin < patterns.size();) {
        size_t end = std::min(patterns.find(',', begin), patterns.size());
        bool exempt = patterns[begin] == '!';
        std::string one = patterns.substr(begin + exempt, end - begin - exempt);
        if (fnmatch(one.c_str(), name, 0) == 0 || fnmatch(one.c_str(), symbol, 0) == 0) {
            if (exempt)
                return false;
            meant = true;
        }
        begin = end + 1;
    }
    return meant;
}

// Parses a plan. Returns an empty string, or the problem.
std::string read_plan(std::string text, Plan* plan)
{
    size_t equals = text.rfind('=');
    if (equals == std::string::npos || !read_code(text.substr(equals + 1), &plan->fault.code))
        return "the text after '=' is not the name or number of an error code";
    text.erase(equals);
    plan->fault.when = FaultTime::before;
    if (size_t colon = text.find(':'); colon != std::string::npos) {
        if (!read_time(text.substr(colon + 1), &plan->fault.when))
            return "the text after ':' is not before, after, later or hang";
        text.erase(colon);
    }
    if (size_t at = text.find('@'); at != std::string::npos) {
        char* end = nullptr;
        plan->first = std::strtoull(text.c_str() + at + 1, &end, 10);
        plan->and_later = *end == '+';
        if (plan->first == 0 || (*end && std::strcmp(end, "+") != 0))
            return "the text after '@' is not the number of a call";
        text.erase(at);
    }
    plan->pattern = text;
    return text.empty() ? "the name of a driver function is missing" : "";
}

} // namespace

PlannedFault next_fault(const char* name, const char* symbol)
{
    std::lock_guard lock(mutex);
    PlannedFault fault;
    for (auto& row : plans()) {
        Plan& plan = row.second;
        if (!is_meant(plan.pattern, name, symbol))
            continue;
        ++plan.matched;
        bool turn = plan.and_later ? plan.matched >= plan.first : plan.matched == plan.first;
        if (!turn || fault.when != FaultTime::none)
            continue;
        ++plan.fired;
        plan.last = symbol;
        fault = plan.fault;
        fault.plan = row.first;
    }
    return fault;
}

int add_plan(const std::string& text, std::string* error)
{
    Plan plan;
    *error = read_plan(text, &plan);
    if (!error->empty())
        return 0;
    std::lock_guard lock(mutex);
    int id = next_id++;
    plans()[id] = std::move(plan);
    set_failing(true);
    return id;
}

bool remove_plan(int id)
{
    std::lock_guard lock(mutex);
    bool known = plans().erase(id) != 0;
    if (plans().empty())
        set_failing(false);
    removed().notify_all();
    return known;
}

void wait_until_removed(int plan)
{
    std::unique_lock lock(mutex);
    removed().wait(lock, [plan] { return plans().find(plan) == plans().end(); });
}

bool plan_state(int id, uint64_t* matched, uint64_t* fired, std::string* last)
{
    std::lock_guard lock(mutex);
    auto row = plans().find(id);
    if (row == plans().end())
        return false;
    *matched = row->second.matched;
    *fired = row->second.fired;
    *last = row->second.last;
    return true;
}

std::string plans_from_variable()
{
    std::string rest = config().fail, error, first;
    while (!rest.empty()) {
        size_t end = std::min(rest.find(';'), rest.size());
        std::string text = rest.substr(0, end);
        rest.erase(0, end + 1);
        if (!text.empty() && !add_plan(text, &error) && first.empty())
            first = "CUDA_EMULATOR_FAIL=" + text + " is not valid: " + error;
    }
    return first;
}

} // namespace emu::abi
