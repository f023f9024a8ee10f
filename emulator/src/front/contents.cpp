// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "contents.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <set>

#include "device_include/emulator_abi.h"
#include "text.hpp"

namespace emu::front {
namespace {

ElfFile::Place member(ElfFile::Place place, size_t offset)
{
    place.value += offset;
    return place;
}

// Returns the name prefix of a function's local variables: "_ZZ6saxpyfE".
std::string local_prefix(const std::string& function)
{
    if (function.compare(0, 2, "_Z") == 0)
        return "_ZZ" + function.substr(2) + "E";
    return "_ZZ" + std::to_string(function.size()) + function + "E";
}

class ContentsReader {
public:
    explicit ContentsReader(const Bytes& file) : elf_(file) {}
    Contents read();

private:
    void kernel(const ElfSymbol& record);
    void variable(const ElfSymbol& record);
    void bounds(const ElfSymbol& table);
    void shared_sizes();
    bool uses(const KernelInfo& kernel, const std::string& variable) const;

    template <class T> bool load(ElfFile::Place place, T* out)
    {
        const std::byte* at = elf_.data(place, sizeof *out);
        if (at)
            std::memcpy(out, at, sizeof *out);
        return at != nullptr;
    }

    struct Shared {
        std::string symbol;
        uint64_t size;
    };
    ElfFile elf_;
    Contents out_;
    std::set<uint64_t> seen_;
    std::vector<Shared> shared_;
    std::vector<std::pair<std::string, std::string>> calls_; // by symbol: the names of functions that it calls
    uint32_t constant_bytes_ = 0;
};

void ContentsReader::kernel(const ElfSymbol& symbol)
{
    EmuKernel record;
    ElfFile::Place place = elf_.place_of(symbol);
    if (!load(place, &record) || record.abi_version != EMU_ABI_VERSION)
        return;
    ElfFile::Place address = elf_.pointer(member(place, offsetof(EmuKernel, address)));
    ElfFile::Place entry = elf_.pointer(member(place, offsetof(EmuKernel, entry)));
    const ElfSymbol* function = elf_.symbol_at(address);
    if (!entry || !function || !seen_.insert(address.value).second)
        return; // a name expression for a variable, or a second record of a kernel
    KernelInfo info;
    info.name = function->name;
    info.shown = demangled(function->name);
    ElfFile::Place rows = elf_.pointer(member(place, offsetof(EmuKernel, parameters)));
    for (uint32_t i = 0; i < record.parameter_count; ++i) {
        EmuParameter row;
        if (!load(member(rows, i * sizeof row), &row))
            return;
        info.parameters.push_back(row);
    }
    info.parameter_bytes = record.parameter_bytes;
    info.file = elf_.text(elf_.pointer(member(place, offsetof(EmuKernel, file))));
    info.line = int(record.line);
    // The host's machine code has no GPU register count. This estimate grows with the code size, and allows blocks of
    // 1024 threads.
    info.registers = uint32_t(std::min<uint64_t>(16 + function->size / 256 * 2, 64));
    out_.entries.push_back(entry.value);
    out_.kernels.push_back(std::move(info));
}

void ContentsReader::variable(const ElfSymbol& symbol)
{
    EmuVariable record;
    ElfFile::Place place = elf_.place_of(symbol);
    if (!load(place, &record) || record.abi_version != EMU_ABI_VERSION)
        return;
    out_.variable_records.push_back(place.value);
    if (record.kind == EMU_VARIABLE_SHARED) {
        shared_.push_back({symbol.name, record.size});
        return;
    }
    ElfFile::Place address = elf_.pointer(member(place, offsetof(EmuVariable, address)));
    const ElfSymbol* object = elf_.symbol_at(address);
    if (!object)
        return;
    constant_bytes_ += record.kind == EMU_VARIABLE_CONSTANT ? uint32_t(record.size) : 0;
    GlobalInfo info;
    info.name = object->name;
    info.size = record.size;
    info.kind = EmuVariableKind(record.kind);
    out_.addresses.push_back(address.value);
    out_.globals.push_back(std::move(info));
}

void ContentsReader::bounds(const ElfSymbol& symbol)
{
    uint32_t table[2][4];
    if (!load(elf_.place_of(symbol), &table))
        return;
    for (KernelInfo& kernel : out_.kernels) {
        std::string prefix = local_prefix(kernel.name);
        if (symbol.name.compare(0, prefix.size(), prefix) != 0)
            continue;
        kernel.max_threads = table[0][0];
        kernel.min_blocks = table[0][1];
        kernel.max_cluster = table[0][2];
        if (table[1][0])
            kernel.cluster = {table[1][0], std::max(table[1][1], 1u), std::max(table[1][2], 1u)};
    }
}

// Guesses the alignment from the size, because the record does not contain it.
uint64_t alignment_of(uint64_t size)
{
    uint64_t lowest = size & (~size + 1);
    return std::min<uint64_t>(std::max<uint64_t>(lowest, 1), 16);
}

// Returns true if a kernel uses a shared variable, its own or one of a function reachable by the list that the front
// end left in the kernel's body. Without such a list it reaches no functions.
bool ContentsReader::uses(const KernelInfo& kernel, const std::string& variable) const
{
    std::string prefix = local_prefix(kernel.name);
    if (variable.compare(0, prefix.size(), prefix) == 0)
        return true;
    for (const KernelInfo& other : out_.kernels) {
        std::string others = local_prefix(other.name);
        if (variable.compare(0, others.size(), others) == 0)
            return false;
    }
    if (variable.compare(0, 3, "_ZZ") != 0)
        return true; // at namespace scope, which every kernel can reach
    for (const auto& row : calls_) {
        if (row.first.compare(0, prefix.size(), prefix) != 0)
            continue;
        for (size_t at = 0; at < row.second.size();) {
            size_t end = std::min(row.second.find(' ', at), row.second.size());
            if (end > at && contains(variable, row.second.substr(at, end - at).c_str()))
                return true;
            at = end + 1;
        }
    }
    return false;
}

void ContentsReader::shared_sizes()
{
    std::stable_sort(shared_.begin(), shared_.end(),
                     [](const Shared& a, const Shared& b) { return alignment_of(a.size) > alignment_of(b.size); });
    for (KernelInfo& kernel : out_.kernels) {
        uint64_t sum = 0;
        for (const Shared& variable : shared_) {
            uint64_t step = alignment_of(variable.size);
            if (uses(kernel, variable.symbol))
                sum = (sum + step - 1) / step * step + variable.size;
        }
        kernel.static_shared = uint32_t(sum);
        kernel.constant_bytes = constant_bytes_;
    }
}

Contents ContentsReader::read()
{
    const ElfSymbol* module = elf_.good() ? elf_.find("emu_module") : nullptr;
    EmuModule head{};
    if (!module || !load(elf_.place_of(*module), &head)) {
        out_.error = {CUDA_ERROR_INVALID_IMAGE, "the module is corrupt"};
        return std::move(out_);
    }
    if (head.abi_version != EMU_ABI_VERSION || head.size != sizeof(EmuModule)) {
        out_.error = {CUDA_ERROR_NO_BINARY_FOR_GPU,
                      "the module was compiled for another version of the software device"};
        return std::move(out_);
    }
    out_.module = module->value;
    out_.architecture = head.architecture;
    out_.segments = elf_.segments();
    for (const ElfSymbol& symbol : elf_.symbols())
        if (symbol.section && contains(symbol.name, "emu_kernel_record"))
            kernel(symbol);
    for (const ElfSymbol& symbol : elf_.symbols()) {
        if (symbol.section && contains(symbol.name, "emu_variable_record"))
            variable(symbol);
        else if (symbol.section && contains(symbol.name, "emu_launch_bounds"))
            bounds(symbol);
        else if (symbol.section && contains(symbol.name, "emu_shared_calls"))
            calls_.push_back({symbol.name, elf_.text(elf_.place_of(symbol))});
    }
    shared_sizes();
    for (KernelInfo& kernel : out_.kernels)
        if (kernel.name.compare(0, ptx_entry_prefix.size(), ptx_entry_prefix) == 0)
            kernel.name.erase(0, ptx_entry_prefix.size());
    return std::move(out_);
}

} // namespace

std::string demangled(const std::string& name)
{
    if (name.compare(0, ptx_entry_prefix.size(), ptx_entry_prefix) == 0)
        return name.substr(ptx_entry_prefix.size());
    // Only mangled names are demangled, because the name `f` would be read as the type float.
    if (name.compare(0, 2, "_Z") != 0)
        return name;
    int status = 0;
    char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
    std::string out = status == 0 && text ? text : name;
    std::free(text);
    return out;
}

size_t parameter_limit()
{
    return config().driver_version >= 12010 ? 32764 : 4096;
}

Error check_parameters(const Contents& contents)
{
    std::string out;
    for (const KernelInfo& kernel : contents.kernels)
        if (kernel.parameter_bytes > parameter_limit()) {
            char text[96];
            std::snprintf(text, sizeof text, "' uses too much parameter space (0x%x bytes, 0x%zx max).\n",
                          kernel.parameter_bytes, parameter_limit());
            out += "ptxas error   : Entry function '" + kernel.name + text;
        }
    if (out.empty())
        return {};
    return {CUDA_ERROR_INVALID_PTX, out + "ptxas fatal   : Ptx assembly aborted due to errors\n"};
}

bool read_checks(const ElfFile& file, uint32_t* checks)
{
    EmuModule head{};
    const ElfSymbol* module = file.find("emu_module");
    const std::byte* at = module ? file.data(file.place_of(*module), sizeof head) : nullptr;
    if (at)
        std::memcpy(&head, at, sizeof head);
    *checks = head.checks;
    return at && head.abi_version == EMU_ABI_VERSION;
}

Contents read_contents(const Bytes& file)
{
    return ContentsReader(file).read();
}

} // namespace emu::front
