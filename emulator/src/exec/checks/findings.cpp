// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "findings.hpp"

#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

#include "../../config.hpp"
#include "report.hpp"

namespace emu::exec {
namespace {

bool ends_with_path(const std::string& file, const std::string& end)
{
    size_t extra = file.size() - end.size();
    return file.size() >= end.size() && !file.compare(extra, end.size(), end) && (!extra || file[extra - 1] == '/');
}

// Returns why a finding is suppressed, or an empty string.
std::string reason_of(const Fault& fault)
{
    for (const Suppression& row : config().suppressions)
        if (row.kind == finding_name(fault.kind) && (!row.line || row.line == fault.line) &&
            ends_with_path(fault.file, row.file))
            return row.reason;
    return {};
}

std::string quoted(const std::string& text)
{
    std::string out = "\"";
    for (unsigned char c : text) {
        char code[8];
        std::snprintf(code, sizeof code, c < 0x20 || c == '"' || c == '\\' ? "\\u%04x" : "%c", c);
        out += code;
    }
    return out + "\"";
}

std::string listed(const Dim3& index)
{
    return "[" + std::to_string(index.x) + ", " + std::to_string(index.y) + ", " + std::to_string(index.z) + "]";
}

} // namespace

bool goes_on(Carrier& carrier, const Trouble& trouble)
{
    if (config().keep_going == 1 && config().suppressions.empty())
        return false;
    Launch& launch = *carrier.launch;
    if (launch.knows(trouble))
        return true;
    bool continues = false;
    carrier.on_thread_stack([&] {
        Locked locked;
        Fault fault = make_fault(carrier, trouble);
        std::string reason = reason_of(fault);
        continues = launch.note(trouble, fault, !reason.empty());
        if (continues)
            record_finding(fault, reason);
    });
    return continues;
}

void record_finding(const Fault& fault, const std::string& reason)
{
    if (config().report.empty() || !*finding_name(fault.kind))
        return;
    std::string row = "{\"kind\": " + quoted(finding_name(fault.kind)) + ", \"kernel\": " + quoted(fault.kernel) +
                      ", \"file\": " + quoted(fault.file) + ", \"line\": " + std::to_string(fault.line) +
                      ", \"block\": " + listed(fault.block) + ", \"thread\": " + listed(fault.thread) +
                      ", \"text\": " + quoted(fault.text) + ", \"reason\": " + quoted(reason) + "}\n";
    std::string path = config().report + "/" + std::to_string(getpid()) + ".findings";
    int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    bool written = file >= 0 && write(file, row.data(), row.size()) == ssize_t(row.size());
    if (file >= 0)
        close(file);
    if (!written)
        say("the findings cannot be written to " + path);
}

} // namespace emu::exec
