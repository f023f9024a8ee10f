// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Functions for our Python package, with plain C types, and the reports of unnoticed faults and leaks when the process
// exits.
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <unistd.h>

#include "../config.hpp"
#include "../exec/checks/heap.hpp"
#include "../front/front.hpp"
#include "../log.hpp"
#include "../state/code/module.hpp"
#include "../state/context.hpp"
#include "../state/graphics.hpp"
#include "../state/graphs/graph_exec.hpp"
#include "../state/interruption.hpp"
#include "../state/memory/arena.hpp"
#include "../state/memory/external_memory.hpp"
#include "../state/memory/pool.hpp"
#include "../state/memory/virtual_memory.hpp"
#include "../state/recovery.hpp"
#include "../state/streams/event.hpp"
#include "../state/streams/stream.hpp"
#include "../state/textures/image_object.hpp"
#include "abi.hpp"
#include "planned_faults.hpp"

using namespace emu;
using namespace emu::state;

namespace {

const char* kind_name(MemoryKind kind)
{
    switch (kind) {
    case MemoryKind::managed: return "managed memory";
    case MemoryKind::pinned: return "pinned memory";
    case MemoryKind::registered: return "registered memory";
    default: return "device memory";
    }
}

// Formats one line per object: "stream 0x10000 (cuStreamCreate, driver call 17)".
class Leaks {
public:
    template <class T> void add(const char* what, const T& rows)
    {
        for (const auto& row : rows)
            line(what, reinterpret_cast<uintptr_t>(row.first->handle()), 0, row.second);
    }

    void line(const char* what, uint64_t value, size_t size, const Origin& origin)
    {
        char text[128];
        std::snprintf(text, sizeof text, "%s %#" PRIx64, what, value);
        this->text += text;
        if (size)
            this->text += " of " + std::to_string(size) + " bytes";
        this->text += " (" + origin.text() + ")\n";
    }

    std::string text;
};

// Primary contexts and default pools live as long as the process, and are not leaks.
std::string list_leaks()
{
    Leaks leaks;
    for (const auto& row : Context::all())
        if (!row.first->is_primary())
            leaks.line("context", reinterpret_cast<uintptr_t>(row.first->handle()), 0, row.second);
    leaks.add("stream", Stream::all());
    leaks.add("event", Event::all());
    for (const auto& row : Module::all())
        if (!row.first->is_of_library())
            leaks.line("module", reinterpret_cast<uintptr_t>(row.first->handle()), 0, row.second);
    leaks.add("library", Library::all());
    leaks.add("array", Array::all());
    leaks.add("mipmapped array", MipmappedArray::all());
    leaks.add("graphics resource", GraphicsResource::all());
    leaks.add("external memory", ExternalMemory::all());
    leaks.add("external semaphore", ExternalSemaphore::all());
    for (const auto& row : ImageObject::all())
        leaks.line(row.first->is_surface() ? "surface object" : "texture object", row.first->number(), 0, row.second);
    leaks.add("graph", Graph::all());
    leaks.add("executable graph", GraphExec::all());
    for (const auto& row : Pool::all())
        if (!row.first->is_default())
            leaks.line("memory pool", reinterpret_cast<uintptr_t>(row.first->handle()), 0, row.second);
    for (const auto& a : AddressSpace::get().all())
        if (a->kind != MemoryKind::variable && a->kind != MemoryKind::heap && a->kind != MemoryKind::mapped &&
            !a->released)
            leaks.line(kind_name(a->kind), a->base, a->size, a->made_by);
    for (const auto& row : Physical::all())
        leaks.line("memory without address", row.first->handle(), row.first->size(), row.second);
    for (const auto& row : virtual_memory::reservations())
        leaks.line("reserved addresses", row.first.first, row.first.second, row.second);
    return leaks.text + (config().leaks ? exec::heap_leaks() : "");
}

// Copies as much as fits, with a terminating zero. Returns the size of the whole text.
size_t give_report(const std::string& text, char* buffer, size_t size)
{
    if (buffer && size)
        std::snprintf(buffer, size, "%s", text.c_str());
    return text.size() + 1;
}

struct AtExit {
    ~AtExit()
    {
        if (!emu::abi::is_initialized())
            return;
        std::string report = log::take_unread_report(true), fault = take_unreported_faults();
        if (!report.empty())
            say(report);
        if (!fault.empty())
            say("the program has exited, and none of its calls returned this fault; wait for the work to see it:\n" +
                fault.substr(0, fault.size() - 1));
        exec::finish_coverage();
        if (!config().leaks)
            return;
        std::string text = list_leaks();
        say(text.empty() ? "nothing was left over" : "left over at exit:");
        std::fputs(text.c_str(), stderr);
    }
};
AtExit at_exit;

long offset_of(const EmuDim3& variable)
{
    return reinterpret_cast<const char*>(&variable) - static_cast<const char*>(__builtin_thread_pointer());
}

} // namespace

extern "C" {

EMU_EXPORT size_t emulator_leaks(char* buffer, size_t size)
{
    return give_report(emu::abi::is_initialized() ? list_leaks() : "", buffer, size);
}

// Returns the error of the first variable with an invalid value, or an empty string.
EMU_EXPORT size_t emulator_error_of_variables(char* buffer, size_t size)
{
    return give_report(emu::abi::error_of_variables(), buffer, size);
}

// Returns lines with a name and a count, for calls that are not supported.
EMU_EXPORT size_t emulator_unsupported(char* buffer, size_t size)
{
    std::string text;
    for (int i = 0; i < emu::abi::entry_count; ++i)
        if (uint64_t count = emu::abi::unsupported_calls(i))
            text += std::string(emu::abi::entries[i].symbol) + " " + std::to_string(count) + "\n";
    return give_report(text + emu::abi::missing_runtime_calls(), buffer, size);
}

EMU_EXPORT size_t emulator_runtime_functions(char* buffer, size_t size)
{
    return give_report(emu::abi::list_runtime_functions(), buffer, size);
}

EMU_EXPORT void* emulator_missing_runtime_function(const char* name)
{
    return emu::abi::missing_runtime_function(name);
}

// With coverage, advice or a debugger, the compilation also keeps sources for this process, so each process compiles.
EMU_EXPORT size_t emulator_code_identity(char* buffer, size_t size)
{
    static const Checks& checks = config().checks;
    static const bool is_own = checks.coverage || checks.advice || checks.debug;
    static const std::string own =
        is_own ? " " + std::to_string(getpid()) + " " + std::to_string(Clock::now().time_since_epoch().count()) : "";
    return give_report(front::code_identity() + own, buffer, size);
}

EMU_EXPORT void emulator_set_python(const char* path)
{
    front::set_python(path ? path : "");
}

// Called before the interpreter exits, because callbacks would call it.
EMU_EXPORT void emulator_stop_callbacks(int milliseconds)
{
    emu::abi::begin_exit();
    stop_callbacks(std::chrono::milliseconds(milliseconds));
}

// Ends kernels that are still running after this time, and drops queued work.
EMU_EXPORT void emulator_end_work(int milliseconds)
{
    if (emu::abi::is_initialized())
        end_work(std::chrono::milliseconds(milliseconds));
}

// Waits for submitted work. Returns 1 if all of it has run.
EMU_EXPORT int emulator_wait(int milliseconds)
{
    return !emu::abi::is_initialized() || wait_for_work(std::chrono::milliseconds(milliseconds));
}

EMU_EXPORT size_t emulator_unreported_faults(char* buffer, size_t size)
{
    static thread_local std::string text; // kept until the caller has a buffer of its size
    if (text.empty() && emu::abi::is_initialized())
        text = take_unreported_faults();
    size_t bytes = give_report(text, buffer, size);
    if (bytes <= size)
        text.clear();
    return bytes;
}

EMU_EXPORT void emulator_finish_coverage()
{
    exec::finish_coverage();
}

// For gdb, which reads the built-in variables of a thread without a call: their offsets from the thread pointer.
EMU_EXPORT long emulator_builtins[4] = {offset_of(emu_thread_idx), offset_of(emu_block_idx), offset_of(emu_block_dim),
                                        offset_of(emu_grid_dim)};

// Returns 1 if a context has failed or a stream is capturing.
EMU_EXPORT int emulator_is_spoiled()
{
    return emu::abi::is_initialized() && is_spoiled();
}

// Switches to shuffle mode, in the order of a seed, or back to the mode set by the environment.
EMU_EXPORT void emulator_shuffle(int on, uint64_t seed)
{
    if (on)
        set_shuffle(seed);
    else
        end_shuffle();
}

EMU_EXPORT void emulator_set_locator(void (*locator)(char*, size_t))
{
    emu::abi::set_locator(locator);
}

// Makes failed contexts usable again. Kernels still running after this time are ended.
EMU_EXPORT void emulator_recover(int milliseconds)
{
    if (emu::abi::is_initialized())
        recover(std::chrono::milliseconds(milliseconds));
}

// Sets the function that decides whether a SIGINT ends work. If null, none does.
EMU_EXPORT void emulator_set_interrupt_policy(int (*policy)())
{
    set_interrupt_policy(policy);
}

// Waits until all pending SIGINTs are handled. Returns 1 if the latest one ended work.
EMU_EXPORT int emulator_settle_interrupts(int milliseconds)
{
    return settle_interrupts(std::chrono::milliseconds(milliseconds));
}

EMU_EXPORT int emulator_fail(const char* plan, char* error, size_t size)
{
    std::string text;
    int id = emu::abi::add_plan(plan ? plan : "", &text);
    give_report(text, error, size);
    return id;
}

EMU_EXPORT int emulator_fail_end(int id)
{
    return emu::abi::remove_plan(id);
}

EMU_EXPORT int emulator_fail_state(int id, uint64_t* matched, uint64_t* fired, char* last, size_t size)
{
    std::string text;
    if (!emu::abi::plan_state(id, matched, fired, &text))
        return 0;
    give_report(text, last, size);
    return 1;
}

} // extern "C"
