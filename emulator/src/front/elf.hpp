// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Reads the files written by compiler and linker, without loading them.
#pragma once

#include <elf.h>
#include <map>
#include <string>
#include <vector>

#include "../common.hpp"

namespace emu::front {

// Our mark, in a header field that these processors do not use, and a checksum in the header's padding, because a
// corrupt file would crash the dynamic linker. Both are checked before linking and loading.
constexpr uint32_t elf_mark = 0x454d5501;
void stamp_elf(Bytes* file);
void unstamp_elf(Bytes* file);
bool is_whole_elf(const Bytes& file);
// Returns an ELF file's size according to its headers, or 0 if they are inconsistent.
size_t elf_size(const void* image, size_t known_size);
bool is_our_elf(const void* image, size_t known_size, uint16_t* type);

struct ElfSymbol {
    std::string name;
    uint64_t value = 0, size = 0; // in object files the value is an offset in the section
    uint8_t type = 0, bind = 0;
    uint16_t section = 0;
};

class ElfFile {
public:
    explicit ElfFile(const Bytes& bytes);
    bool good() const { return good_; }
    bool is_object() const { return header_.e_type == ET_REL; }
    const std::vector<ElfSymbol>& symbols() const { return symbols_; }
    const ElfSymbol* find(const std::string& name) const;

    // A place in the file: an address in a module, a section with an offset in an object.
    struct Place {
        uint16_t section = 0;
        uint64_t value = 0;
        explicit operator bool() const { return section != 0; }
    };
    Place place_of(const ElfSymbol& symbol) const { return {symbol.section, symbol.value}; }
    // Returns the bytes at a place, or null if they exist only in memory (.bss).
    const std::byte* data(Place place, size_t size) const;
    // Returns the target of the pointer stored at `place`, by its relocation.
    Place pointer(Place place) const;
    // Returns the name of the symbol, defined elsewhere, that the pointer stored at `place` refers to, or null.
    const std::string* undefined(Place place) const;
    std::string text(Place place) const;
    // Finds the symbol at a place. Symbols of kernels and variables take precedence over our records.
    const ElfSymbol* symbol_at(Place place) const;

    struct Segment {
        uint64_t low, high;
        bool writable, executable;
    };
    const std::vector<Segment>& segments() const { return segments_; }
    Place section_named(const char* name, uint64_t* size) const;

private:
    bool read_sections();
    void read_symbols(const Elf64_Shdr& table);
    void read_relocations(const Elf64_Shdr& table);
    uint16_t section_of(uint64_t address) const;
    const char* section_text(const Elf64_Shdr& strings, uint64_t offset) const;

    const Bytes& bytes_;
    bool good_ = false;
    Elf64_Ehdr header_{};
    std::vector<Elf64_Shdr> sections_;
    std::vector<ElfSymbol> symbols_;
    std::vector<Segment> segments_;
    std::map<std::pair<uint16_t, uint64_t>, Place> pointers_;
    std::map<std::pair<uint16_t, uint64_t>, std::string> undefined_;
    std::map<std::pair<uint16_t, uint64_t>, size_t> starts_;
};

} // namespace emu::front
