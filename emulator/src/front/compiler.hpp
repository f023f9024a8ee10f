// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The steps between a program's text and machine code; compile.cpp connects them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "front.hpp"
#include "options.hpp"
#include "scan.hpp"

namespace emu::front {

// The compiler as found by name, without running it.
struct Found {
    std::vector<std::string> command;
    std::string identity; // changes when the program on disk changes
    std::string error;
};
const Found& find_compiler();

// A preprocessed and rewritten program: the contents of a text container.
struct Unit {
    std::string name;
    int architecture = 75;
    std::string suffix;
    int standard = 17;
    bool debug = false;
    bool relocatable = false;
    int registers = 0; // from -maxrregcount
    std::string text;
    std::vector<std::string> entries; // lowered names of its kernels, for programs that read the container
};

// Writes a container with one unit; linking with text output creates one with several.
std::string container_of(const Unit& unit);
std::string container_of(const std::vector<Unit>& units);
bool units_of(const std::string& container, std::vector<Unit>* units);
bool is_container(const char* text, size_t size); // size 0: text up to a zero byte

// ptx_module.cpp: creates a container for a PTX module from an open compiler.
Error compile_ptx(const std::string& text, std::string* container);

enum class Shape { module, object };

struct Built {
    bool done = false;
    bool no_toolchain = false;
    Bytes bytes;
    std::string diagnostics; // from compiler and linker
};

// Old programs pass values between the lanes of a warp through volatile shared memory, without barriers, so the lanes
// have to run in step (Block::step).
bool needs_steps(const std::string& text);

// Uses the cache.
Built build_unit(const Unit& unit, Shape shape);
Built build_module(const std::vector<Unit>& units);
Built link_objects(const std::vector<Bytes>& objects);
// Returns an object or module as it is, or compiled again from the text in it if it was compiled with other checks.
Built with_active_checks(Bytes image, Shape shape);

std::string assembler_string(const std::string& line); // with escapes, for asm statements

const std::string& device_headers(); // their directory
bool is_ours(const std::string& file); // one of them

// ---------------------------------------------------------------------------- coverage

struct CodeLine {
    uint64_t address, function; // of the line's code, and of its function
    std::string file;
    int line;
};
// Finds the lines of the program's files. `callback` is the function that basic blocks call to be counted.
std::vector<CodeLine> lines_of(const exec::Image& image, uint64_t* callback);
// Returns the name that a program is compiled under, which is unique to its source. Keeps the source for the report.
std::string covered_name(const std::string& name, const std::string& source);

// ------------------------------------------------------------------------- diagnostics

struct Sources {
    std::string program; // the program's name
    std::map<std::string, std::string> texts;
};

struct DiagnosticStyle {
    bool no_warnings = false, error_numbers = true, brief = false, warnings_are_errors = false;
    std::set<int> suppressed;
};

struct Report {
    std::string log; // in the form of NVRTC
    int errors = 0;
};

// headers.cpp: headers that programs include but that do not exist here. The hint is empty if there is none.
bool is_foreign_header(const std::string& file);
std::string missing_header_hint(const std::string& name);
std::string foreign_header_error(const std::string& file);

bool is_linker_text(const std::string& output); // already in ptxas style
Report report_errors(const std::vector<SourceError>& errors, const Sources& sources);
Report translate_diagnostics(const std::string& output, const Sources& sources, const DiagnosticStyle& style);

} // namespace emu::front
