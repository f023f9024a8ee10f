// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The checks made in every exported call: initialization, trace, planned faults, counting.
#include <atomic>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <cxxabi.h>
#include <memory>
#include <mutex>
#include <new>
#include <pthread.h>
#include <set>
#include <unistd.h>

#include "../config.hpp"
#include "../log.hpp"
#include "../state/context.hpp"
#include "../state/origin.hpp"
#include "../state/streams/queue.hpp"
#include "calls.hpp"
#include "planned_faults.hpp"

namespace emu::abi {
namespace {

// Zero if every call may pass without further checks.
enum : uint32_t { uninitialized = 1, forked = 2, tracing = 4, failing = 8, unread = 16, locating = 32, telling = 64 };
std::atomic<uint32_t> door{uninitialized | unread};

uint64_t calls = 0; // shown in reports; approximate when threads race
thread_local bool per_thread __attribute__((tls_model("initial-exec"))) = false;

// One counter per entry, created when a call is first not supported.
std::atomic<uint64_t>* counters()
{
    static const std::unique_ptr<std::atomic<uint64_t>[]> rows(new std::atomic<uint64_t>[size_t(entry_count)]());
    return rows.get();
}

std::atomic<state::Locator> locator{nullptr};

// Finds the place of a call that allocates memory. Called without locks, because the locator calls the interpreter.
const char* locate(const char* name)
{
    state::Locator ask = locator.load();
    if (!ask || std::strncmp(name, "cuMem", 5) != 0 || !std::strstr(name, "Alloc"))
        return nullptr;
    static auto& mutex = *new std::mutex;
    static auto& places = *new std::set<std::string>;
    char text[512] = "";
    ask(text, sizeof text);
    std::lock_guard lock(mutex);
    return *text ? places.insert(text).first->c_str() : nullptr;
}

bool is_always_open(const char* name)
{
    for (const char* open :
         {"cuInit", "cuDriverGetVersion", "cuGetErrorName", "cuGetErrorString", "cuGetProcAddress", "cuGetExportTable"})
        if (std::strcmp(name, open) == 0)
            return true;
    return false;
}

std::string name_of(CUresult result)
{
    const char* name = result_name(result);
    return name ? name : "?";
}

// Cleanup code ignores errors, so a program does not notice a fault through these calls.
bool is_noticed(const char* symbol)
{
    for (const char* word : {"Destroy", "Free", "Unload", "Release", "IsCapturing"})
        if (std::strstr(symbol, word))
            return false;
    return true;
}

// Logs the known reason: the call's own, or that of the context that failed earlier.
void log_failure(const char* symbol, CUresult result)
{
    if (std::strncmp(symbol, "cuLogs", 6) == 0)
        return;
    std::string why = take_explanation(state::origin.number);
    bool is_report = false;
    if (why.empty())
        why = state::Context::report_of(result, is_noticed(symbol), &is_report);
    if (!why.empty())
        log::add(symbol, why, is_report);
    if (is_report)
        door.fetch_or(telling);
    log::add(symbol, "Returning " + std::to_string(int(result)) + " (" + name_of(result) + ")");
}

// Calls with which a program waits, and learns of a fault.
bool is_about_errors(const char* name)
{
    return std::strncmp(name, "cuLogs", 6) == 0 || std::strncmp(name, "cuGetError", 10) == 0 ||
           std::strstr(name, "Synchronize") || std::strstr(name, "Query");
}

// A program that raises an exception for a fault reads the log before other calls. For any other, stderr has the report.
void tell()
{
    std::string report = log::take_unread_report();
    if (!report.empty())
        say(report);
    if (!log::has_unread_report())
        door.fetch_and(~uint32_t(telling));
}

std::atomic<pthread_t> exiting_thread{0};

bool may_block(const char* symbol)
{
    return std::strstr(symbol, "Synchronize") ||
           (std::strncmp(symbol, "cuMemcpy", 8) == 0 && !std::strstr(symbol, "Async"));
}

// At the exit, work that never ends is dropped. On a GPU the threads that wait for it would still be waiting: they do not
// return here either, because they would print the error. Calls that do not wait may hold the interpreter's lock.
CUresult result_at_exit(const char* symbol, CUresult result)
{
    bool is_other = exiting_thread.load() && exiting_thread.load() != pthread_self();
    if (result != CUDA_ERROR_LAUNCH_FAILED || !is_other)
        return result;
    while (may_block(symbol))
        pause();
    return std::strstr(symbol, "Query") ? CUDA_ERROR_NOT_READY : result;
}

// ------------------------------------------------------------------------------- trace

FILE* trace_file()
{
    static FILE* file = config().trace == "stderr" ? stderr : std::fopen(config().trace.c_str(), "ae");
    return file;
}

void trace(const std::string& call, CUresult result, double microseconds)
{
    FILE* file = trace_file();
    if (!file)
        return;
    std::fprintf(file, "%d %s = %s (%.1f us)\n", int(gettid()), call.c_str(), name_of(result).c_str(), microseconds);
    std::fflush(file);
}

std::string call_text(const char* symbol, std::initializer_list<Shown> arguments)
{
    std::string text = std::string(symbol) + "(";
    const char* separator = "";
    for (const Shown& shown : arguments) {
        char value[32];
        std::snprintf(value, sizeof value, shown.pointer ? "%#" PRIx64 : "%" PRId64, shown.bits);
        text += std::string(separator) + shown.label + "=" + value;
        separator = ", ";
    }
    return text + ")";
}

std::string& error_of_plans()
{
    static auto& text = *new std::string; // never destroyed, because calls may follow at exit
    return text;
}

void read_variables()
{
    static std::once_flag once;
    std::call_once(once, [] {
        uint32_t wanted = 0;
        if (!config().trace.empty()) {
            if (trace_file())
                wanted |= tracing;
            else
                say("CUDA_EMULATOR_TRACE: " + config().trace + " cannot be written");
        }
        error_of_plans() = plans_from_variable();
        door.fetch_or(wanted);
        door.fetch_and(~uint32_t(unread));
    });
}

void after_fork()
{
    if (!(door.load() & uninitialized))
        door.fetch_or(forked);
    state::Queue::forget_threads();
}

} // namespace

struct Gate::Watch {
    const char* symbol;
    std::string text;
    PlannedFault fault;
    bool traced = false, done = false;
    std::chrono::steady_clock::time_point start;
};

Gate::Gate(int entry, bool wants_per_thread) : outer_per_thread_(per_thread)
{
    per_thread = wants_per_thread;
    state::origin = {entries[entry].symbol, ++calls, nullptr};
    if (__builtin_expect(door.load(std::memory_order_relaxed) != 0, 0))
        check(entry);
}

Gate::~Gate()
{
    per_thread = outer_per_thread_;
    if (watch_) {
        if (watch_->traced && !watch_->done)
            trace(watch_->text, result_, 0);
        delete watch_;
    }
}

void Gate::check(int entry)
{
    read_variables();
    const Entry& row = entries[entry];
    uint32_t bits = door.load();
    bool open = is_always_open(row.name);
    if ((bits & telling) && !is_about_errors(row.name))
        tell();
    if (bits & locating)
        state::origin.place = locate(row.name);
    if ((bits & (tracing | failing)) && std::strcmp(row.name, "cuGetProcAddress") != 0) {
        watch_ = new Watch{row.symbol, {}, {}, (bits & tracing) != 0, false, std::chrono::steady_clock::now()};
        if (bits & failing)
            watch_->fault = next_fault(row.name, row.symbol);
        if (watch_->fault.when == FaultTime::hang)
            wait_until_removed(watch_->fault.plan);
    }
    if ((bits & forked) && (!open || std::strcmp(row.name, "cuInit") == 0))
        result_ = CUDA_ERROR_NOT_INITIALIZED; // the child of a fork() has no device
    else if ((bits & uninitialized) && !open)
        result_ = CUDA_ERROR_NOT_INITIALIZED;
    else if (watch_ && watch_->fault.when == FaultTime::before)
        result_ = watch_->fault.code;
    // Not in the child of a fork(), where the lock may be held forever.
    if (result_ != CUDA_SUCCESS && !(bits & forked))
        log_failure(row.symbol, result_);
}

void Gate::reject_with(CUresult reason)
{
    result_ = reason;
    log_failure(state::origin.call, reason);
}

void Gate::show(std::initializer_list<Shown> arguments)
{
    if (watch_->traced)
        watch_->text = call_text(watch_->symbol, arguments);
}

CUresult Gate::leave(CUresult result)
{
    if (__builtin_expect(!watch_ && (result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_READY), 1))
        return result;
    result = result_at_exit(state::origin.call, watch_ ? leave_watched(result) : result);
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY)
        log_failure(state::origin.call, result);
    return result;
}

CUresult Gate::leave_watched(CUresult result)
{
    const PlannedFault& fault = watch_->fault;
    if (result == CUDA_SUCCESS && fault.when == FaultTime::after)
        result = fault.code;
    if (result == CUDA_SUCCESS && fault.when == FaultTime::later)
        if (auto context = state::current())
            context->fail(fault.code, std::string(watch_->symbol) + ": planned fault");
    if (watch_->traced) {
        auto time = std::chrono::steady_clock::now() - watch_->start;
        trace(watch_->text, result, std::chrono::duration<double, std::micro>(time).count());
    }
    watch_->done = true;
    return result;
}

CUresult Gate::caught()
{
    try {
        throw;
    } catch (const std::bad_alloc&) {
        return leave(CUDA_ERROR_OUT_OF_MEMORY);
    } catch (const __cxxabiv1::__forced_unwind&) {
        throw; // the thread is being canceled
    } catch (...) {
        return leave(CUDA_ERROR_UNKNOWN);
    }
}

CUresult not_supported(int entry)
{
    counters()[entry].fetch_add(1, std::memory_order_relaxed);
    if (door.load() & tracing)
        trace(std::string(entries[entry].symbol) + "(...)", CUDA_ERROR_NOT_SUPPORTED, 0);
    state::origin = {entries[entry].symbol, ++calls, nullptr};
    state::explain("the software device does not implement this call");
    log_failure(entries[entry].symbol, CUDA_ERROR_NOT_SUPPORTED);
    return CUDA_ERROR_NOT_SUPPORTED;
}

uint64_t unsupported_calls(int entry)
{
    return counters()[entry].load(std::memory_order_relaxed);
}

bool per_thread_default()
{
    return per_thread;
}

const std::string& error_of_variables()
{
    read_variables();
    return config().error.empty() ? error_of_plans() : config().error;
}

bool are_variables_valid()
{
    const std::string& error = error_of_variables();
    static std::once_flag said;
    if (!error.empty())
        std::call_once(said, [&error] { say(error); });
    return error.empty();
}

exec::HostActivity host_activity()
{
    return {__atomic_load_n(&calls, __ATOMIC_RELAXED), state::waiting_threads > 0};
}

void set_initialized()
{
    static std::once_flag once;
    std::call_once(once, [] { pthread_atfork(nullptr, nullptr, after_fork); });
    door.fetch_and(~uint32_t(uninitialized));
}

bool is_initialized()
{
    return !(door.load() & (uninitialized | forked));
}

void begin_exit()
{
    exiting_thread = pthread_self();
    state::Queue::keep_reports();
}

void set_locator(state::Locator given)
{
    locator = given;
    if (given)
        door.fetch_or(locating);
    else
        door.fetch_and(~uint32_t(locating));
}

void set_failing(bool on)
{
    if (on)
        door.fetch_or(failing);
    else
        door.fetch_and(~uint32_t(failing));
}

} // namespace emu::abi
