// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Compiles a program like NVRTC, step by step.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

#include "cache.hpp"
#include "compiler.hpp"
#include "contents.hpp"
#include "elf.hpp"
#include "process.hpp"

namespace emu::front {
namespace {

constexpr int nvrtc_build = 37;

struct Preprocessed {
    bool done = false;
    std::string text;
    std::string warnings; // as written by the compiler
    Report report;        // if the compilation failed
};

std::string request_key(const CompileRequest& request)
{
    Hash hash;
    hash.add("program");
    hash.add(code_identity());
    hash.add(request.source);
    hash.add(request.name);
    for (const Header& header : request.headers) {
        hash.add(header.name);
        hash.add(header.text);
    }
    hash.add(uint64_t(request.options.size()));
    for (const std::string& option : request.options)
        hash.add(option);
    for (const std::string& expression : request.name_expressions)
        hash.add(expression);
    return hash.hex() + ".program";
}

// What a compilation reads: a file, or a directory in which a header could appear. A missing one is all zeros.
struct PathState {
    uint64_t device = 0, inode = 0, size = 0, modified = 0, changed = 0;
    bool operator==(const PathState& other) const { return std::memcmp(this, &other, sizeof other) == 0; }
};

uint64_t nanoseconds(const timespec& time)
{
    return uint64_t(time.tv_sec) * 1000000000u + uint64_t(time.tv_nsec);
}

PathState state_of(const std::string& path)
{
    struct stat info{};
    if (stat(path.c_str(), &info))
        return {};
    return {info.st_dev, info.st_ino, uint64_t(info.st_size), nanoseconds(info.st_mtim), nanoseconds(info.st_ctim)};
}

std::string folder_of(const std::string& path)
{
    size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, std::max<size_t>(slash, 1));
}

// Returns the files, and the directories where another file would be found instead of them: their own, and those with
// the same relative name below each directory that is searched.
std::vector<std::string> read_paths(const CompileRequest& request, const Options& options,
                                    const std::vector<std::string>& files)
{
    std::vector<std::string> search = options.includes;
    if (request.name.find('/') != std::string::npos && !options.no_source_include)
        search.push_back(folder_of(request.name));
    std::set<std::string> paths(files.begin(), files.end()), relative{""};
    for (const std::string& file : files) {
        std::string folder = folder_of(file);
        paths.insert(folder);
        for (const std::string& base : search)
            if (folder.compare(0, base.size() + 1, base + "/") == 0)
                relative.insert(folder.substr(base.size()));
    }
    for (const std::string& base : search)
        for (const std::string& below : relative)
            paths.insert(base + below);
    return {paths.begin(), paths.end()};
}

bool load_cached(const std::string& key, CompileResult* result)
{
    auto blob = cache_get(key);
    if (!blob)
        return false;
    Reader reader(*blob);
    for (uint64_t files = reader.number(); files && reader.good(); --files) {
        std::string path = reader.text();
        PathState known{reader.number(), reader.number(), reader.number(), reader.number(), reader.number()};
        if (!(state_of(path) == known))
            return false;
    }
    result->log = reader.text();
    result->cubin = reader.bytes();
    result->ptx = reader.bytes();
    result->lto = reader.bytes();
    for (uint64_t names = reader.number(); names && reader.good(); --names) {
        std::string expression = reader.text();
        result->lowered[expression] = reader.text();
    }
    if (!reader.good())
        return false;
    result->status = CompileStatus::ok;
    result->from_cache = true;
    return true;
}

// A program with such a macro must not come from the cache.
bool names_time(const std::string& text)
{
    for (const char* word : {"__TIME__", "__DATE__", "__TIMESTAMP__"})
        if (text.find(word) != std::string::npos)
            return true;
    return false;
}

// A file that changed after `begin` may have been read before or after the change, so nothing is stored.
void store(const std::string& key, const CompileResult& result, const std::vector<std::string>& paths, uint64_t begin)
{
    Writer writer;
    writer.add(uint64_t(paths.size()));
    for (const std::string& path : paths) {
        PathState state = state_of(path);
        Bytes text;
        if (state.modified >= begin || state.changed >= begin || (read_file(path, &text) && names_time(text_of(text))))
            return;
        writer.add(path);
        for (uint64_t number : {state.device, state.inode, state.size, state.modified, state.changed})
            writer.add(number);
    }
    writer.add(result.log);
    writer.add(result.cubin);
    writer.add(result.ptx);
    writer.add(result.lto);
    writer.add(uint64_t(result.lowered.size()));
    for (const auto& row : result.lowered) {
        writer.add(row.first);
        writer.add(row.second);
    }
    cache_put(key, writer.take());
}

void replace_all(std::string& text, const std::string& from, const std::string& to)
{
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

std::string quoted_name(const std::string& name)
{
    std::string out = "\"";
    for (char c : name) {
        if (c == '"' || c == '\\')
            out += '\\';
        out += c == '\n' ? ' ' : c;
    }
    return out + "\"";
}

// Writes headers that were passed as text. Their names may contain directories, but no path leaves our directory.
bool write_headers(const CompileRequest& request, const std::string& folder, std::string* problem)
{
    for (const Header& header : request.headers) {
        bool inside = !header.name.empty() && header.name[0] != '/' && header.name.find("..") == std::string::npos;
        size_t slash = header.name.rfind('/');
        std::string parent = folder + (slash == std::string::npos ? "" : "/" + header.name.substr(0, slash));
        if (!inside || !make_private_folders(parent) ||
            !write_file(folder + "/" + header.name, header.text.data(), header.text.size())) {
            *problem = "the header name \"" + header.name + "\" cannot be used on the software device\n";
            return false;
        }
    }
    return true;
}

// Returns a path that the compiler cannot misread: it expands a word "@path" as an options file, and "=path" means a
// place in its system root.
std::string path_word(const std::string& path)
{
    return path.find_first_of("@=-$") == 0 ? "./" + path : path;
}

// Returns true if a directory contains NVIDIA's CUDA Core Compute Libraries. As system headers they may do things that
// g++ rejects elsewhere, such as naming a member after its type.
bool has_cccl(const std::string& folder)
{
    return access((folder + "/cuda/std/__cccl").c_str(), F_OK) == 0;
}

std::vector<std::string> preprocess_command(const CompileRequest& request, const Options& options,
                                            const std::string& folder)
{
    std::vector<std::string> command = toolchain().command;
    auto add = [&](const std::string& word) { command.push_back(word); };
    for (const char* word : {"-E", "-undef", "-x", "c++", "-nostdinc", "-nostdinc++"})
        add(word);
    add("-std=c++" + std::to_string(options.standard == 3 ? 11 : options.standard));
    std::string arch = std::to_string(options.architecture * 10);
    for (const std::string& macro :
         {std::string("__CUDACC__=1"), std::string("__CUDACC_RTC__=1"), std::string("__LP64__=1"),
          std::string("__EXCEPTIONS=1"), std::string("__CUDA_EMULATOR__=1"), "__CUDA_ARCH__=" + arch,
          "__CUDA_ARCH_LIST__=" + arch,
          std::string("__CUDA_FTZ=") + (options.flush_denormals || options.fast_math ? "1" : "0"),
          std::string("__CUDA_PREC_DIV=") + (options.fast_divide || options.fast_math ? "0" : "1"),
          std::string("__CUDA_PREC_SQRT=") + (options.fast_root || options.fast_math ? "0" : "1"),
          "__CUDACC_VER_MAJOR__=" + std::to_string(config().driver_version / 1000),
          "__CUDACC_VER_MINOR__=" + std::to_string(config().driver_version % 1000 / 10),
          "__CUDACC_VER_BUILD__=" + std::to_string(nvrtc_build),
          "CUDART_VERSION=" + std::to_string(config().driver_version)})
        add("-D" + macro);
    if (options.fast_math)
        add("-D__USE_FAST_MATH__=1");
    if (options.debug)
        add("-D__CUDACC_DEBUG__=1");
    if (options.relocatable)
        add("-D__CUDACC_RDC__=1");
    if (!options.suffix.empty())
        add("-D__CUDA_ARCH_FEAT_SM" + std::to_string(options.architecture) + "_ALL=1");
    for (const std::string& macro : options.macros)
        add(macro);
    if (!request.headers.empty())
        add("-I" + folder);
    size_t slash = request.name.rfind('/');
    if (slash != std::string::npos && !options.no_source_include) {
        add("-iquote");
        add(path_word(request.name.substr(0, std::max<size_t>(slash, 1))));
    }
    add("-I" + device_headers());
    for (const std::string& path : options.includes)
        add((has_cccl(path) ? "-isystem" : "-I") + path_word(path));
    add("-isystem" + device_headers() + "/without_cccl");
    add("-imacros");
    add(device_headers() + "/emulator_macros.h");
    add("-");
    return command;
}

// The g++ driver passes the text after -D on as a separate word, so it must not begin with "@".
bool names_macro(const std::string& option)
{
    char first = option.size() > 2 ? option[2] : '\0';
    return std::isalpha(static_cast<unsigned char>(first)) || first == '_' || first == '$' || (first & 0x80);
}

Preprocessed preprocess(const CompileRequest& request, const Options& options, const Sources& sources,
                        const DiagnosticStyle& style)
{
    Preprocessed out;
    TemporaryFolder folder;
    std::string headers = folder.path() + "/h", input, problem;
    if (!request.headers.empty() && (folder.path().empty() || !write_headers(request, headers, &problem))) {
        out.report.log = problem.empty() ? "no temporary directory is writable; set TMPDIR\n" : problem;
        return out;
    }
    for (const std::string& macro : options.macros)
        if (!names_macro(macro)) {
            out.report.log = std::string("Command-line error: invalid macro ") + (macro[1] == 'U' ? "un" : "") +
                             "definition: " + macro.substr(2) + "\n\n" +
                             "1 catastrophic error detected in the compilation of \"" + sources.program +
                             "\".\nCompilation terminated.\n";
            return out;
        }
    for (const std::string& name : options.pre_includes)
        input += "# 1 \"<command-line>\"\n#include \"" + name + "\"\n";
    input += "# 1 " + quoted_name(request.name) + "\n" + request.source + "\n";
    ProcessResult result = run_process(preprocess_command(request, options, headers), input);
    replace_all(result.out, headers + "/", "");
    replace_all(result.err, headers + "/", "");
    out.done = result.status == 0;
    out.text = std::move(result.out);
    if (!result.failure.empty())
        out.report.log = "the compiler cannot be run: " + result.failure + "\n";
    else if (out.done)
        out.warnings = std::move(result.err);
    else
        out.report = translate_diagnostics(result.err, sources, style);
    return out;
}

// Name expressions are records with known names; the lowered name is the symbol that a record points to.
bool find_lowered(const Bytes& code, const std::vector<std::string>& expressions, CompileResult* result)
{
    ElfFile elf(code);
    if (!elf.good())
        return false;
    for (size_t i = 0; i < expressions.size(); ++i) {
        const ElfSymbol* record = elf.find("emu_kernel_record_name_" + std::to_string(i) + "_");
        if (!record)
            return false;
        ElfFile::Place place = elf.place_of(*record);
        place.value += 8; // offset of EmuKernel::address
        const ElfSymbol* target = elf.symbol_at(elf.pointer(place));
        const std::string* undefined = elf.undefined(place); // of a template that is only declared
        if (!target && !undefined)
            return false;
        result->lowered[expressions[i]] = target ? target->name : *undefined;
    }
    return true;
}

// Formats the ptxas message for too much shared memory.
std::string too_much_shared(const Contents& contents)
{
    constexpr uint32_t limit = 48 << 10;
    std::string out;
    for (const KernelInfo& kernel : contents.kernels)
        if (kernel.static_shared > limit) {
            char text[64];
            std::snprintf(text, sizeof text, "' uses too much shared data (0x%x bytes, 0x%x max)\n",
                          kernel.static_shared, limit);
            out += "ptxas error   : Entry function '" + kernel.name + text;
        }
    return out;
}

// Formats NVRTC's message for too many bytes of parameters, which does not count padding.
std::string too_long_parameters(const Contents& contents, const std::string& program)
{
    std::string out;
    for (const KernelInfo& kernel : contents.kernels) {
        size_t bytes = 0;
        for (const EmuParameter& parameter : kernel.parameters)
            bytes += parameter.size;
        if (bytes > parameter_limit())
            out += program + (kernel.line ? "(" + std::to_string(kernel.line) + ")" : "") + ": Error: Formal parameter space overflowed (" +
                   std::to_string(bytes) + " bytes required, max " + std::to_string(parameter_limit()) +
                   " bytes allowed) in function " + kernel.name + "\n";
    }
    return out;
}

Sources sources_of(const CompileRequest& request)
{
    Sources sources;
    sources.program = request.name;
    sources.texts[request.name] = request.source;
    for (const Header& header : request.headers)
        sources.texts[header.name] = header.text;
    std::string& names = sources.texts[name_map];
    names = "\n";
    for (const std::string& expression : request.name_expressions)
        names += "#pragma nv_mangled_name " + expression + "\n";
    return sources;
}

CompileResult failed(CompileStatus status, std::string log)
{
    CompileResult result;
    result.status = status;
    result.log = std::move(log);
    return result;
}

bool may_cache(const CompileRequest& request)
{
    bool may = !names_time(request.source);
    for (const Header& header : request.headers)
        may = may && !names_time(header.text);
    return may;
}

// Keeps the source in a section that is not loaded, for the source lines in reports: its name and its text, each with a
// terminating zero.
std::string source_section(const CompileRequest& request)
{
    std::string out =
        "asm(R\"emu(.pushsection .emu_source,\"\",@progbits\n.asciz \"" + assembler_string(request.name) + "\"\n";
    for (size_t at = 0; at < request.source.size();) {
        size_t end = std::min(request.source.find('\n', at), request.source.size() - 1) + 1;
        out += ".ascii \"" + assembler_string(request.source.substr(at, end - at)) + "\"\n";
        at = end;
    }
    return out + ".byte 0\n.popsection)emu\");\n";
}

Unit unit_of(const CompileRequest& request, const Options& options, const std::string& text)
{
    Unit unit;
    unit.name = request.name;
    unit.architecture = options.architecture;
    unit.suffix = options.suffix;
    unit.standard = options.standard;
    unit.debug = options.debug;
    unit.relocatable = options.relocatable;
    unit.registers = options.registers;
    // std::move needs C++11, as in NVRTC.
    bool has_move = options.has_move && options.standard != 3;
    unit.text = source_section(request) + (has_move ? "#include <emulator_move.h>\n" : "") + text;
    return unit;
}

CompileResult compile_program(const CompileRequest& request, const Options& options, std::vector<std::string>* files)
{
    if (!toolchain().error.empty())
        return failed(CompileStatus::no_toolchain, toolchain().error + "\n");
    Sources sources = sources_of(request);
    DiagnosticStyle style{options.no_warnings, options.error_numbers, options.brief, options.warnings_are_errors,
                          options.suppressed};
    Preprocessed text = preprocess(request, options, sources, style);
    if (!text.done)
        return failed(CompileStatus::compile_error, text.report.log);
    Rewritten rewritten = rewrite(text.text, {options.default_device, options.int128, request.name_expressions,
                                              device_headers(), config().checks.initialized});
    if (!rewritten.errors.empty())
        return failed(CompileStatus::compile_error, report_errors(rewritten.errors, sources).log);
    for (const std::string& file : rewritten.files)
        if (sources.texts.count(file) == 0)
            files->push_back(file);

    Unit unit = unit_of(request, options, rewritten.text);
    Built built = build_unit(unit, options.relocatable ? Shape::object : Shape::module);
    // PTX may refer to undefined symbols, which only loading or linking reports.
    if (!built.done && !options.real_architecture && built.diagnostics.compare(0, 6, "ptxas ") == 0)
        built = build_unit(unit, Shape::object);
    if (built.no_toolchain)
        return failed(CompileStatus::no_toolchain, built.diagnostics);
    Report report = translate_diagnostics(
        is_linker_text(built.diagnostics) ? built.diagnostics : text.warnings + built.diagnostics, sources, style);
    if (!built.done || report.errors)
        return failed(CompileStatus::compile_error, report.log.empty() ? built.diagnostics : report.log);

    Contents contents = read_contents(built.bytes);
    std::string excess = options.link_time ? "" : too_long_parameters(contents, request.name);
    if (excess.empty() && options.real_architecture && !options.link_time)
        excess = check_parameters(contents).text + (options.relocatable ? "" : too_much_shared(contents));
    if (!excess.empty())
        return failed(CompileStatus::compile_error, report.log + excess);

    CompileResult result;
    result.log = report.log;
    if (!find_lowered(built.bytes, request.name_expressions, &result))
        return failed(CompileStatus::name_expression_not_valid, result.log);
    for (const KernelInfo& kernel : contents.kernels)
        unit.entries.push_back(kernel.name);
    std::string container = container_of(unit);
    container.push_back('\0');
    if (options.link_time)
        result.lto = bytes_of(container);
    else {
        result.ptx = bytes_of(container);
        if (options.real_architecture)
            result.cubin = std::move(built.bytes);
    }
    result.status = CompileStatus::ok;
    return result;
}

// Programs that use it only need to find it.
const char pch_text[] = "cuda.emulator: a precompiled header, which no compilation needs\n";

} // namespace

std::vector<int> supported_architectures()
{
    return known_architectures();
}

CompileResult compile(const CompileRequest& asked)
{
    CompileRequest request = asked;
    if (request.name.empty())
        request.name = "default_program";
    if (config().checks.coverage || config().checks.advice || config().checks.debug)
        request.name = covered_name(request.name, request.source);
    Options options = read_options(request.options);
    if (!options.valid)
        return failed(CompileStatus::invalid_option, options.log);
    if (options.optix)
        return failed(CompileStatus::compile_error, "the software device does not produce OptiX IR\n");
    if (!options.use_pch.empty() && access(options.use_pch.c_str(), R_OK) != 0)
        return failed(CompileStatus::compile_error, "Catastrophic error: cannot open precompiled header file \"" +
                                                        options.use_pch +
                                                        "\"\n\n1 catastrophic error detected in the compilation of \"" +
                                                        request.name + "\".\nCompilation terminated.\n");
    if (!find_compiler().error.empty())
        return failed(CompileStatus::no_toolchain, find_compiler().error + "\n");
    bool cacheable = may_cache(request);
    std::string key = cacheable ? request_key(request) : "";
    CompileResult result;
    if (!cacheable || !load_cached(key, &result)) {
        std::vector<std::string> files;
        timespec begin{};
        clock_gettime(CLOCK_REALTIME_COARSE, &begin); // the clock of file systems
        result = compile_program(request, options, &files);
        if (result.status == CompileStatus::ok && cacheable)
            store(key, result, read_paths(request, options, files), nanoseconds(begin));
    }
    result.log = options.log + result.log;
    if (!options.create_pch.empty())
        result.pch = write_file(options.create_pch, pch_text, sizeof pch_text - 1) ? CompileResult::Pch::created
                                                                                  : CompileResult::Pch::failed;
    return result;
}

} // namespace emu::front
