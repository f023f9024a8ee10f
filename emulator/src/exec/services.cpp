// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// printf, assert, malloc, traps, clocks and yielding, as called by kernels.
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <mutex>
#include <new>
#include <pthread.h>
#include <unistd.h>

#include "checks/findings.hpp"
#include "checks/heap.hpp"
#include "machine.hpp"
#include "spin_state.hpp"
#include "worker.hpp"

namespace emu::exec {
namespace {

struct Output {
    std::mutex mutex;
    std::string text;

    void write_out() // called under the lock
    {
        std::fflush(stdout); // what the host part of a program printed before
        const char* at = text.data();
        size_t left = text.size();
        while (left) {
            ssize_t written = ::write(1, at, left);
            if (written < 0 && errno == EINTR)
                continue;
            if (written <= 0)
                break; // stdout is closed: the text is lost
            at += written;
            left -= size_t(written);
        }
        text.clear();
    }
};

Output& output()
{
    static Output* value = [] {
        static Output* made = new Output;
        pthread_atfork([] { made->mutex.lock(); }, [] { made->mutex.unlock(); },
                       [] {
                           new (&made->mutex) std::mutex;
                           made->text.clear();
                       });
        return made;
    }();
    return *value;
}

constexpr const char* flags_of_conversions = "-+ #0123456789.*hljztL";

// Returns the number of values a format consumes, or -1 if it has a conversion unsupported in kernels (%n).
int count_values(const char* format)
{
    int count = 0;
    for (const char* at = format; *at; ++at) {
        if (*at != '%')
            continue;
        ++at;
        for (; *at && std::strchr(flags_of_conversions, *at); ++at)
            count += *at == '*';
        if (*at == 'n' || !*at)
            return -1;
        count += *at != '%';
    }
    return count;
}

void print(const char* text, size_t size)
{
    Locked locked;
    Output& out = output();
    std::lock_guard<std::mutex> lock(out.mutex);
    out.text.append(text, size);
    if (out.text.size() > this_worker()->launch->request.limits.printf_bytes)
        out.write_out();
}

uint64_t now()
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return uint64_t(time.tv_sec) * 1000000000u + uint64_t(time.tv_nsec);
}

// The printf() arguments as a structure.
class PackedValues {
public:
    explicit PackedValues(const void* values) : base_(static_cast<const char*>(values)) {}

    template <class T> T take()
    {
        T value;
        at_ = (at_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
        std::memcpy(&value, base_ + at_, sizeof value);
        at_ += sizeof value;
        return value;
    }

private:
    const char* base_;
    size_t at_ = 0;
};

template <class T> void append(std::string* out, const std::string& conversion, T value)
{
    int size = std::snprintf(nullptr, 0, conversion.c_str(), value);
    std::string text(size_t(std::max(size, 0)) + 1, 0);
    std::snprintf(&text[0], text.size(), conversion.c_str(), value);
    out->append(text, 0, text.size() - 1);
}

// Formats the conversion at `at`, which points to a %, and returns its end.
const char* append_conversion(std::string* out, const char* at, PackedValues* values)
{
    std::string conversion(1, *at++);
    for (; *at && std::strchr(flags_of_conversions, *at); ++at)
        conversion += *at == '*' ? std::to_string(values->take<int>()) : std::string(1, *at);
    conversion += *at;
    bool is_long = conversion.find_first_of("ljzt") != conversion.npos;
    if (*at == '%')
        *out += '%';
    else if (std::strchr("sp", *at))
        append(out, conversion, values->take<const char*>());
    else if (std::strchr("aAeEfFgG", *at))
        append(out, conversion, values->take<double>());
    else if (is_long)
        append(out, conversion, values->take<long long>());
    else
        append(out, conversion, values->take<int>());
    return at + 1;
}

// Compares the values of a printf() with its format.
class PrintedValues {
public:
    PrintedValues(const emu_u8* kinds, size_t count, va_list values) : kinds_(kinds), count_(count)
    {
        va_copy(values_, values);
    }
    ~PrintedValues() { va_end(values_); }
    PrintedValues(const PrintedValues&) = delete;
    PrintedValues& operator=(const PrintedValues&) = delete;

    // Returns what is wrong with the first value that does not fit, or an empty string.
    std::string misfit(const char* format)
    {
        std::string text;
        for (const char* at = std::strchr(format, '%'); at && text.empty(); at = std::strchr(at + 1, '%')) {
            conversion_ = at++;
            bool is_long = false;
            for (; *at && std::strchr(flags_of_conversions, *at) && text.empty(); ++at) {
                is_long = is_long || std::strchr("ljzt", *at);
                if (*at == '*')
                    text = judge('d', false, at);
            }
            if (!*at)
                break;
            if (*at != '%' && text.empty())
                text = judge(*at, is_long, at);
        }
        return text;
    }

private:
    std::string judge(char letter, bool is_long, const char* end)
    {
        constexpr size_t most = 32;
        std::string which = "argument " + std::to_string(next_ + 1) + " for " + std::string(conversion_, end + 1) + " ";
        if (next_ == count_)
            return which + "is missing";
        if (next_ == most)
            return which + "is not printed by a GPU, which prints at most 32";
        emu_u8 kind = kinds_[next_++];
        if (kind == EMU_PRINTED_OBJECT)
            return which + "is an object of a class";
        if (kind == EMU_PRINTED_DOUBLE)
            return va_arg(values_, double), std::strchr("aAeEfFgG", letter) ? "" : which + "is a floating-point number";
        long long value = kind == EMU_PRINTED_INT ? va_arg(values_, int) : va_arg(values_, long long);
        const char* what = kind == EMU_PRINTED_POINTER ? "is a pointer"
                           : kind == EMU_PRINTED_LONG  ? "is an integer of 64 bits"
                                                       : "is an integer of 32 bits";
        bool wants_text = letter == 's', wants_pointer = letter == 'p';
        if (std::strchr("aAeEfFgG", letter) || (wants_text && kind != EMU_PRINTED_POINTER))
            return which + what;
        if ((is_long || wants_pointer) && kind == EMU_PRINTED_INT)
            return which + what;
        bool is_cut = !is_long && !wants_text && !wants_pointer && value != int(value) && value != unsigned(value);
        return is_cut ? which + what + ", " + std::to_string(value) : "";
    }

    const emu_u8* kinds_;
    size_t count_, next_ = 0;
    va_list values_;
    const char* conversion_ = nullptr;
};

// A loop that looks at the clock ends.
void stops_spinning()
{
    this_worker()->current->notes().spins = 0;
}

std::string in_brackets(const EmuDim3& d)
{
    return "[" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + "]";
}

void give_way(uintptr_t pc, const SpinState& state)
{
    Worker& worker = *this_worker();
    state.note(*worker.current, 0);
    worker.repeats.store(true, std::memory_order_relaxed);
    worker.block.yield(worker.current, {pc, nullptr, 0});
}

} // namespace

void flush_output()
{
    Output& out = output();
    std::lock_guard<std::mutex> lock(out.mutex);
    if (!out.text.empty())
        out.write_out();
}

} // namespace emu::exec

using namespace emu::exec;

extern "C" {

int emu_vprintf(const char* format, va_list arguments)
{
    int values = count_values(format);
    if (values < 0) {
        print(format, std::strlen(format));
        return -1;
    }
    char text[512];
    va_list again;
    va_copy(again, arguments);
    int size = std::vsnprintf(text, sizeof text, format, arguments);
    if (size >= int(sizeof text)) {
        std::string longer(size_t(size) + 1, 0);
        std::vsnprintf(&longer[0], longer.size(), format, again);
        print(longer.data(), size_t(size));
    } else if (size > 0) {
        print(text, size_t(size));
    }
    va_end(again);
    return size < 0 ? -1 : values;
}

int emu_printf(const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int result = emu_vprintf(format, arguments);
    va_end(arguments);
    return result;
}

int emu_printf_of(const emu_u8* kinds, emu_u32 count, const char* format, ...)
{
    va_list values;
    va_start(values, format);
    Trouble trouble;
    trouble.kind = FaultKind::trap;
    trouble.pc = EMU_CALLER;
    if (count_values(format) >= 0)
        trouble.text = PrintedValues(kinds, count, values).misfit(format);
    if (!trouble.text.empty()) {
        trouble.text.insert(0, "printf(): ");
        if (!goes_on(*this_worker(), trouble))
            raise_fault(std::move(trouble));
    }
    int result = emu_vprintf(format, values);
    va_end(values);
    return result;
}

int emu_printf_packed(const char* format, const void* packed)
{
    int count = count_values(format);
    std::string text;
    PackedValues values(packed);
    for (const char* at = format; count >= 0 && *at;)
        if (*at == '%')
            at = append_conversion(&text, at, &values);
        else
            text += *at++;
    if (count < 0)
        text = format;
    print(text.data(), text.size());
    return count;
}

void emu_assert_fail(const char* expression, const char* file, unsigned line, const char* function)
{
    Trouble trouble;
    trouble.kind = FaultKind::assertion;
    trouble.pc = EMU_CALLER;
    trouble.file = file ? file : "";
    trouble.line = int(line);
    // The line printed by CUDA, because programs search their output for it.
    trouble.text = "\n" + trouble.file + ":" + std::to_string(line) + ": " + (function ? function : "?") +
                   ": block: " + in_brackets(emu_block_idx) + ", thread: " + in_brackets(emu_thread_idx) +
                   " Assertion `" + (expression ? expression : "?") + "` failed.";
    raise_fault(std::move(trouble));
}

void emu_trap(const char* why)
{
    Trouble trouble;
    trouble.kind = FaultKind::trap;
    trouble.pc = EMU_CALLER;
    trouble.text = why ? why : "";
    raise_fault(std::move(trouble));
}

void emu_exit_thread()
{
    this_worker()->block.exit_thread();
}

emu_u64 emu_clock()
{
    stops_spinning();
    return ticks();
}

emu_u64 emu_global_timer()
{
    stops_spinning();
    return now();
}

void emu_nanosleep(emu_u32 nanoseconds)
{
    // As documented: between 0 and twice the given time, and at most a millisecond.
    SpinState state = EMU_SPIN_STATE;
    uint64_t end = now() + (nanoseconds < 1000000 ? nanoseconds : 1000000);
    give_way(EMU_CALLER, state);
    uint64_t time = now();
    if (time < end && !this_worker()->block.others()) {
        struct timespec rest = {0, long(end - time)};
        nanosleep(&rest, nullptr);
    }
}

void emu_yield()
{
    SpinState state = EMU_SPIN_STATE;
    give_way(EMU_CALLER, state);
}

void emu_preempt()
{
    SpinState state = EMU_SPIN_STATE;
    Worker& worker = *this_worker();
    worker.is_signaled = false;
    NextAccess next = std::exchange(worker.next, NextAccess()); // the others have their own
    worker.give_way({worker.watched_pc, nullptr, 0}, worker.current->notes().note_sample(state.hash(*worker.current)));
    worker.next = next;
}

// Has no effect outside a graph, or for another graph's handle.
void emu_set_condition(emu_u64 handle, emu_u32 value)
{
    Locked locked;
    if (ConditionSink* sink = this_worker()->launch->request.conditions)
        sink->set(handle, value);
}

int emu_launch_graph(emu_u64 graph, emu_u64 way)
{
    Locked locked;
    GraphLauncher* launcher = this_worker()->launch->request.launcher;
    return launcher ? launcher->launch(graph, way) : EMU_ERROR_NOT_SUPPORTED;
}

emu_u64 emu_current_graph(void)
{
    Locked locked;
    GraphLauncher* launcher = this_worker()->launch->request.launcher;
    return launcher ? launcher->current() : 0;
}

} // extern "C"

extern "C" void* emu_malloc(emu_size bytes)
{
    Locked locked;
    uintptr_t at = heap_allocate(this_carrier->launch->request.device, bytes, this_carrier->launch->request.name);
    return reinterpret_cast<void*>(at);
}

extern "C" void emu_free(void* pointer)
{
    if (!pointer)
        return;
    Trouble trouble;
    trouble.address = reinterpret_cast<uintptr_t>(pointer);
    {
        Locked locked;
        if (heap_release(this_carrier->launch->request.device, trouble.address, &trouble.text))
            return;
    }
    trouble.kind = FaultKind::heap;
    trouble.pc = EMU_CALLER;
    raise_fault(std::move(trouble));
}

extern "C" void emu_cover(void* pc)
{
    const ImageRecord* image = this_carrier ? this_carrier->image : nullptr;
    auto address = reinterpret_cast<uintptr_t>(pc);
    if (image && image->counts && image->has_code(address))
        image->counts[address - image->image.code_low].fetch_add(1, std::memory_order_relaxed);
    if (image && this_carrier->advice)
        this_carrier->advice->enter(this_carrier->state->linear,
                                    reinterpret_cast<uintptr_t>(__builtin_frame_address(0)), address);
}
