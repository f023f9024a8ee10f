// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Compiles the text of a translation unit to machine code, and reads and writes the text container for units.
#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <sys/stat.h>
#include <unistd.h>

#include "device_include/emulator_abi.h"
#include "cache.hpp"
#include "compiler.hpp"
#include "contents.hpp"
#include "elf.hpp"
#include "process.hpp"
#include "text.hpp"

namespace emu::front {
namespace {

const char* const container_head = "// cuda.emulator text module 1\n";
const char* const container_body = "// text\n";

std::string absolute_home()
{
    char buffer[PATH_MAX];
    return realpath(home().c_str(), buffer) ? buffer : home();
}

// An optimization level in CUDA_EMULATOR_CXX replaces ours.
std::string optimization(const Toolchain& tools)
{
    for (const std::string& word : tools.command)
        if (word.compare(0, 2, "-O") == 0)
            return word;
    return "-O1";
}

int gcc_version()
{
    const std::string& line = toolchain().version; // "g++ (Debian 12.2.0-14) 12.2.0"
    size_t space = line.rfind(' ');
    return std::atoi(line.c_str() + (space == std::string::npos ? 0 : space + 1));
}

// These flags depend only on the language standard and -G, so programs with the same flags share a precompiled prelude.
void add_gcc_flags(const Checks& checks, bool steps, std::vector<std::string>* flags)
{
    // Local variables have no shadow. With `initialized`, emu_watch() reports loads of this pattern; in registers, it is
    // far from any useful value.
    bool shows_lines = checks.coverage || checks.advice || checks.debug; // a declaration would have code
    if (gcc_version() >= 12 && (checks.initialized || !shows_lines))
        flags->push_back(config().fill || checks.initialized ? "-ftrivial-auto-var-init=pattern"
                                                             : "-ftrivial-auto-var-init=zero");
    flags->insert(flags->end(), {"-fno-gnu-unique", "-fno-tree-vectorize", "-fno-trapping-math", "-fmax-errors=100",
                                 "-fno-var-tracking", "-ftrack-macro-expansion=0", "-fno-diagnostics-show-caret",
                                 "-Wno-maybe-uninitialized", "-fcaller-saves", "-ftree-pre", "-fgcse",
                                 "-fno-semantic-interposition", "-fpermissive"});
    // Keeps incorrect calls of free(), and printf() out of the host's standard output.
    flags->insert(flags->end(), {"-fno-builtin-malloc", "-fno-builtin-free", "-fno-builtin-printf"});
    // -fcaller-saves, -ftree-pre and -fgcse belong to -O2; they are worth their time and keep line numbers correct.
    // -fno-semantic-interposition lets kernels be inlined. -fpermissive is for the system headers; elsewhere
    // diagnostics.cpp turns its warnings into errors.
#if defined(__x86_64__)
    flags->insert(flags->end(), {"-ffixed-xmm14", "-ffixed-xmm15"}); // see emulator_conversions.h
#endif
    // The address instrumentation omits a store to an address that was just loaded.
    if (checks.races || checks.advice || steps)
        flags->insert(flags->end(), {checks.memory ? "-fsanitize=thread,alignment" : "-fsanitize=thread", "--param",
                                     "tsan-distinguish-volatile=1",
                                     // The calls are checked; code in place of them is not instrumented.
                                     "-fno-builtin-memcpy", "-fno-builtin-memmove", "-fno-builtin-memset"});
    else if (checks.memory)
        flags->insert(flags->end(),
                      {"-fsanitize=kernel-address,alignment",
                       "-fasan-shadow-offset=" + std::to_string(EMU_FIXED_SHADOW), "--param",
                       checks.reads_shadow() ? "asan-instrumentation-with-call-threshold=1000000"
                                             : "asan-instrumentation-with-call-threshold=0",
                       "--param", checks.stack ? "asan-stack=1" : "asan-stack=0", "--param", "asan-globals=1"});
    if (checks.reads_shadow() && !steps)
        flags->push_back("-DEMU_READS_SHADOW");
    if ((checks.races || checks.advice || steps) && gcc_version() >= 11)
        flags->push_back("-Wno-tsan"); // fences are calls of the device, see emulator_checks.h
    if (steps)
        flags->push_back("-fno-reorder-blocks"); // the order of the source, see Block::begin_steps()
    if (checks.stack)
        flags->insert(flags->end(), {"-fno-sanitize-address-use-after-scope", "--param", "asan-use-after-return=0"});
    if (checks.rows)
        flags->push_back("-fsanitize=bounds");
    flags->emplace_back("-fsanitize=unreachable,return");
}

void add_clang_flags(const Checks& checks, bool steps, std::vector<std::string>* flags)
{
    flags->insert(flags->end(), {"-ferror-limit=100", "-Wno-unused-command-line-argument", "-fno-caret-diagnostics",
                                 "-Werror=global-constructors"});
    flags->push_back("-fno-strict-float-cast-overflow"); // casts of floating point to integers saturate
    flags->push_back("-fno-optimize-sibling-calls");     // a callback finds its line by its return address
    // A vectorized access would be checked for an alignment that the single accesses do not need.
    flags->insert(flags->end(), {"-fno-vectorize", "-fno-slp-vectorize"});
    // Lanes may pass uninitialized values to shuffles. The compiler must not drop the branch in which one lane
    // initializes its own.
    flags->insert(flags->end(), {"-ftrivial-auto-var-init=pattern", "-Wno-sometimes-uninitialized"});
    flags->insert(flags->end(), {"-fno-sanitize=undefined", "-fsanitize=unreachable,return"}); // zig enables the former
    if (checks.memory)
        flags->push_back("-fsanitize=alignment");
    if (checks.races || checks.advice || steps) // past the driver, because zig would link its own library for it
        flags->insert(flags->end(),
                      {"-Xclang", "-fsanitize=thread", "-mllvm", "-tsan-distinguish-volatile", "-mllvm",
                       "-tsan-compound-read-before-write", "-mllvm", "-tsan-instrument-func-entry-exit=0"});
    else if (checks.memory)
        flags->insert(flags->end(),
                      {"-fsanitize=kernel-address", "-mllvm", "-asan-instrumentation-with-call-threshold=0",
                       "-mllvm", "-asan-stack=0", "-mllvm", "-asan-globals=1"});
    if (checks.rows)
        flags->push_back("-fsanitize=array-bounds");
}

std::vector<std::string> compile_flags(const Unit& unit, const Checks& checks, const Toolchain& tools)
{
    std::vector<std::string> flags{
        "-x",
        "c++",
        "-std=c++" + std::to_string(unit.standard < 14 ? 14 : unit.standard),
        unit.debug || checks.coverage || checks.advice || checks.debug ? "-O0" : optimization(tools),
        checks.debug ? "-g" : "-g1",
        "-gdwarf-4",
        "-fPIC",
        "-pipe",
        "-nostdinc",
        "-nostdinc++",
        "-fvisibility=hidden",
        "-fno-exceptions",
        "-fno-rtti",
        "-fsized-deallocation",
        "-fno-threadsafe-statics",
        "-fno-strict-aliasing",
        "-fwrapv",
        "-fno-delete-null-pointer-checks",
        "-ffp-contract=off",
        "-fno-math-errno",
        "-fno-stack-protector",
        "-fcf-protection=none",
        "-fstack-clash-protection",
        "-fno-asynchronous-unwind-tables",
        "-Werror=vla",
        "-DEMU_CHECKS=" + std::to_string(checks.bits()),
        "-Wno-unknown-pragmas",
        "-Wno-attributes",
        "-Wunused-variable",
        "-Wreturn-type",
        "-Wuninitialized",
        "-Wformat",
        "-Wno-format-zero-length",
        "-fno-builtin-memcmp", // a call is checked, see emulator_runtime.h
    };
#if defined(__x86_64__)
    // popcnt, SSE 4.1 and cmpxchg16b: every x86-64 processor since 2009 has them.
    flags.insert(flags.end(), {"-mpopcnt", "-msse4.1", "-mcx16"});
#else
    // char is signed in CUDA C++; functions for atomics would come from a library.
    flags.insert(flags.end(), {"-fsigned-char", "-mno-outline-atomics", "-mbranch-protection=none"});
#endif
    // -fstack-clash-protection is needed because the guard below a stack is small, see exec/stacks.cpp.
    if (unit.text.find("alloca") != std::string::npos) // would take the memory of all threads of a block
        flags.emplace_back("-DEMU_INLINES_KERNELS=0");
    if (checks.coverage || checks.advice)
        flags.insert(flags.end(), {"-fsanitize-coverage=trace-pc", "-fno-jump-tables"}); // coverage.cpp follows jumps
    bool steps = !checks.stack && needs_steps(unit.text); // red zones on the stack need the other instrumentation
    if (steps)
        flags.emplace_back("-DEMU_STEPS");
    (tools.kind == "gcc" ? add_gcc_flags : add_clang_flags)(checks, steps, &flags);
#if !defined(__x86_64__)
    flags.push_back("-fsanitize=integer-divide-by-zero"); // x86-64 traps
    if (tools.kind == "gcc")
        flags.insert(flags.end(), {"--param", "stack-clash-protection-guard-size=12"});
#endif
    return flags;
}

// Returns true for "zig c++" or "python -m ziglang c++", which have their own linker and support library.
bool is_zig()
{
    const std::vector<std::string>& words = toolchain().command;
    auto word = std::find(words.begin(), words.end(), "c++"); // options may follow it
    if (word == words.begin() || word == words.end())
        return false;
    const std::string& tool = *(word - 1);
    return tool == "ziglang" || (tool.size() >= 3 && tool.compare(tool.size() - 3, 3, "zig") == 0);
}

std::vector<std::string> link_flags()
{
    std::vector<std::string> flags{"-shared",
                                   "-nostdlib",
                                   "-Wl,-Bsymbolic",
                                   "-Wl,--no-undefined",
                                   "-Wl,-z,noexecstack",
                                   "-Wl,--hash-style=gnu",
                                   "-Wl,--build-id=none"};
    if (!is_zig()) // separates constants from code, so that kernels may read them; the default on x86-64 only
        flags.emplace_back("-Wl,-z,separate-code");
    // zig would drop the variable records, because nothing refers to them.
    flags.emplace_back(is_zig() ? "-Wl,--no-gc-sections" : "-Wl,--no-demangle");
    return flags;
}

std::vector<std::string> libraries()
{
    static const auto& library = *new std::string(absolute_home() + "/_emulator.so");
    std::vector<std::string> words{"-Wl,--no-as-needed", library, "-lm", "-lc"};
    if (!is_zig())
        words.push_back("-lgcc");
    return words;
}

// Lists undefined symbols in ptxas style, each once; the linker reports "undefined reference to `_Z1hi'".
std::string unresolved_symbols(const std::string& output)
{
    std::string out;
    const char* const sign = "undefined reference to `";
    for (size_t at = output.find(sign); at != std::string::npos; at = output.find(sign, at + 1)) {
        size_t begin = at + std::strlen(sign), end = output.find('\'', begin);
        std::string line = "ptxas fatal   : Unresolved extern function '" + output.substr(begin, end - begin) + "'\n";
        if (out.find(line) == std::string::npos)
            out += line;
    }
    return out;
}

// Returns the line of a program that puts a file into a section of its image, which is not loaded.
std::string section_of_file(const std::string& path)
{
    return "asm(R\"emu(.pushsection .emu_unit,\"\",@progbits\n.incbin \"" + assembler_string(path) +
           "\"\n.popsection)emu\");\n";
}

// `runtime` is the object linked into every module, `container` what the image is compiled from again if the checks
// differ.
Built run_compiler(std::vector<std::string> flags, const std::string& input, const Bytes& runtime,
                   const std::string& container)
{
    Built built;
    const Toolchain& tools = toolchain();
    TemporaryFolder folder;
    std::string object = folder.path() + "/runtime.o";
    std::string unit = folder.path() + "/unit", text = input;
    if (folder.path().empty() || !write_file(unit, container.data(), container.size()) ||
        (!runtime.empty() && !write_file(object, runtime.data(), runtime.size()))) {
        built.diagnostics = "no temporary directory is writable; set TMPDIR\n";
        return built;
    }
    if (!container.empty()) // after the first line, which includes the prelude
        text.insert(text.find('\n') + 1, section_of_file(unit));
    if (!runtime.empty()) {
        flags.insert(flags.end(), {"-x", "none", object});
        for (const std::string& library : libraries())
            flags.push_back(library);
    }
    std::string output = folder.path() + "/module";
    std::vector<std::string> command = tools.command;
    command.insert(command.end(), flags.begin(), flags.end());
    command.insert(command.end(), {"-o", output});
    ProcessResult result = run_process(command, text);
    if (!result.failure.empty())
        result.err += "the compiler cannot be run: " + result.failure + "\n";
    built.diagnostics = result.err;
    built.done = result.status == 0 && read_file(output, &built.bytes);
    if (built.done)
        stamp_elf(&built.bytes);
    return built;
}

bool from_cache(const std::string& key, Built* built)
{
    auto blob = cache_get(key);
    if (!blob)
        return false;
    Reader reader(*blob);
    built->bytes = reader.bytes();
    built->diagnostics = reader.text();
    built->done = reader.good();
    return built->done;
}

// A cast of a pointer to another type is no constant expression in C++, but NVRTC accepts it as the initial value of a
// variable if the address is constant. So do compilers, unless constinit forbids it; the machine code shows it then.
bool rejects_cast(const std::string& diagnostics)
{
    return contains(diagnostics, "does not have a constant initializer") && contains(diagnostics, "reinterpret_cast") &&
           !contains(diagnostics, "to arithmetic type"); // which NVRTC rejects
}

std::string without_constinit(std::string input)
{
    return input.insert(input.find('\n') + 1, "#undef EMU_CONSTINIT\n#define EMU_CONSTINIT\n"
                                              "#undef EMU_CONSTINIT_DEFAULT\n#define EMU_CONSTINIT_DEFAULT\n");
}

// Returns true if a variable is initialized by code, when the module is loaded or a function first called.
bool initializes_variables(const Bytes& code)
{
    ElfFile elf(code);
    for (const ElfSymbol& symbol : elf.symbols())
        if (symbol.name.compare(0, 14, "_GLOBAL__sub_I") == 0 || symbol.name.compare(0, 4, "_ZGV") == 0)
            return true;
    return !elf.good();
}

Built compile_and_keep(const std::string& key, const std::vector<std::string>& flags, const std::string& input,
                       const Bytes& runtime = {}, const std::string& container = {})
{
    cache_count_miss();
    Built built = run_compiler(flags, input, runtime, container);
    if (!built.done && rejects_cast(built.diagnostics)) {
        Built folded = run_compiler(flags, without_constinit(input), runtime, container);
        if (folded.done && !initializes_variables(folded.bytes))
            built = std::move(folded);
    }
    if (built.done) {
        Writer writer;
        writer.add(built.bytes);
        writer.add(built.diagnostics);
        cache_put(key, writer.take());
    }
    return built;
}

Built no_tools()
{
    Built built;
    built.no_toolchain = true;
    built.diagnostics = toolchain().error + "\n";
    return built;
}

std::string cache_key(const char* what, const std::string& text)
{
    Hash hash;
    hash.add(what);
    hash.add(code_identity());
    hash.add(text);
    return hash.hex();
}

// The object that every module needs besides its own code: check callbacks, new and delete.
const Built& runtime_object()
{
    static std::mutex mutex;
    static Built& built = *new Built;
    std::lock_guard<std::mutex> lock(mutex);
    if (built.done)
        return built;
    std::string key = cache_key("runtime", "") + ".code";
    if (!from_cache(key, &built)) {
        Checks none;
        none.memory = false;
        std::vector<std::string> flags = compile_flags(Unit(), none, toolchain());
        // operator delete tail-calls the library, so that its caller is the kernel.
        flags.insert(flags.end(), {"-foptimize-sibling-calls", "-isystem", device_headers(), "-c", "-"});
        for (std::string& flag : flags)
            if (flag.compare(0, 13, "-DEMU_CHECKS=") == 0)
                flag = "-DEMU_CHECKS=" + std::to_string(config().checks.bits());
            else if (flag == "-O1")
                flag = "-O2";
        built = compile_and_keep(key, flags, "#include <emulator_runtime.h>\n");
    }
    unstamp_elf(&built.bytes);
    return built;
}

// Returns the directory of the precompiled prelude for these flags, which is created if missing. If empty, there is
// none (clang, or no cache directory), and the prelude is compiled as text.
std::string precompiled_prelude(const std::vector<std::string>& flags)
{
    std::string cache = cache_statistics().folder;
    // The compiler reads the prelude by its path: anyone who can write the cache directory could replace it in the
    // meantime.
    if (toolchain().kind != "gcc" || cache.empty() || !is_private(cache, true))
        return "";
    std::string all;
    for (const std::string& flag : flags)
        all += flag + '\n';
    std::string folder = cache + "/prelude-" + cache_key("prelude", all);
    std::string file = folder + "/emulator_prelude.h.gch";
    // Threads that compile concurrently would write to the same file.
    static std::mutex mutex;
    std::lock_guard<std::mutex> lock(mutex);
    if (is_private(folder, true) && is_private(file, false))
        return folder;
    std::string beside = file + "." + std::to_string(getpid());
    std::vector<std::string> command = toolchain().command;
    command.insert(command.end(), flags.begin(), flags.end());
    command.insert(command.end(), {"-w", "-isystem", device_headers(), "-c", "-x", "c++-header",
                                   device_headers() + "/emulator_prelude.h", "-o", beside});
    // A directory that others could have written is not used; the prelude is then compiled as text.
    bool made = make_private_folders(folder) && is_private(folder, true) && run_process(command, "").status == 0 &&
                chmod(beside.c_str(), 0600) == 0 && rename(beside.c_str(), file.c_str()) == 0;
    if (!made)
        unlink(beside.c_str());
    return made ? folder : "";
}

} // namespace

const std::string& device_headers()
{
    static const auto& value = *new std::string(absolute_home() + "/device_include");
    return value;
}

std::string assembler_string(const std::string& line)
{
    std::string out;
    for (unsigned char c : line)
        if (c < ' ' || c > '~') {
            char octal[5];
            std::snprintf(octal, sizeof octal, "\\%03o", c);
            out += octal;
        } else {
            if (c == '"' || c == '\\')
                out += '\\';
            out += char(c);
        }
    return out;
}

Built build_unit(const Unit& unit, Shape shape)
{
    Built built;
    std::string container = container_of(unit);
    std::string key = cache_key(shape == Shape::object ? "object" : "unit", container) + ".code";
    if (from_cache(key, &built)) // before running the compiler to get its version
        return built;
    const Toolchain& tools = toolchain();
    if (!tools.error.empty())
        return no_tools();
    std::vector<std::string> flags = compile_flags(unit, config().checks, tools);
    std::string prelude = precompiled_prelude(flags);
    if (!prelude.empty())
        flags.insert(flags.end(), {"-isystem", prelude});
    flags.insert(flags.end(), {"-isystem", device_headers()});
    std::string text =
        "#include <emulator_prelude.h>\nEMU_MODULE(" + std::to_string(unit.architecture) + ")\n" + unit.text;
    if (shape == Shape::object) {
        flags.insert(flags.end(), {"-c", "-"});
        return compile_and_keep(key, flags, text, {}, container);
    }
    const Built& runtime = runtime_object();
    if (!runtime.done)
        return runtime;
    for (const std::string& flag : link_flags())
        flags.push_back(flag);
    flags.push_back("-");
    built = compile_and_keep(key, flags, text, runtime.bytes, container);
    std::string unresolved = built.done ? "" : unresolved_symbols(built.diagnostics);
    if (!unresolved.empty())
        built.diagnostics = unresolved;
    return built;
}

Built build_module(const std::vector<Unit>& units)
{
    if (units.size() == 1)
        return build_unit(units[0], Shape::module);
    std::vector<Bytes> objects;
    for (const Unit& unit : units) {
        Built built = build_unit(unit, Shape::object);
        if (!built.done)
            return built;
        objects.push_back(std::move(built.bytes));
    }
    return link_objects(objects);
}

Built link_objects(const std::vector<Bytes>& objects)
{
    Hash hash;
    for (const Bytes& object : objects)
        hash.add(text_of(object));
    std::string key = cache_key("link", hash.hex()) + ".code";
    Built built;
    if (from_cache(key, &built))
        return built;
    if (!toolchain().error.empty())
        return no_tools();
    const Built& runtime = runtime_object();
    if (!runtime.done)
        return runtime;
    TemporaryFolder folder;
    std::vector<std::string> flags = link_flags();
    for (size_t i = 0; i < objects.size(); ++i) {
        Bytes plain = objects[i];
        unstamp_elf(&plain);
        std::string path = folder.path() + "/input" + std::to_string(i) + ".o";
        if (folder.path().empty() || !write_file(path, plain.data(), plain.size())) {
            built.diagnostics = "no temporary directory is writable; set TMPDIR\n";
            return built;
        }
        flags.push_back(path);
    }
    return compile_and_keep(key, flags, "", runtime.bytes);
}

Built with_active_checks(Bytes image, Shape shape)
{
    ElfFile elf(image);
    uint32_t checks = 0;
    Built built;
    if (!elf.good() || !read_checks(elf, &checks) || checks == config().checks.bits()) {
        built.done = true;
        built.bytes = std::move(image);
        return built;
    }
    uint64_t size = 0;
    ElfFile::Place place = elf.section_named(".emu_unit", &size);
    const std::byte* text = elf.data(place, size_t(size));
    std::vector<Unit> units;
    if (text && units_of(std::string(reinterpret_cast<const char*>(text), size_t(size)), &units))
        built = shape == Shape::object ? build_unit(units[0], shape) : build_module(units);
    if (!built.done)
        built.diagnostics = "the code was compiled with another CUDA_EMULATOR_CHECK and cannot be compiled again: " +
                            (built.diagnostics.empty() ? "it does not contain its source\n" : built.diagnostics);
    return built;
}

// --------------------------------------------------------------------------- container

std::string container_of(const Unit& unit)
{
    std::string out = container_head;
    out += "// This is C++ for the software device cuda.emulator. It is not PTX.\n";
    auto field = [&](const char* name, const std::string& value) {
        out += std::string("// ") + name + ": " + value + "\n";
    };
    // Programs search PTX for this line; nothing here reads it.
    out += "// .target sm_" + std::to_string(unit.architecture) + unit.suffix + "\n";
    for (const std::string& entry : unit.entries)
        out += "// .visible .entry " + entry + "(\n";
    field("abi", std::to_string(EMU_ABI_VERSION));
    field("architecture", std::to_string(unit.architecture) + unit.suffix);
    field("standard", std::to_string(unit.standard));
    field("debug", unit.debug ? "1" : "0");
    field("relocatable", unit.relocatable ? "1" : "0");
    field("registers", std::to_string(unit.registers));
    std::string name = unit.name;
    for (char& c : name)
        c = c == '\n' ? ' ' : c;
    field("name", name);
    field("bytes", std::to_string(unit.text.size()));
    return out + container_body + unit.text;
}

std::string container_of(const std::vector<Unit>& units)
{
    std::string out;
    for (const Unit& unit : units)
        out += container_of(unit);
    return out;
}

bool is_container(const char* text, size_t size)
{
    size_t length = std::strlen(container_head);
    return (size == 0 || size >= length) && std::strncmp(text, container_head, length) == 0;
}

namespace {

void read_field(const std::string& name, const std::string& value, Unit* unit, std::string* abi, size_t* bytes)
{
    if (name == "abi")
        *abi = value;
    else if (name == "architecture") {
        unit->architecture = std::atoi(value.c_str());
        size_t digits = value.find_first_not_of("0123456789");
        unit->suffix = digits == std::string::npos ? "" : value.substr(digits);
    } else if (name == "standard")
        unit->standard = std::atoi(value.c_str());
    else if (name == "debug")
        unit->debug = value == "1";
    else if (name == "relocatable")
        unit->relocatable = value == "1";
    else if (name == "registers")
        unit->registers = std::atoi(value.c_str());
    else if (name == "name")
        unit->name = value;
    else if (name == "bytes")
        *bytes = std::strtoull(value.c_str(), nullptr, 10);
}

// Reads the unit at `at`, and moves `at` past it.
bool read_unit(const std::string& container, size_t* at, Unit* unit)
{
    if (container.compare(*at, std::strlen(container_head), container_head) != 0)
        return false;
    *at += std::strlen(container_head);
    std::string abi;
    size_t bytes = 0;
    for (;;) {
        size_t end = container.find('\n', *at);
        if (end == std::string::npos || container.compare(*at, 3, "// ") != 0)
            return false;
        std::string line = container.substr(*at, end + 1 - *at);
        *at = end + 1;
        if (line == container_body)
            break;
        size_t colon = line.find(": ");
        if (colon != std::string::npos)
            read_field(line.substr(3, colon - 3), line.substr(colon + 2, line.size() - colon - 3), unit, &abi, &bytes);
    }
    if (bytes > container.size() - *at || abi != std::to_string(EMU_ABI_VERSION))
        return false;
    unit->text = container.substr(*at, bytes);
    *at += bytes;
    return true;
}

} // namespace

bool units_of(const std::string& container, std::vector<Unit>* units)
{
    for (size_t at = 0; at < container.size() && container[at];) {
        Unit unit;
        if (!read_unit(container, &at, &unit))
            return false;
        units->push_back(std::move(unit));
    }
    return !units->empty();
}

} // namespace emu::front
