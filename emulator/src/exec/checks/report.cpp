// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <set>

#include "regions.hpp"

namespace emu::exec {
namespace {

struct Row {
    FaultKind kind;
    CUresult code;
    const char* title;
    const char* anchor; // in docs/guide/errors.md
};

constexpr Row rows[] = {
    {FaultKind::none, CUDA_SUCCESS, "no fault", nullptr},
    {FaultKind::illegal_address, CUDA_ERROR_ILLEGAL_ADDRESS, "illegal address", "illegal-address"},
    {FaultKind::misaligned_address, CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned address", "misaligned-address"},
    {FaultKind::bad_index, CUDA_ERROR_LAUNCH_FAILED, "index out of bounds", "index-out-of-bounds"},
    {FaultKind::assertion, CUDA_ERROR_ASSERT, "assertion failed", "assertion-failed"},
    {FaultKind::uninitialized, CUDA_ERROR_LAUNCH_FAILED, "uninitialized read", "uninitialized-read"},
    {FaultKind::race, CUDA_ERROR_LAUNCH_FAILED, "data race", "data-race"},
    {FaultKind::trap, CUDA_ERROR_LAUNCH_FAILED, "trap", "trap"},
    {FaultKind::deadlock, CUDA_ERROR_LAUNCH_FAILED, "deadlock", "deadlock"},
    {FaultKind::divergent_barrier, CUDA_ERROR_LAUNCH_FAILED, "divergent barrier", "divergent-barrier"},
    {FaultKind::warp, CUDA_ERROR_LAUNCH_FAILED, "contradictory warp operation", "contradictory-warp-operation"},
    {FaultKind::timeout, CUDA_ERROR_LAUNCH_TIMEOUT, "time limit exceeded", "time-limit-exceeded"},
    {FaultKind::stack_overflow, CUDA_ERROR_LAUNCH_FAILED, "stack overflow", "stack-overflow"},
    {FaultKind::illegal_instruction, CUDA_ERROR_ILLEGAL_INSTRUCTION, "illegal instruction", "illegal-instruction"},
    {FaultKind::arithmetic, CUDA_ERROR_LAUNCH_FAILED, "integer division by zero, or with a result that does not fit",
     "integer-division-by-zero"},
    {FaultKind::heap, CUDA_ERROR_LAUNCH_FAILED, "bad free() of the device heap", "bad-free"},
    {FaultKind::out_of_resources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "out of resources", "out-of-resources"},
    {FaultKind::canceled, CUDA_ERROR_CONTEXT_IS_DESTROYED, "ended before it completed", nullptr},
};

const Row& row(FaultKind kind)
{
    for (const Row& entry : rows)
        if (entry.kind == kind)
            return entry;
    return rows[0];
}

std::string show(const CodePlace& place)
{
    if (place.file.empty())
        return "an unknown place";
    return place.file + ":" + std::to_string(place.line) + (place.function.empty() ? "" : " in " + place.function);
}

std::string hex(uint64_t value)
{
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

CodePlace place_of(const Carrier& carrier, uintptr_t pc, bool exact)
{
    if (!carrier.launch || !carrier.image || !pc)
        return {};
    // A return address may belong to the next source line.
    return carrier.image->place(exact ? pc : pc - 1);
}

// The access checks are part of the kernel's code.
bool is_of_checks(const CodePlace& place)
{
    return place.file.empty() || place.function.compare(0, 7, "__asan_") == 0 || place.function.compare(0, 7, "__tsan_") == 0;
}

// The file and line come from the barrier if it has them; the function comes from the address.
CodePlace place_of(const Carrier& carrier, const Site& site)
{
    CodePlace place = place_of(carrier, site.pc, false);
    if (site.caller && is_of_checks(place))
        place = place_of(carrier, site.caller, false);
    if (site.file) {
        place.file = site.file;
        place.line = int(site.line);
        place.text.clear(); // belongs to the address's line
    }
    return place;
}

std::string wait_name(const Fiber& fiber)
{
    if (fiber.wait == Wait::warp)
        return collective_name(*fiber.notes().call);
    if (fiber.wait == Wait::yield && fiber.notes().mbarrier)
        return describe_mbarrier(fiber.notes().mbarrier);
    if (fiber.wait == Wait::yield)
        return fiber.notes().spins >= spins_to_wait ? "a loop that waits for memory to change" : "running";
    return barrier_name(fiber.barrier);
}

// Formats thread numbers, "0-15, 17, 19-31", shortened.
std::string list_threads(const std::vector<const Fiber*>& fibers)
{
    std::vector<uint32_t> threads;
    for (const Fiber* fiber : fibers)
        threads.push_back(fiber->linear);
    std::sort(threads.begin(), threads.end());
    std::string text;
    int runs = 0;
    for (size_t i = 0; i < threads.size(); ++runs) {
        size_t end = i + 1;
        while (end < threads.size() && threads[end] == threads[end - 1] + 1)
            ++end;
        if (runs == 8)
            return text + ", ...";
        text += (runs ? ", " : "") + std::to_string(threads[i]);
        if (end - i > 1)
            text += "-" + std::to_string(threads[end - 1]);
        i = end;
    }
    return text;
}

std::string describe_access(const Trouble& trouble)
{
    std::string text = trouble.store ? "store" : "access";
    if (trouble.size)
        text = std::string(trouble.store ? "store" : "load") + " of " + std::to_string(trouble.size) +
               (trouble.size == 1 ? " byte" : " bytes");
    if (trouble.kind == FaultKind::misaligned_address && !trouble.address)
        return text + " at an unknown address";
    text += " at " + hex(trouble.address);
    if (trouble.kind == FaultKind::misaligned_address)
        return text;
    return text + ": " + (trouble.text.empty() ? describe_address(trouble.address, trouble.size) : trouble.text);
}

std::string describe_trouble(const Carrier& carrier, const Trouble& trouble)
{
    switch (trouble.kind) {
    case FaultKind::illegal_address:
    case FaultKind::misaligned_address:
    case FaultKind::race:
    case FaultKind::uninitialized: return describe_access(trouble);
    case FaultKind::deadlock: {
        std::string text = trouble.text;
        if (carrier.current) {
            text += text.empty() ? "no thread of the block can continue:\n" : "\n";
            text += list_places(waiting_places(carrier, any_wait));
            if (uint32_t ended = trouble.ended)
                text += "\n  " + std::to_string(ended) + " threads have ended";
        }
        return text;
    }
    case FaultKind::stack_overflow:
        return "a thread has " + std::to_string((carrier.current->stack_high - carrier.current->stack_low) >> 10) +
               " KiB; CU_LIMIT_STACK_SIZE may raise it";
    default: return trouble.text;
    }
}

const Fiber* first_waiting(const Carrier& carrier)
{
    const Fiber* found = carrier.current;
    for (const Fiber* fiber : carrier.stacks.fibers())
        if (fiber->wait != Wait::none && (found->wait == Wait::none || fiber->linear < found->linear))
            found = fiber;
    return found;
}

std::string compose(const Fault& fault, const std::string& title, const Launch& launch, bool has_thread,
                    const CodePlace& place)
{
    std::string text = "kernel " + fault.kernel + ": " + title;
    if (!place.file.empty())
        text += "\n  at " + show(place);
    if (!place.text.empty())
        text += "\n    " + place.text.substr(0, 200);
    if (has_thread)
        text += "\n  block " + triple_text(fault.block) + " of " + triple_text(launch.request.grid) + ", thread " +
                triple_text(fault.thread) + " of " + triple_text(launch.request.block);
    return text;
}

std::string titled(FaultKind kind, const std::string& details)
{
    return row(kind).title + (details.empty() ? "" : ": " + details);
}

} // namespace

CUresult result_of(FaultKind kind)
{
    return row(kind).code;
}

const char* title_of(FaultKind kind)
{
    return row(kind).title;
}

std::string see(FaultKind kind)
{
    return row(kind).anchor ? std::string("\n  see errors#") + row(kind).anchor : "";
}

const char* finding_name(FaultKind kind)
{
    return row(kind).anchor ? row(kind).anchor : "";
}

std::string triple_text(const Dim3& triple)
{
    return "(" + std::to_string(triple.x) + ", " + std::to_string(triple.y) + ", " + std::to_string(triple.z) + ")";
}

std::string describe_place(const ImageRecord* image, uintptr_t pc)
{
    CodePlace place = image ? image->place(pc - 1) : CodePlace();
    return show(place) + (place.text.empty() ? "" : "\n    " + place.text.substr(0, 200));
}

std::string describe_site(const ImageRecord* image, const Site& site)
{
    CodePlace place = image ? image->place(site.pc - 1) : CodePlace();
    if (site.file) {
        place.file = site.file;
        place.line = int(site.line);
    }
    return show(place);
}

std::string collective_name(const EmuWarpCall& call)
{
    static const struct {
        emu_u32 op;
        const char* name;
    } names[] = {
        {EMU_WARP_SYNC, "__syncwarp"},
        {EMU_WARP_SHUFFLE_INDEX, "__shfl_sync"},
        {EMU_WARP_SHUFFLE_UP, "__shfl_up_sync"},
        {EMU_WARP_SHUFFLE_DOWN, "__shfl_down_sync"},
        {EMU_WARP_SHUFFLE_XOR, "__shfl_xor_sync"},
        {EMU_WARP_ALL, "__all_sync"},
        {EMU_WARP_ANY, "__any_sync"},
        {EMU_WARP_UNIFORM, "__uni_sync"},
        {EMU_WARP_BALLOT, "__ballot_sync"},
        {EMU_WARP_MATCH_ANY, "__match_any_sync"},
        {EMU_WARP_MATCH_ALL, "__match_all_sync"},
        {EMU_WARP_ADD_U32, "__reduce_add_sync"},
        {EMU_WARP_MIN_U32, "__reduce_min_sync"},
        {EMU_WARP_MAX_U32, "__reduce_max_sync"},
        {EMU_WARP_MIN_I32, "__reduce_min_sync"},
        {EMU_WARP_MAX_I32, "__reduce_max_sync"},
        {EMU_WARP_AND, "__reduce_and_sync"},
        {EMU_WARP_OR, "__reduce_or_sync"},
        {EMU_WARP_XOR, "__reduce_xor_sync"},
    };
    for (const auto& entry : names)
        if (entry.op == call.op)
            return entry.name + ("(mask " + hex(call.mask)) + ")";
    return "warp operation " + std::to_string(call.op);
}

std::string barrier_name(uint32_t id)
{
    switch (id) {
    case 0: return "__syncthreads()";
    case grid_barrier: return "a grid barrier";
    case cluster_barrier: return "a cluster barrier";
    case split_barrier: return "barrier_wait() of the block";
    default: return id >= tile_barriers ? "sync() of a tile" : "barrier " + std::to_string(id);
    }
}

void add_place(const Carrier& carrier, std::vector<Waiting>* places, const Fiber& fiber, const std::string& what)
{
    for (Waiting& known : *places)
        if (known.site.pc == fiber.pc && known.site == fiber.site() && known.what == what) {
            known.fibers.push_back(&fiber);
            return;
        }
    places->push_back({what, place_of(carrier, fiber.site()), fiber.site(), {&fiber}});
}

// Removes threads of other warps, and places without threads.
void keep_warp(std::vector<Waiting>* places, uint32_t warp)
{
    for (Waiting& entry : *places)
        entry.fibers.erase(std::remove_if(entry.fibers.begin(), entry.fibers.end(),
                                          [&](const Fiber* fiber) { return fiber->linear / 32 != warp; }),
                           entry.fibers.end());
    places->erase(
        std::remove_if(places->begin(), places->end(), [](const Waiting& entry) { return entry.fibers.empty(); }),
        places->end());
}

std::vector<Waiting> waiting_places(const Carrier& carrier, uint32_t barrier)
{
    std::vector<Waiting> places;
    for (const Fiber* fiber : carrier.stacks.fibers()) {
        bool counts =
            barrier == any_wait ? fiber->wait != Wait::none : fiber->wait == Wait::barrier && fiber->barrier == barrier;
        if (counts)
            add_place(carrier, &places, *fiber, wait_name(*fiber));
    }
    return places;
}

std::string list_places(const std::vector<Waiting>& places)
{
    std::vector<Waiting> merged; // one source line may be several places in the code
    for (const Waiting& entry : places) {
        auto same = std::find_if(merged.begin(), merged.end(), [&](const Waiting& other) {
            return other.what == entry.what && show(other.place) == show(entry.place);
        });
        if (same == merged.end())
            merged.push_back(entry);
        else
            same->fibers.insert(same->fibers.end(), entry.fibers.begin(), entry.fibers.end());
    }
    // Sorted by count, because the order of fibers depends on earlier launches.
    std::sort(merged.begin(), merged.end(), [](const Waiting& a, const Waiting& b) {
        return std::pair(b.fibers.size(), show(a.place)) < std::pair(a.fibers.size(), show(b.place));
    });
    constexpr size_t most = 5; // a report has at most 12 lines
    std::string text;
    for (size_t i = 0; i < merged.size() && i < most; ++i) {
        const Waiting& entry = merged[i];
        text += std::string(i ? "\n" : "") + "  " + std::to_string(entry.fibers.size()) +
                (entry.fibers.size() == 1 ? " thread waits at " : " threads wait at ") + entry.what + ", " +
                show(entry.place) + ": " + list_threads(entry.fibers);
    }
    if (merged.size() > most)
        text += "\n  and others at " + std::to_string(merged.size() - most) + " more places";
    return text;
}

void warn_once(const Carrier& carrier, const Fiber& fiber, const std::string& details)
{
    static std::mutex mutex;
    static auto* warned = new std::set<std::pair<uint64_t, std::string>>; // not destroyed: kernels run at exit
    const LaunchRequest& request = carrier.launch->request;
    {
        std::lock_guard lock(mutex);
        if (!warned->emplace(request.image, request.name).second)
            return;
    }
    Fault fault;
    fault.kernel = request.name;
    fault.block = {emu_block_idx.x, emu_block_idx.y, emu_block_idx.z};
    fault.thread = {fiber.x, fiber.y, fiber.z};
    say(compose(fault, details, *carrier.launch, true, place_of(carrier, fiber.site())));
}

Fault make_fault(const Carrier& carrier, const Trouble& trouble)
{
    const Launch& launch = *carrier.launch;
    Fault fault;
    fault.kind = trouble.kind;
    fault.code = result_of(trouble.kind);
    fault.kernel = launch.request.name;
    fault.block = {emu_block_idx.x, emu_block_idx.y, emu_block_idx.z};
    fault.address = trouble.address;
    fault.size = trouble.size;
    fault.store = trouble.store;
    const Fiber* fiber = trouble.fiber ? trouble.fiber : carrier.current;
    uintptr_t pc = trouble.pc;
    // A deadlock or time limit without a place is reported at the first waiting thread.
    if ((trouble.kind == FaultKind::deadlock || trouble.kind == FaultKind::timeout) && fiber && !pc) {
        fiber = first_waiting(carrier);
        pc = fiber->pc;
    }
    fault.thread = {0, 0, 0};
    if (fiber)
        fault.thread = {fiber->x, fiber->y, fiber->z};
    CodePlace place = place_of(carrier, pc, trouble.exact);
    for (uintptr_t caller : trouble.callers)
        if (caller && is_of_checks(place))
            place = place_of(carrier, caller, false);
    if (!trouble.file.empty())
        place = {trouble.file, place.function, trouble.line, ""};
    else if (fiber && (fiber->file || fiber->site().caller) && pc == fiber->pc)
        place = place_of(carrier, fiber->site());
    fault.file = place.file;
    fault.line = place.line;
    std::string title = titled(fault.kind, describe_trouble(carrier, trouble));
    fault.text = compose(fault, title, launch, fiber != nullptr, place) + see(fault.kind);
    return fault;
}

Fault make_fault(const Launch& launch, FaultKind reason, const std::string& details)
{
    Fault fault;
    fault.kind = reason;
    fault.code = result_of(reason);
    fault.kernel = launch.request.name;
    fault.block = fault.thread = {0, 0, 0};
    bool explained = reason == FaultKind::out_of_resources || reason == FaultKind::trap;
    fault.text = compose(fault, titled(reason, explained ? details : ""), launch, false, {}) + see(reason);
    return fault;
}

} // namespace emu::exec
