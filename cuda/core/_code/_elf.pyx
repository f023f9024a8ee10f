# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Validation of 64-bit ELF files, such as CUBINs: all offsets and indices must be within the file.

NVIDIA's libraries do not check them. This module checks what the ELF format requires of every file. Of the contents
of sections, only symbols, relocations, notes and strings are checked.
"""

from __future__ import annotations

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy
from libcpp.algorithm cimport sort
from libcpp.pair cimport pair
from libcpp.vector cimport vector

from cuda.core._utils._cpython cimport check_self_in_methods

__all__ = ["elf_damage", "elf_symbol", "elf_variables"]

# Names and layouts as in the System V ABI.

cdef struct Header:
    uint8_t ident[16]
    uint16_t type
    uint16_t machine
    uint32_t version
    uint64_t entry
    uint64_t phoff
    uint64_t shoff
    uint32_t flags
    uint16_t ehsize
    uint16_t phentsize
    uint16_t phnum
    uint16_t shentsize
    uint16_t shnum
    uint16_t shstrndx

cdef struct Segment:
    uint32_t type
    uint32_t flags
    uint64_t offset
    uint64_t vaddr
    uint64_t paddr
    uint64_t filesz
    uint64_t memsz
    uint64_t align

cdef struct Section:
    uint32_t name
    uint32_t type
    uint64_t flags
    uint64_t addr
    uint64_t offset
    uint64_t size
    uint32_t link
    uint32_t info
    uint64_t addralign
    uint64_t entsize

cdef struct Symbol:
    uint32_t name
    uint8_t info
    uint8_t other
    uint16_t shndx
    uint64_t value
    uint64_t size

cdef struct Relocation:
    uint64_t offset
    uint64_t info
    uint64_t addend

cdef struct Note:
    uint32_t namesz
    uint32_t descsz
    uint32_t type

cdef enum:
    ET_REL = 1
    EM_CUDA = 190
    SHT_NULL = 0
    SHT_PROGBITS = 1
    SHT_SYMTAB = 2
    SHT_STRTAB = 3
    SHT_RELA = 4
    SHT_NOTE = 7
    SHT_NOBITS = 8
    SHT_REL = 9
    SHT_DYNSYM = 11
    SHF_WRITE = 0x1
    SHF_EXECINSTR = 0x4
    SHF_INFO_LINK = 0x40
    SHT_LOPROC = 0x70000000
    SHT_CUDA_GLOBAL_INIT = 0x70000008
    SHN_LORESERVE = 0xFF00
    SHN_XINDEX = 0xFFFF
    STT_OBJECT = 1
    STT_FUNC = 2

# Larger alignments do not occur in practice, and a library might allocate that much padding.
cdef uint64_t _MAX_ALIGNMENT = 1 << 24


def elf_damage(bytes data) -> str | None:
    """Return what is wrong with an ELF file, as the end of a sentence, or None if it is not corrupt."""
    cdef Elf elf = Elf(data)
    cdef uint64_t i
    try:
        check_header(elf)
        check_segments(elf)
        for i in range(elf.count):
            check_section(elf, i)
        check_overlaps(elf)
        for i in range(elf.count):
            check_contents(elf, i)
    except ValueError as error:
        return str(error)
    return None


def elf_variables(bytes data) -> list[str]:
    """Return the names of the variables in an ELF file (its STT_OBJECT symbols), or none if it is corrupt."""
    return [name for _, name in symbols_of(data, STT_OBJECT)]


def elf_symbol(bytes data, name: str) -> int | None:
    """Return the index of the symbol of a function in an ELF file, or None if there is none, or the file is corrupt."""
    for index, known in symbols_of(data, STT_FUNC):
        if known == name:
            return index
    return None


# The index and the name of each symbol of a type.
cdef list symbols_of(bytes data, int kind):
    cdef Elf elf = Elf(data)
    cdef Section section
    cdef Section strings
    cdef Symbol symbol
    cdef uint64_t index, i
    cdef list found = []
    if elf_damage(data) is not None:
        return found
    check_header(elf)
    for index in range(elf.count):
        section = elf.section(index)
        if section.type != SHT_SYMTAB:
            continue
        strings = elf.section(section.link)
        for i in range(section.size // sizeof(Symbol)):
            memcpy(&symbol, elf.start + section.offset + i * sizeof(Symbol), sizeof(Symbol))
            if symbol.info & 15 == kind and symbol.name:
                # elf_damage() has checked that each string table ends with a null character.
                found.append((i, (elf.start + strings.offset + symbol.name).decode(errors="replace")))
    return found


cdef class Elf:
    """An ELF file and its section headers. Fields are copied before use, because they may be unaligned."""

    cdef:
        bytes data
        const char* start
        uint64_t size
        Header header
        const char* table
        uint64_t count
        uint64_t names  # the index of the section with the names of sections

    def __cinit__(self, bytes data):
        self.data = data
        self.start = data
        self.size = len(data)

    # Returns true if the file has this many bytes.
    cdef bint has(self, uint64_t offset, uint64_t length) noexcept:
        return offset <= self.size and length <= self.size - offset

    cdef Section section(self, uint64_t index) noexcept:
        cdef Section section
        memcpy(&section, self.table + index * sizeof(Section), sizeof(Section))
        return section


cdef int check_header(Elf elf) except -1:
    cdef Section first
    cdef uint64_t needed
    if elf.size < sizeof(Header):
        raise ValueError(f"is cut off: it has {elf.size} bytes and needs {sizeof(Header)}")
    memcpy(&elf.header, elf.start, sizeof(Header))
    if elf.header.ident[4] != 2 or elf.header.ident[5] != 1:
        raise ValueError("is not a 64-bit little-endian ELF file")
    elf.count = elf.header.shnum
    elf.names = elf.header.shstrndx
    if elf.header.shoff == 0:
        if elf.count or elf.names:
            raise ValueError("is corrupt: it has no section header table")
        return 0
    if elf.header.shentsize != sizeof(Section):
        raise ValueError(f"is corrupt: its section headers have {elf.header.shentsize} bytes, not {sizeof(Section)}")
    if not elf.has(elf.header.shoff, sizeof(Section)):
        needed = elf.header.shoff + sizeof(Section)
        raise ValueError(f"is cut off: it has {elf.size} bytes and needs {needed}")
    elf.table = elf.start + elf.header.shoff
    # Numbers that do not fit into the fields of the header are stored in the first section.
    first = elf.section(0)
    if elf.count == 0:
        elf.count = first.size
    if elf.names == SHN_XINDEX:
        elf.names = first.link
    if elf.count > elf.size // sizeof(Section) or not elf.has(elf.header.shoff, elf.count * sizeof(Section)):
        needed = elf.header.shoff + elf.count * sizeof(Section)
        raise ValueError(f"is cut off: it has {elf.size} bytes and needs {needed}")
    if first.type != SHT_NULL:
        raise ValueError("is corrupt: its first section is not empty")
    if elf.names >= elf.count or (elf.names and elf.section(elf.names).type != SHT_STRTAB):
        raise ValueError("is corrupt: the names of its sections are missing")
    return 0


cdef int check_segments(Elf elf) except -1:
    cdef Segment segment
    cdef uint64_t i, needed
    if elf.header.phnum == 0:
        return 0
    if elf.header.phentsize != sizeof(Segment):
        raise ValueError(f"is corrupt: its segment headers have {elf.header.phentsize} bytes, not {sizeof(Segment)}")
    needed = elf.header.phnum * sizeof(Segment)
    if not elf.has(elf.header.phoff, needed):
        raise ValueError(f"is cut off: it has {elf.size} bytes and needs {elf.header.phoff + needed}")
    for i in range(elf.header.phnum):
        memcpy(&segment, elf.start + elf.header.phoff + i * sizeof(Segment), sizeof(Segment))
        if segment.filesz and not elf.has(segment.offset, segment.filesz):
            raise ValueError(f"is cut off: it has {elf.size} bytes, which segment {i} exceeds")
        if not is_alignment(segment.align):
            raise ValueError(f"is corrupt: the alignment of segment {i} is {segment.align}")
    return 0


# Checks the header of a section.
cdef int check_section(Elf elf, uint64_t index) except -1:
    cdef Section section = elf.section(index)
    cdef uint64_t entry_size
    if section.type == SHT_NULL:
        return 0
    if has_bytes(elf, section) and not elf.has(section.offset, section.size):
        raise ValueError(f"is cut off: it has {elf.size} bytes, which section {index} exceeds")
    if elf.names and section.name >= elf.section(elf.names).size:
        raise ValueError(f"is corrupt: section {index} has no name")
    if not is_alignment(section.addralign):
        raise ValueError(f"is corrupt: the alignment of section {index} is {section.addralign}")
    if section.link >= elf.count:
        raise ValueError(f"is corrupt: section {index} refers to section {section.link} of {elf.count}")
    if section.info >= elf.count and refers_by_info(section):
        raise ValueError(f"is corrupt: section {index} refers to section {section.info} of {elf.count}")
    entry_size = size_of_entries(section.type)
    if entry_size and (section.entsize != entry_size or section.size % entry_size):
        raise ValueError(f"is corrupt: section {index} does not consist of entries of {entry_size} bytes")
    if section.entsize and section.size % section.entsize:
        raise ValueError(f"is corrupt: section {index} does not consist of entries of {section.entsize} bytes")
    if section.type == SHT_STRTAB and section.size and elf.start[section.offset + section.size - 1] != 0:
        raise ValueError(f"is corrupt: the strings of section {index} do not end")
    return 0


# Returns true if a section has bytes in the file. CUBINs older than sm_90 have their own section types for memory that
# is only reserved: among writable sections, only initialized variables have bytes.
cdef bint has_bytes(Elf elf, Section section) noexcept:
    if section.type in (SHT_NULL, SHT_NOBITS) or section.size == 0:
        return False
    if elf.header.machine != EM_CUDA or section.type < SHT_LOPROC or section.type == SHT_CUDA_GLOBAL_INIT:
        return True
    return not section.flags & SHF_WRITE


cdef uint64_t size_of_entries(uint32_t kind) noexcept:
    if kind in (SHT_SYMTAB, SHT_DYNSYM):
        return sizeof(Symbol)
    if kind == SHT_RELA:
        return sizeof(Relocation)
    return 16 if kind == SHT_REL else 0


cdef bint is_alignment(uint64_t align) noexcept:
    return align & (align - 1) == 0 and align <= _MAX_ALIGNMENT


cdef bint refers_by_info(Section section) noexcept:
    if section.flags & SHF_INFO_LINK:
        return True
    # `info` is the index of a section, except in the code sections of CUBINs.
    return not section.flags & SHF_EXECINSTR and (
        section.type in (SHT_PROGBITS, SHT_RELA, SHT_REL, SHT_NOTE, SHT_NOBITS) or section.type >= SHT_LOPROC
    )


# No two sections or tables overlap, except sections that are aliases of each other.
cdef int check_overlaps(Elf elf) except -1:
    cdef vector[pair[uint64_t, uint64_t]] ranges
    cdef Section section
    cdef uint64_t i
    if elf.count == 0:
        return 0
    ranges.push_back(pair[uint64_t, uint64_t](0, sizeof(Header)))
    ranges.push_back(pair[uint64_t, uint64_t](elf.header.shoff, elf.header.shoff + elf.count * sizeof(Section)))
    for i in range(elf.count):
        section = elf.section(i)
        if has_bytes(elf, section):
            ranges.push_back(pair[uint64_t, uint64_t](section.offset, section.offset + section.size))
    sort(ranges.begin(), ranges.end())
    for i in range(1, ranges.size()):
        if ranges[i - 1].first < ranges[i].first < ranges[i - 1].second:
            raise ValueError(f"is corrupt: the byte {ranges[i].first} is in two sections or tables")
    return 0


# Checks the contents of sections of known types; all headers have been checked.
cdef int check_contents(Elf elf, uint64_t index) except -1:
    cdef Section section = elf.section(index)
    if section.type in (SHT_SYMTAB, SHT_DYNSYM):
        check_symbols(elf, index, section)
    elif section.type == SHT_RELA or section.type == SHT_REL:
        check_relocations(elf, index, section)
    elif section.type == SHT_NOTE:
        check_notes(elf, index, section)
    return 0


cdef int check_symbols(Elf elf, uint64_t index, Section section) except -1:
    cdef Section strings = elf.section(section.link)
    cdef Section home
    cdef Symbol symbol
    cdef uint64_t i, count = section.size // sizeof(Symbol)
    if strings.type != SHT_STRTAB:
        raise ValueError(f"is corrupt: the symbols of section {index} have no names")
    if section.info > count:
        raise ValueError(f"is corrupt: section {index} has {count} symbols, and not {section.info} local ones")
    for i in range(count):
        memcpy(&symbol, elf.start + section.offset + i * sizeof(Symbol), sizeof(Symbol))
        if symbol.name and symbol.name >= strings.size:
            raise ValueError(f"is corrupt: symbol {i} has no name")
        if symbol.shndx >= SHN_LORESERVE or symbol.shndx == 0:
            continue
        if symbol.shndx >= elf.count:
            raise ValueError(f"is corrupt: symbol {i} is in section {symbol.shndx} of {elf.count}")
        home = elf.section(symbol.shndx)
        # The size of a section without bytes in the file may be stored elsewhere.
        if not has_bytes(elf, home) or not is_relative(elf, home):
            continue
        if symbol.value > home.size or symbol.size > home.size - symbol.value:
            raise ValueError(f"is corrupt: symbol {i} exceeds section {symbol.shndx}")
    return 0


cdef int check_relocations(Elf elf, uint64_t index, Section section) except -1:
    cdef Section symbols = elf.section(section.link)
    cdef Section target = elf.section(section.info)
    cdef Relocation relocation
    cdef uint64_t i, size = sizeof(Relocation) if section.type == SHT_RELA else 16
    cdef uint64_t count = symbols.size // sizeof(Symbol) if symbols.type in (SHT_SYMTAB, SHT_DYNSYM) else 0
    for i in range(section.size // size):
        memcpy(&relocation, elf.start + section.offset + i * size, size)
        if (relocation.info >> 32) >= count and (relocation.info >> 32):
            raise ValueError(
                f"is corrupt: relocation {i} of section {index} refers to symbol {relocation.info >> 32} of {count}"
            )
        if section.info and is_relative(elf, target) and relocation.offset >= target.size:
            raise ValueError(f"is corrupt: relocation {i} of section {index} exceeds section {section.info}")
    return 0


cdef int check_notes(Elf elf, uint64_t index, Section section) except -1:
    cdef Note note
    cdef uint64_t place = 0, length
    while place + sizeof(Note) <= section.size:
        memcpy(&note, elf.start + section.offset + place, sizeof(Note))
        length = sizeof(Note) + ((<uint64_t>note.namesz + 3) & ~<uint64_t>3) + note.descsz
        if length > section.size - place:
            raise ValueError(f"is corrupt: a note of section {index} exceeds it")
        place += (length + 3) & ~<uint64_t>3
    return 0


# Returns true if symbol values and relocation offsets are relative to the section.
cdef bint is_relative(Elf elf, Section section) noexcept:
    return elf.header.type == ET_REL or (elf.header.machine == EM_CUDA and section.addr == 0)


check_self_in_methods(globals())
