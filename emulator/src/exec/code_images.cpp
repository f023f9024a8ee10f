// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "code_images.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>

#include "../config.hpp"
#include "checks/accesses.hpp"
#include "checks/advice.hpp"
#include "fork.hpp"

namespace emu::exec {
namespace {

struct ImageTable {
    std::mutex mutex;
    std::map<uint64_t, std::shared_ptr<const ImageRecord>> images;
    uint64_t last = 0;
};

ImageTable& image_table()
{
    return only_object<ImageTable>();
}

std::atomic<Symbolizer> symbolizer{nullptr};
std::atomic<CoverageSink> coverage_sink{nullptr};

void report_counts(const ImageRecord& record)
{
    CoverageSink sink = coverage_sink;
    if (sink && record.counts)
        sink(record.image, record.counts.get());
    if (config().checks.advice)
        finish_advice(record.id, [&](uintptr_t pc) { return record.place(pc); });
}

const char* variable_kind(const EmuVariable& variable)
{
    switch (variable.kind) {
    case EMU_VARIABLE_CONSTANT: return "__constant__ ";
    case EMU_VARIABLE_MANAGED: return "__managed__ ";
    case EMU_VARIABLE_SHARED: return "__shared__ ";
    default: return "__device__ ";
    }
}

template <class T> uintptr_t start(const T& variable)
{
    return reinterpret_cast<uintptr_t>(variable.address);
}

// From the constructors of the module that this thread is loading.
thread_local std::vector<const EmuTable*> new_tables;

std::string name_of(const EmuTable& table)
{
    // The compiler's own names: "*.LC0", "<string literal>", ".str"
    return std::strspn(table.name, "*.<") ? "a constant of the program" : table.name;
}

uintptr_t room_of(const EmuVariable& variable)
{
    return std::max(variable.room, variable.size);
}

} // namespace

std::string describe_offset(uintptr_t address, size_t size, uintptr_t base, size_t bytes, const std::string& what)
{
    std::string object = "the " + std::to_string(bytes) + " bytes of " + what;
    if (address < base)
        return std::to_string(base - address) + " bytes before " + object;
    if (address == base + bytes)
        return "just past the end of " + object;
    if (address >= base + bytes)
        return std::to_string(address - base - bytes) + " bytes past the end of " + object;
    if (address + size > base + bytes)
        return std::to_string(address + size - base - bytes) + " bytes over the end of " + object;
    return "at offset " + std::to_string(address - base) + " in " + object;
}

std::string describe_red_zone(const char* side, size_t bytes, const std::string& what)
{
    return ", in the red zone " + std::string(side) + " the " + std::to_string(bytes) + " bytes of " + what;
}

bool ImageRecord::judge(uintptr_t address, size_t size, Judgement* out) const
{
    const EmuRange* section = nullptr;
    for (const EmuRange& range : image.data)
        if (address >= range.low && address < range.high)
            section = &range;
    auto after = std::upper_bound(globals.begin(), globals.end(), address,
                                  [](uintptr_t a, const EmuVariable* v) { return a < start(*v); });
    const EmuVariable* variable = after == globals.begin() ? nullptr : *(after - 1);
    if (variable && address >= start(*variable) + room_of(*variable))
        variable = nullptr;
    if (!section && !variable)
        return false;
    if (variable) {
        out->range = {start(*variable), start(*variable) + variable->size};
        out->allowed = address + size <= out->range.high;
        out->read_only = variable->kind == EMU_VARIABLE_CONSTANT;
        out->name = variable_kind(*variable) + std::string(variable->name);
        if (!out->allowed)
            out->text = describe_offset(address, size, start(*variable), variable->size, out->name);
        if (!out->allowed && after != globals.end() && start(**after) == start(*variable) + room_of(*variable))
            out->text +=
                describe_red_zone("before", (*after)->size, variable_kind(**after) + std::string((*after)->name));
        return true;
    }
    auto next = std::upper_bound(tables.begin(), tables.end(), address,
                                 [](uintptr_t a, const EmuTable* t) { return a < start(*t); });
    const EmuTable* table = next == tables.begin() ? nullptr : *(next - 1);
    if (table && address < start(*table) + table->room) {
        out->range = {start(*table), start(*table) + table->size};
        out->allowed = address + size <= out->range.high;
        if (out->allowed)
            return true;
        if (address >= out->range.high && next != tables.end() && start(**next) - address < address - out->range.high)
            table = *next; // closer
        out->text = describe_offset(address, size, start(*table), table->size, name_of(*table));
        return true;
    }
    // Between two variables there are compiler tables, which kernels may read.
    out->range = *section;
    if (table)
        out->range.low = std::max(out->range.low, start(*table) + table->room);
    if (next != tables.end())
        out->range.high = std::min<uintptr_t>(out->range.high, start(**next));
    if (after != globals.begin())
        out->range.low = std::max(out->range.low, start(**(after - 1)) + room_of(**(after - 1)));
    if (after != globals.end())
        out->range.high = std::min<uintptr_t>(out->range.high, start(**after));
    out->allowed = address + size <= out->range.high;
    if (!out->allowed)
        out->text = "before " + std::string(after == globals.end() ? "" : (*after)->name);
    return true;
}

CodePlace ImageRecord::place(uintptr_t pc) const
{
    Symbolizer function = symbolizer.load();
    if (!function || !has_code(pc))
        return {};
    return function(image, pc);
}

std::shared_ptr<const ImageRecord> find_image(uint64_t id)
{
    if (!id)
        return nullptr;
    ImageTable& t = image_table();
    std::lock_guard<std::mutex> lock(t.mutex);
    auto found = t.images.find(id);
    return found == t.images.end() ? nullptr : found->second;
}

static std::vector<std::shared_ptr<const ImageRecord>> all_images()
{
    std::vector<std::shared_ptr<const ImageRecord>> images;
    ImageTable& t = image_table();
    std::lock_guard<std::mutex> lock(t.mutex);
    for (const auto& entry : t.images)
        images.push_back(entry.second);
    return images;
}

bool is_constant(uintptr_t address)
{
    Locked locked;
    for (const auto& image : all_images()) {
        Judgement found;
        if (image->judge(address, 1, &found))
            return found.allowed && found.read_only;
    }
    return false;
}

std::string describe_image_address(uintptr_t address, size_t size)
{
    for (const auto& image : all_images()) {
        Judgement found;
        if (image->has_code(address))
            return "in the code of a module";
        if (image->judge(address, size, &found)) {
            if (found.allowed)
                return "in the data of a module that does not belong to this kernel";
            return found.text;
        }
    }
    return {};
}

uint64_t register_image(Image image)
{
    auto record = std::make_shared<ImageRecord>();
    if (config().checks.races)
        for (const EmuRange& range : image.data)
            forget_accesses(range.low, range.high - range.low);
    for (const EmuVariable* variable : image.variables) {
        if (!variable)
            continue;
        if (variable->kind == EMU_VARIABLE_SHARED)
            record->shared.push_back(variable);
        else if (variable->address)
            record->globals.push_back(variable);
    }
    std::sort(record->globals.begin(), record->globals.end(),
              [](const EmuVariable* a, const EmuVariable* b) { return start(*a) < start(*b); });
    record->tables = std::move(new_tables);
    new_tables.clear();
    std::sort(record->tables.begin(), record->tables.end(),
              [](const EmuTable* a, const EmuTable* b) { return start(*a) < start(*b); });
    record->image = std::move(image);
    if (config().checks.coverage)
        record->counts.reset(new std::atomic<uint64_t>[record->image.code_high - record->image.code_low]());
    ImageTable& t = image_table();
    std::lock_guard<std::mutex> lock(t.mutex);
    record->id = ++t.last;
    t.images[record->id] = record;
    return record->id;
}

void unregister_image(uint64_t image)
{
    ImageTable& t = image_table();
    std::shared_ptr<const ImageRecord> keep; // destroyed after the lock is released
    std::lock_guard<std::mutex> lock(t.mutex);
    auto found = t.images.find(image);
    if (found != t.images.end()) {
        keep = found->second;
        t.images.erase(found);
        report_counts(*keep);
    }
}

void set_coverage_sink(CoverageSink sink)
{
    coverage_sink = sink;
}

void finish_coverage()
{
    ImageTable& t = image_table();
    std::lock_guard<std::mutex> lock(t.mutex);
    for (const auto& row : t.images)
        report_counts(*row.second);
}

void set_symbolizer(Symbolizer function)
{
    symbolizer = function;
}

} // namespace emu::exec

extern "C" void emu_name_tables(const EmuTable* tables, emu_size count)
{
    for (emu_size i = 0; i < count; ++i)
        emu::exec::new_tables.push_back(tables + i);
}
