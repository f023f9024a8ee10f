// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "archive.hpp"

#include <cstdlib>
#include <cstring>
#include <set>

#include "elf.hpp"
#include "process.hpp"

namespace emu::front {
namespace {

constexpr char archive_magic[] = "!<arch>\n";
constexpr size_t archive_magic_bytes = sizeof archive_magic - 1;

// The text header before each member.
struct MemberHeader {
    char name[16], date[12], user[6], group[6], mode[8], size[10], end[2];
};
static_assert(sizeof(MemberHeader) == 60);

// Reads "name/", or "/offset" into the table of long names.
std::string name_of(const MemberHeader& header, const std::string& long_names)
{
    std::string name(header.name, sizeof header.name);
    if (name[0] == '/') {
        size_t begin = std::strtoul(name.c_str() + 1, nullptr, 10);
        name = begin < long_names.size() ? long_names.substr(begin, 256) : "";
    }
    return name.substr(0, name.find_first_of("/\n"));
}

struct Symbols {
    std::set<std::string> defined, needed;

    explicit Symbols(const Bytes& object)
    {
        ElfFile file(object);
        for (const ElfSymbol& symbol : file.symbols())
            if (symbol.bind == STB_GLOBAL || symbol.bind == STB_WEAK)
                (symbol.section == SHN_UNDEF ? needed : defined).insert(symbol.name);
    }
    void join(const Symbols& other)
    {
        defined.insert(other.defined.begin(), other.defined.end());
        needed.insert(other.needed.begin(), other.needed.end());
    }
    bool wants(const Symbols& other) const
    {
        for (const std::string& name : other.defined)
            if (needed.count(name) && !defined.count(name))
                return true;
        return false;
    }
};

} // namespace

bool is_archive(const void* image, size_t size)
{
    return size >= archive_magic_bytes && std::memcmp(image, archive_magic, archive_magic_bytes) == 0;
}

bool read_archive(const LinkInput& library, std::vector<LinkInput>* members)
{
    const Bytes& bytes = library.bytes;
    std::string long_names;
    for (size_t at = archive_magic_bytes; at < bytes.size();) {
        MemberHeader header;
        if (bytes.size() - at < sizeof header)
            return false;
        std::memcpy(&header, &bytes[at], sizeof header);
        at += sizeof header;
        size_t size = std::strtoul(std::string(header.size, sizeof header.size).c_str(), nullptr, 10);
        if (header.end[0] != '`' || size > bytes.size() - at)
            return false;
        Bytes content(bytes.begin() + long(at), bytes.begin() + long(at + size));
        std::string table(header.name, 2);
        if (table == "//")
            long_names = text_of(content);
        else if (table != "/ " && table != "/S") // skips symbol tables
            members->push_back({std::move(content), library.name + "(" + name_of(header, long_names) + ")"});
        at += size + size % 2;
    }
    return true;
}

void take_needed(std::vector<LinkInput>* members, std::vector<LinkInput>* objects)
{
    Symbols all{Bytes{}};
    for (const LinkInput& object : *objects)
        all.join(Symbols(object.bytes));
    for (bool found = true; found;) {
        found = false;
        for (auto member = members->begin(); member != members->end();) {
            Symbols symbols(member->bytes);
            if (!all.wants(symbols)) {
                ++member;
                continue;
            }
            all.join(symbols);
            objects->push_back(std::move(*member));
            member = members->erase(member);
            found = true;
        }
    }
}

} // namespace emu::front
