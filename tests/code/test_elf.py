# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The check of ELF files: a table that refers to something missing is named, and intact files pass."""

import re
import struct
from pathlib import Path

import pytest

from cuda.core import Program, ProgramOptions
from cuda.core._code import _elf
from cuda.core._code._elf import elf_damage
from support.code import MAIN, PART, compiled, runtime_object

# Fields of the header, of sections, symbols and relocations: offset and format.
HEADER = {
    "class": (4, "B"),
    "shoff": (40, "Q"),
    "phoff": (32, "Q"),
    "phentsize": (54, "H"),
    "phnum": (56, "H"),
    "shentsize": (58, "H"),
    "shnum": (60, "H"),
    "shstrndx": (62, "H"),
}
SECTION = {
    "name": (0, "I"),
    "type": (4, "I"),
    "flags": (8, "Q"),
    "offset": (24, "Q"),
    "size": (32, "Q"),
    "link": (40, "I"),
    "info": (44, "I"),
    "addralign": (48, "Q"),
    "entsize": (56, "Q"),
}
SYMBOL = {"name": (0, "I"), "shndx": (6, "H"), "value": (8, "Q"), "size": (16, "Q")}
RELOCATION = {"offset": (0, "Q"), "symbol": (12, "I")}
NAMES, SYMBOLS, RELOCATIONS, NOTES, CODE = 3, 2, 4, 7, 1
HUGE = 2**64 - 1


class Image:
    """An ELF file whose fields a test changes."""

    def __init__(self, data):
        self.data = bytearray(data)

    def get(self, base, field):
        return struct.unpack_from("<" + field[1], self.data, base + field[0])[0]

    def put(self, base, field, value):
        struct.pack_into("<" + field[1], self.data, base + field[0], value)

    def section(self, kind):
        """Return the offset of the header of the last section of a type."""
        table, count = self.get(0, HEADER["shoff"]), self.get(0, HEADER["shnum"])
        return [at for at in range(table, table + 64 * count, 64) if self.get(at, SECTION["type"]) == kind][-1]

    def contents(self, kind):
        return self.get(self.section(kind), SECTION["offset"])

    def damage(self):
        return elf_damage(bytes(self.data))


@pytest.fixture
def image():
    return Image(compiled(MAIN, "cubin").code)


needs_compiler = pytest.mark.requires(nvrtc=True, software=False)


@needs_compiler
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_120"])
@pytest.mark.parametrize("settings", [{}, {"debug": True}, {"lineinfo": True}, {"relocatable_device_code": True}])
def test_intact_cubins_pass(arch, settings):
    source = """
        __device__ int g[4] = {1}; __device__ int space[100000]; __constant__ float c[8]; extern __shared__ int open[];
        template<class T> __global__ void k(T* x) {
            __shared__ T t[4000];  // more bytes than the file has
            t[threadIdx.x] = x[threadIdx.x] * c[threadIdx.x % 8];
            __syncthreads();
            x[0] = t[31 - threadIdx.x] + g[1] + open[3] + space[5];
            printf("%d", (int)x[0]);
        }
        template __global__ void k<int>(int*);
        template __global__ void k<double>(double*);
    """
    program = Program(source, "c++", ProgramOptions(arch=arch, **settings))
    assert elf_damage(program.compile("cubin").code) is None
    program.close()


@pytest.mark.requires(cudadevrt=True)
def test_intact_host_objects_pass():
    assert elf_damage(runtime_object()) is None


def test_shared_libraries_pass():
    # Code of the software device is a shared library, with symbols for the dynamic linker.
    assert elf_damage(Path(_elf.__file__).read_bytes()) is None


def test_file_without_sections_passes():
    assert elf_damage(b"\x7fELF\2\1\1" + bytes(57)) is None


@needs_compiler
def test_every_truncation_is_found(image):
    code = bytes(image.data)
    found = [elf_damage(code[:size]) for size in range(4, len(code), 7)]
    assert all(text is not None and text.startswith("is cut off: it has ") for text in found)


@needs_compiler
@pytest.mark.parametrize(
    "field, value, text",
    [
        ("class", 1, "not a 64-bit little-endian ELF file"),
        ("shentsize", 40, "section headers have 40 bytes, not 64"),
        ("shoff", 0, "no section header table"),
        ("shoff", HUGE, "is cut off"),
        ("shoff", 64, "first section is not empty"),
        ("shnum", 0xFFF0, "is cut off"),
        ("shstrndx", 0xFFF0, "names of its sections are missing"),
        ("shstrndx", 3, "names of its sections are missing"),
        ("shstrndx", 0xFFFF, None),  # refers to the index in the first section, which is 0: no names
    ],
)
def test_damaged_headers_are_found(image, field, value, text):
    image.put(0, HEADER[field], value)
    found = image.damage()
    assert found is None if text is None else text in found


@needs_compiler
@pytest.mark.parametrize(
    "field, value, text",
    [
        ("phentsize", 1, "segment headers have 1 bytes, not 56"),
        ("phoff", HUGE, "is cut off"),
        ("filesz", HUGE, "bytes, which segment 0 exceeds"),
        ("align", 3, "alignment of segment 0 is 3"),
        ("align", 4, None),
    ],
)
def test_damaged_segments_are_found(image, field, value, text):
    image.put(0, HEADER["phoff"], len(image.data))
    image.put(0, HEADER["phentsize"], 56)
    image.put(0, HEADER["phnum"], 1)
    image.data += struct.pack(
        "<IIQQQQQQ", 1, 0, 0, 0, 0, value if field == "filesz" else 8, 8, value if field == "align" else 1
    )
    if field in HEADER:
        image.put(0, HEADER[field], value)
    found = image.damage()
    assert found is None if text is None else text in found


@needs_compiler
@pytest.mark.parametrize(
    "kind, field, value, text",
    [
        (CODE, "offset", HUGE - 10, "exceeds"),
        (CODE, "size", HUGE, "exceeds"),
        (CODE, "name", 2**31, "has no name"),
        (CODE, "addralign", 3, "alignment of section .* is 3"),
        (CODE, "link", 200, "refers to section 200 of"),
        (RELOCATIONS, "info", 200, "refers to section 200 of"),
        (RELOCATIONS, "entsize", 16, "does not consist of entries of 24 bytes"),
        (RELOCATIONS, "entsize", 0, "does not consist of entries of 24 bytes"),
        (SYMBOLS, "size", 25, "does not consist of entries of 24 bytes"),
        (SYMBOLS, "link", 0, "have no names"),
        (SYMBOLS, "info", 5000, "and not 5000 local ones"),
        (CODE, "entsize", 2**20, "does not consist of entries of 1048576 bytes"),
        (RELOCATIONS, "offset", 72, "the byte 72 is in two sections or tables"),
        (CODE, "addralign", 2**40, "alignment of section .* is 1099511627776"),
        (NAMES, "size", 3, "do not end|has no name"),
    ],
)
def test_damaged_sections_are_found(image, kind, field, value, text):
    image.put(image.section(kind), SECTION[field], value)
    assert re.search(text, image.damage())


@needs_compiler
@pytest.mark.parametrize(
    "field, value, text",
    [
        ("name", 2**31, "has no name"),
        ("shndx", 200, "is in section 200 of"),
        ("shndx", 0xFFF1, None),
        ("value", HUGE, "exceeds section"),
        ("size", HUGE, "exceeds section"),
    ],
)
def test_damaged_symbols_are_found(image, field, value, text):
    symbols, code = image.contents(SYMBOLS), image.section(CODE)
    section = (code - image.get(0, HEADER["shoff"])) // 64
    number = next(n for n in range(1, 100) if image.get(symbols + 24 * n, SYMBOL["shndx"]) == section)
    image.put(symbols + 24 * number, SYMBOL[field], value)
    found = image.damage()
    assert found is None if text is None else f"symbol {number} {text}" in found


@needs_compiler
@pytest.mark.parametrize(
    "field, value, text",
    [
        ("symbol", 5000, "refers to symbol 5000 of"),
        ("offset", HUGE, "relocation 0 of section .* exceeds section"),
    ],
)
def test_damaged_relocations_are_found(image, field, value, text):
    image.put(image.contents(RELOCATIONS), RELOCATION[field], value)
    assert re.search(text, image.damage())


@needs_compiler
@pytest.mark.requires(nvrtc_version=(13, 0))  # older ones write no notes
def test_damaged_notes_are_found(image):
    image.put(image.contents(NOTES), (4, "I"), 2**31)
    assert "a note of section" in image.damage()


@needs_compiler
def test_counts_too_large_for_the_header_are_in_section_zero():
    image = Image(compiled(PART, "cubin").code)
    table = image.get(0, HEADER["shoff"])
    image.put(table, SECTION["size"], image.get(0, HEADER["shnum"]))
    image.put(table, SECTION["link"], image.get(0, HEADER["shstrndx"]))
    image.put(0, HEADER["shnum"], 0)
    image.put(0, HEADER["shstrndx"], 0xFFFF)
    assert image.damage() is None
    image.put(table, SECTION["size"], HUGE)
    assert "is cut off" in image.damage()
