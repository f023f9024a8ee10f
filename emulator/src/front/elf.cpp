// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "elf.hpp"

#include <algorithm>
#include <cstring>

namespace emu::front {
namespace {

#if defined(__x86_64__)
constexpr uint32_t absolute_relocation = R_X86_64_64, relative_relocation = R_X86_64_RELATIVE;
#else
constexpr uint32_t absolute_relocation = R_AARCH64_ABS64, relative_relocation = R_AARCH64_RELATIVE;
#endif

uint64_t sum_of(const std::byte* data, size_t size)
{
    uint64_t sum = size, word = 0;
    for (; size; data += std::min<size_t>(size, 8), size -= std::min<size_t>(size, 8)) {
        word = 0;
        std::memcpy(&word, data, std::min<size_t>(size, 8));
        sum = (sum ^ word) * 0x9fb21c651e98df25u;
        sum ^= sum >> 32;
    }
    return sum;
}

bool read_header(const void* image, size_t known_size, Elf64_Ehdr* header)
{
    if (known_size && known_size < sizeof *header)
        return false;
    if (std::memcmp(image, ELFMAG, SELFMAG) != 0)
        return false;
    std::memcpy(header, image, sizeof *header);
    return header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB;
}

} // namespace

void stamp_elf(Bytes* file)
{
    if (file->size() < sizeof(Elf64_Ehdr))
        return;
    unstamp_elf(file);
    uint32_t mark = elf_mark;
    uint64_t sum = sum_of(file->data(), file->size());
    std::memcpy(file->data() + offsetof(Elf64_Ehdr, e_flags), &mark, sizeof mark);
    std::memcpy(file->data() + EI_PAD, &sum, EI_NIDENT - EI_PAD);
}

void unstamp_elf(Bytes* file)
{
    if (file->size() < sizeof(Elf64_Ehdr))
        return;
    std::memset(file->data() + offsetof(Elf64_Ehdr, e_flags), 0, sizeof(uint32_t));
    std::memset(file->data() + EI_PAD, 0, EI_NIDENT - EI_PAD);
}

bool is_whole_elf(const Bytes& file)
{
    if (file.size() < sizeof(Elf64_Ehdr))
        return false;
    Bytes plain = file;
    unstamp_elf(&plain);
    uint64_t sum = sum_of(plain.data(), plain.size());
    return std::memcmp(file.data() + EI_PAD, &sum, EI_NIDENT - EI_PAD) == 0;
}

size_t elf_size(const void* image, size_t known_size)
{
    Elf64_Ehdr header;
    if (!read_header(image, known_size, &header) || header.e_shentsize != sizeof(Elf64_Shdr))
        return 0;
    uint64_t end = header.e_shoff + uint64_t(header.e_shnum) * sizeof(Elf64_Shdr);
    return header.e_shoff == 0 || end > (uint64_t(1) << 32) ? 0 : size_t(end);
}

bool is_our_elf(const void* image, size_t known_size, uint16_t* type)
{
    Elf64_Ehdr header;
    if (!read_header(image, known_size, &header) || header.e_flags != elf_mark)
        return false;
    *type = header.e_type;
    return true;
}

ElfFile::ElfFile(const Bytes& bytes) : bytes_(bytes)
{
    if (bytes.empty() || !read_header(bytes.data(), bytes.size(), &header_))
        return;
    good_ = read_sections();
    for (uint16_t i = 0; good_ && i < header_.e_phnum; ++i) {
        Elf64_Phdr row;
        uint64_t at = header_.e_phoff + uint64_t(i) * sizeof row;
        if (at + sizeof row > bytes_.size()) {
            good_ = false;
            break;
        }
        std::memcpy(&row, bytes_.data() + at, sizeof row);
        if (row.p_type == PT_LOAD)
            segments_.push_back(
                {row.p_vaddr, row.p_vaddr + row.p_memsz, (row.p_flags & PF_W) != 0, (row.p_flags & PF_X) != 0});
    }
    for (const Elf64_Shdr& section : sections_)
        if (good_ && section.sh_type == SHT_SYMTAB)
            read_symbols(section);
    for (const Elf64_Shdr& section : sections_)
        if (good_ && section.sh_type == SHT_RELA)
            read_relocations(section);
}

bool ElfFile::read_sections()
{
    uint64_t end = header_.e_shoff + uint64_t(header_.e_shnum) * sizeof(Elf64_Shdr);
    if (header_.e_shoff == 0 || header_.e_shentsize != sizeof(Elf64_Shdr) || end < header_.e_shoff ||
        end > bytes_.size())
        return false;
    sections_.resize(header_.e_shnum);
    std::memcpy(sections_.data(), bytes_.data() + header_.e_shoff, sections_.size() * sizeof(Elf64_Shdr));
    for (const Elf64_Shdr& section : sections_)
        if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL &&
            (section.sh_offset > bytes_.size() || section.sh_size > bytes_.size() - section.sh_offset))
            return false;
    return true;
}

const char* ElfFile::section_text(const Elf64_Shdr& strings, uint64_t offset) const
{
    if (strings.sh_type != SHT_STRTAB || offset >= strings.sh_size)
        return "";
    auto* begin = reinterpret_cast<const char*>(bytes_.data() + strings.sh_offset);
    return begin[strings.sh_size - 1] == 0 ? begin + offset : "";
}

void ElfFile::read_symbols(const Elf64_Shdr& table)
{
    if (table.sh_link >= sections_.size())
        return;
    for (uint64_t i = 0; i < table.sh_size / sizeof(Elf64_Sym); ++i) {
        Elf64_Sym row;
        std::memcpy(&row, bytes_.data() + table.sh_offset + i * sizeof row, sizeof row);
        ElfSymbol symbol;
        symbol.name = section_text(sections_[table.sh_link], row.st_name);
        symbol.value = row.st_value;
        symbol.size = row.st_size;
        symbol.type = uint8_t(ELF64_ST_TYPE(row.st_info));
        symbol.bind = uint8_t(ELF64_ST_BIND(row.st_info));
        symbol.section = row.st_shndx < sections_.size() ? row.st_shndx : uint16_t(0);
        bool named = !symbol.name.empty() && (symbol.type == STT_FUNC || symbol.type == STT_OBJECT);
        if (named && symbol.section) {
            auto key = std::make_pair(symbol.section, symbol.value);
            auto known = starts_.find(key);
            bool better = known == starts_.end() || (symbol.size && !symbols_[known->second].size) ||
                          (symbol.bind == STB_GLOBAL && symbols_[known->second].bind != STB_GLOBAL);
            if (better)
                starts_[key] = symbols_.size();
        }
        symbols_.push_back(std::move(symbol)); // every row is kept, so indices match the table
    }
}

void ElfFile::read_relocations(const Elf64_Shdr& table)
{
    for (uint64_t i = 0; i < table.sh_size / sizeof(Elf64_Rela); ++i) {
        Elf64_Rela row;
        std::memcpy(&row, bytes_.data() + table.sh_offset + i * sizeof row, sizeof row);
        uint32_t type = uint32_t(ELF64_R_TYPE(row.r_info));
        uint64_t index = ELF64_R_SYM(row.r_info);
        if (is_object()) {
            if (type != absolute_relocation || index >= symbols_.size() || table.sh_info >= sections_.size())
                continue;
            const ElfSymbol& target = symbols_[index];
            if (target.section)
                pointers_[{uint16_t(table.sh_info), row.r_offset}] = {target.section,
                                                                      target.value + uint64_t(row.r_addend)};
            else
                undefined_[{uint16_t(table.sh_info), row.r_offset}] = target.name;
        } else if (type == relative_relocation) {
            auto target = uint64_t(row.r_addend);
            uint16_t from = section_of(row.r_offset);
            if (from)
                pointers_[{from, row.r_offset}] = {section_of(target), target};
        } else if (type == absolute_relocation && table.sh_link < sections_.size()) {
            const Elf64_Shdr& symbols = sections_[table.sh_link];
            Elf64_Sym symbol;
            if (symbols.sh_link >= sections_.size() || index >= symbols.sh_size / sizeof symbol)
                continue;
            std::memcpy(&symbol, bytes_.data() + symbols.sh_offset + index * sizeof symbol, sizeof symbol);
            undefined_[{section_of(row.r_offset), row.r_offset}] =
                section_text(sections_[symbols.sh_link], symbol.st_name);
        }
    }
}

uint16_t ElfFile::section_of(uint64_t address) const
{
    for (size_t i = 1; i < sections_.size(); ++i) {
        const Elf64_Shdr& s = sections_[i];
        bool in_memory = (s.sh_flags & SHF_ALLOC) && !(s.sh_flags & SHF_TLS);
        if (in_memory && address >= s.sh_addr && address < s.sh_addr + s.sh_size)
            return uint16_t(i);
    }
    return 0;
}

const ElfSymbol* ElfFile::find(const std::string& name) const
{
    for (const ElfSymbol& symbol : symbols_)
        if (symbol.section && symbol.name == name)
            return &symbol;
    return nullptr;
}

const std::byte* ElfFile::data(Place place, size_t size) const
{
    if (!place || place.section >= sections_.size())
        return nullptr;
    const Elf64_Shdr& s = sections_[place.section];
    uint64_t offset = is_object() ? place.value : place.value - s.sh_addr;
    if (s.sh_type == SHT_NOBITS || offset > s.sh_size || size > s.sh_size - offset)
        return nullptr;
    return bytes_.data() + s.sh_offset + offset;
}

ElfFile::Place ElfFile::pointer(Place place) const
{
    auto found = pointers_.find({place.section, place.value});
    return found == pointers_.end() ? Place{} : found->second;
}

const std::string* ElfFile::undefined(Place place) const
{
    auto found = undefined_.find({place.section, place.value});
    return found == undefined_.end() ? nullptr : &found->second;
}

std::string ElfFile::text(Place place) const
{
    std::string out;
    for (;; ++place.value) {
        const std::byte* at = data(place, 1);
        if (!at || *at == std::byte(0))
            return out;
        out += char(*at);
    }
}

const ElfSymbol* ElfFile::symbol_at(Place place) const
{
    auto found = starts_.find({place.section, place.value});
    return found == starts_.end() ? nullptr : &symbols_[found->second];
}

ElfFile::Place ElfFile::section_named(const char* name, uint64_t* size) const
{
    if (header_.e_shstrndx >= sections_.size())
        return {};
    for (size_t i = 1; i < sections_.size(); ++i)
        if (std::strcmp(section_text(sections_[header_.e_shstrndx], sections_[i].sh_name), name) == 0) {
            *size = sections_[i].sh_size;
            return {uint16_t(i), is_object() ? 0 : sections_[i].sh_addr};
        }
    return {};
}

} // namespace emu::front
