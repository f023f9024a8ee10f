// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Line tables: DWARF 4, as requested by the front end. Read when a report needs them.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <unistd.h>

#include "../config.hpp"
#include "compiler.hpp"
#include "contents.hpp"
#include "process.hpp"
#include "text.hpp"

namespace emu::front {
namespace {

struct LineRow {
    uint64_t address;
    uint32_t file; // index into LineTable::files
    int line;
    bool end;
};

struct Function {
    uint64_t low, high;
    std::string name;
};

struct Place {
    std::string file;
    int line = 0; // 0: unknown
};

struct LineTable {
    std::vector<LineRow> rows;
    std::vector<std::string> files;
    std::vector<Function> functions;
    std::map<std::string, std::map<int, std::string>> sources; // program lines, by name and number
};

class LineReader {
public:
    LineReader(const std::byte* data, size_t size, LineTable* out)
        : at_(reinterpret_cast<const uint8_t*>(data)), end_(at_ + size), out_(out)
    {
    }
    void run()
    {
        while (good_ && at_ + 4 < end_)
            unit();
        std::stable_sort(out_->rows.begin(), out_->rows.end(), [](const LineRow& a, const LineRow& b) {
            return a.address < b.address || (a.address == b.address && a.end && !b.end);
        });
    }

private:
    template <class T> T fixed()
    {
        T value{};
        if (size_t(end_ - at_) < sizeof value) {
            good_ = false;
            at_ = end_;
            return value;
        }
        std::memcpy(&value, at_, sizeof value);
        at_ += sizeof value;
        return value;
    }
    uint64_t unsigned_leb()
    {
        uint64_t value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            auto byte = fixed<uint8_t>();
            value |= uint64_t(byte & 0x7f) << shift;
            if (!(byte & 0x80))
                break;
        }
        return value;
    }
    int64_t signed_leb()
    {
        int64_t value = 0;
        int shift = 0;
        uint8_t byte = 0x80;
        while ((byte & 0x80) && shift < 63) {
            byte = fixed<uint8_t>();
            value |= int64_t(byte & 0x7f) << shift;
            shift += 7;
        }
        return byte & 0x40 && shift < 64 ? value | -(int64_t(1) << shift) : value;
    }
    std::string text()
    {
        std::string out;
        while (char c = char(fixed<uint8_t>()))
            out += c;
        return out;
    }

    void unit();
    void header();
    void program(const uint8_t* stop);
    void extended();
    void emit(bool end)
    {
        uint32_t file = file_ && file_ <= unit_files_.size() ? unit_files_[file_ - 1] : 0;
        out_->rows.push_back({address_, file, line_, end});
    }
    void reset()
    {
        address_ = 0;
        file_ = 1;
        line_ = 1;
    }

    const uint8_t* at_;
    const uint8_t* end_;
    LineTable* out_;
    bool good_ = true;
    uint8_t unit_minimum_ = 1, opcode_base_ = 13, line_range_ = 14;
    int8_t line_base_ = -5;
    std::vector<uint8_t> lengths_;
    std::vector<uint32_t> unit_files_;
    uint64_t address_ = 0;
    uint32_t file_ = 1;
    int line_ = 1;
};

void LineReader::header()
{
    unit_minimum_ = fixed<uint8_t>();
    fixed<uint8_t>(); // maximum operations per instruction
    fixed<uint8_t>(); // default is_stmt
    line_base_ = fixed<int8_t>();
    line_range_ = fixed<uint8_t>();
    opcode_base_ = fixed<uint8_t>();
    lengths_.clear();
    for (int i = 1; i < opcode_base_; ++i)
        lengths_.push_back(fixed<uint8_t>());
    std::vector<std::string> folders{""};
    for (std::string folder = text(); !folder.empty() && good_; folder = text())
        folders.push_back(folder);
    unit_files_.clear();
    for (std::string name = text(); !name.empty() && good_; name = text()) {
        uint64_t folder = unsigned_leb();
        unsigned_leb();
        unsigned_leb();
        if (name[0] != '/' && folder && folder < folders.size())
            name = folders[folder] + "/" + name;
        unit_files_.push_back(uint32_t(out_->files.size()));
        out_->files.push_back(name);
    }
}

void LineReader::unit()
{
    auto length = fixed<uint32_t>();
    if (length >= 0xfffffff0u || size_t(end_ - at_) < length) {
        good_ = false;
        return;
    }
    const uint8_t* stop = at_ + length;
    auto version = fixed<uint16_t>();
    auto header_length = fixed<uint32_t>();
    const uint8_t* code = at_ + header_length;
    if (version >= 2 && version <= 4 && code <= stop) {
        if (version < 4) {
            at_ = stop; // a form that our compilers do not write
            return;
        }
        header();
        at_ = code;
        if (line_range_)
            program(stop);
    }
    at_ = stop;
}

void LineReader::extended()
{
    uint64_t length = unsigned_leb();
    if (length == 0 || size_t(end_ - at_) < length)
        return;
    const uint8_t* next = at_ + length;
    switch (fixed<uint8_t>()) {
    case 1: // DW_LNE_end_sequence
        emit(true);
        reset();
        break;
    case 2: address_ = fixed<uint64_t>(); break;
    default: break;
    }
    at_ = next;
}

void LineReader::program(const uint8_t* stop)
{
    reset();
    while (good_ && at_ < stop) {
        auto code = fixed<uint8_t>();
        if (code >= opcode_base_) {
            int adjusted = code - opcode_base_;
            address_ += uint64_t(adjusted / line_range_) * unit_minimum_;
            line_ += line_base_ + adjusted % line_range_;
            emit(false);
            continue;
        }
        switch (code) {
        case 0: extended(); break;
        case 1: emit(false); break;
        case 2: address_ += unsigned_leb() * unit_minimum_; break;
        case 3: line_ += int(signed_leb()); break;
        case 4: file_ = uint32_t(unsigned_leb()); break;
        case 8: address_ += uint64_t((255 - opcode_base_) / line_range_) * unit_minimum_; break;
        case 9: address_ += fixed<uint16_t>(); break;
        default:
            for (int i = 0; code <= lengths_.size() && i < lengths_[code - 1]; ++i)
                unsigned_leb();
        }
    }
}

// Reads the source of one program. A #line directive changes the name and the number of the next line.
void read_source(std::string name, const std::string& source, LineTable* table)
{
    int number = 1;
    bool is_ptx = name == "ptx"; // its #line directives name lines of another program
    for (size_t at = 0; at < source.size(); ++number) {
        size_t end = std::min(source.find('\n', at), source.size());
        std::string line = source.substr(at, end - at);
        at = end + 1;
        if (line.compare(0, 6, "#line ") == 0) {
            number = std::atoi(line.c_str() + 6) - 1;
            size_t begin = line.find('"'), close = line.rfind('"');
            if (begin < close)
                name = line.substr(begin + 1, close - begin - 1);
            if (is_ptx)
                return;
            continue;
        }
        size_t first = line.find_first_not_of(" \t\r");
        if (first != std::string::npos)
            table->sources[name][number] = line.substr(first, line.find_last_not_of(" \t\r") + 1 - first);
    }
}

void read_sources(const char* data, size_t size, LineTable* table)
{
    for (const char *at = data, *end = data + size; at < end;) {
        std::string name(at, strnlen(at, size_t(end - at)));
        at += std::min(name.size() + 1, size_t(end - at));
        std::string source(at, strnlen(at, size_t(end - at)));
        at += std::min(source.size() + 1, size_t(end - at));
        read_source(name, source, table);
    }
}

std::shared_ptr<const LineTable> read_table(const std::string& path)
{
    auto table = std::make_shared<LineTable>();
    table->files.push_back("");
    Bytes bytes;
    if (!read_file(path, &bytes))
        return table;
    ElfFile elf(bytes);
    if (!elf.good())
        return table;
    uint64_t size = 0;
    ElfFile::Place lines = elf.section_named(".debug_line", &size);
    if (const std::byte* data = elf.data(lines, size_t(size)))
        LineReader(data, size_t(size), table.get()).run();
    ElfFile::Place sources = elf.section_named(".emu_source", &size);
    if (const std::byte* data = elf.data(sources, size_t(size)))
        read_sources(reinterpret_cast<const char*>(data), size_t(size), table.get());
    for (const ElfSymbol& symbol : elf.symbols())
        if (symbol.type == STT_FUNC && symbol.section && symbol.size)
            table->functions.push_back({symbol.value, symbol.value + symbol.size, symbol.name});
    std::sort(table->functions.begin(), table->functions.end(),
              [](const Function& a, const Function& b) { return a.low < b.low; });
    return table;
}

struct Tables {
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<const LineTable>> known;
    std::map<std::string, std::map<uint64_t, Place>> calls; // of inlined functions, by path and address
};

Tables& tables()
{
    static Tables* all = new Tables; // never destroyed, because reports may be written while the process exits
    return *all;
}

std::shared_ptr<const LineTable> table_of(const std::string& path)
{
    Tables& all = tables();
    {
        std::lock_guard<std::mutex> lock(all.mutex);
        auto found = all.known.find(path);
        if (found != all.known.end())
            return found->second;
    }
    auto table = read_table(path);
    std::lock_guard<std::mutex> lock(all.mutex);
    return all.known.emplace(path, table).first->second;
}

// Uses binutils, which accompany every g++, to find the program line that calls the inlined functions at an address.
Place find_call(const LineTable& table, std::string path, uint64_t address)
{
    if (path.compare(0, 11, "/proc/self/") == 0)
        path.replace(6, 4, std::to_string(getpid()));
    char number[24];
    std::snprintf(number, sizeof number, "%#llx", static_cast<unsigned long long>(address));
    std::istringstream lines(run_process({"addr2line", "-i", "-e", path, number}, "").out);
    for (std::string line; std::getline(lines, line);) {
        size_t colon = std::min(line.rfind(':'), line.size());
        for (const std::string& file : table.files) {
            if (file.empty() || is_ours(file) || colon < file.size())
                continue;
            if (line.compare(colon - file.size(), file.size(), file) == 0)
                return {file, std::atoi(line.c_str() + colon + 1)};
        }
    }
    return {};
}

Place call_of(const LineTable& table, const std::string& path, uint64_t address)
{
    Tables& all = tables();
    {
        std::lock_guard<std::mutex> lock(all.mutex);
        auto& known = all.calls[path];
        auto found = known.find(address);
        if (found != known.end())
            return found->second;
    }
    Place place = find_call(table, path, address);
    std::lock_guard<std::mutex> lock(all.mutex);
    return all.calls[path].emplace(address, place).first->second;
}

// Returns a line of a file without the blanks around it, or an empty string if there is none.
std::string line_of_file(const std::string& path, int number)
{
    std::ifstream file(path);
    std::string line;
    for (int i = 0; i < number; ++i)
        if (!std::getline(file, line))
            return "";
    return trimmed(line);
}

// A kernel inlined into its loop over threads is part of `emu::Named<void (*)(...), &(kernel)>::run(...)`.
std::string shown_function(const std::string& symbol)
{
    std::string text = demangled(symbol);
    size_t begin = text.find("), &"), end = text.find(">::run(", begin);
    if (text.compare(0, 11, "emu::Named<") != 0 || begin == std::string::npos || end == std::string::npos)
        return text;
    std::string name = text.substr(begin + 4, end - begin - 4);
    return demangled(name[0] == '(' ? name.substr(1, name.size() - 2) : name);
}

} // namespace

std::vector<CodeLine> lines_of(const exec::Image& image, uint64_t* callback)
{
    auto table = table_of(image.path);
    std::vector<CodeLine> lines;
    for (const LineRow& row : table->rows) {
        auto function = std::upper_bound(table->functions.begin(), table->functions.end(), row.address,
                                         [](uint64_t a, const Function& f) { return a < f.low; });
        const std::string& file = table->files[row.file];
        if (row.end || row.line <= 0 || function == table->functions.begin() || is_ours(file))
            continue;
        lines.push_back({row.address, (function - 1)->low, file, row.line});
    }
    *callback = 0;
    for (const Function& function : table->functions)
        if (function.name == "__sanitizer_cov_trace_pc")
            *callback = function.low;
    return lines;
}

void forget_lines(const std::string& path)
{
    Tables& all = tables();
    std::lock_guard<std::mutex> lock(all.mutex);
    all.known.erase(path);
    all.calls.erase(path);
}

exec::CodePlace symbolize(const exec::Image& image, uintptr_t pc)
{
    exec::CodePlace place;
    auto table = table_of(image.path);
    uint64_t address = pc - image.load_bias;
    auto after = std::upper_bound(table->rows.begin(), table->rows.end(), address,
                                  [](uint64_t a, const LineRow& row) { return a < row.address; });
    auto function = std::upper_bound(table->functions.begin(), table->functions.end(), address,
                                     [](uint64_t a, const Function& f) { return a < f.low; });
    uint64_t low = function == table->functions.begin() ? 0 : (function - 1)->low;
    // For code inlined from our headers, finds the program line that called it: the last one before it.
    for (auto row = after; row != table->rows.begin() && !(row - 1)->end && (row - 1)->address >= low; --row) {
        const std::string& file = table->files[(row - 1)->file];
        if ((row - 1)->line <= 0 || is_ours(file))
            continue;
        place.file = file;
        place.line = (row - 1)->line;
        place.inlined = row != after;
        break;
    }
    // Optimized code is not in the order of its lines. That for coverage and advice is, and they ask for many places.
    bool in_order = config().checks.coverage || config().checks.advice;
    Place call = (place.inlined || !place.line) && !in_order ? call_of(*table, image.path, address) : Place();
    if (call.line) {
        place.file = call.file;
        place.line = call.line;
    }
    auto source = table->sources.find(place.file);
    if (source != table->sources.end()) {
        auto line = source->second.find(place.line);
        if (line != source->second.end())
            place.text = line->second;
    } else if (place.line) {
        place.text = line_of_file(place.file, place.line);
    }
    if (function != table->functions.begin() && address < (function - 1)->high)
        place.function = shown_function((function - 1)->name);
    return place;
}

} // namespace emu::front
