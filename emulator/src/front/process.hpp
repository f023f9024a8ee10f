// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Child processes and temporary files for the toolchain.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "../common.hpp"

namespace emu::front {

struct ProcessResult {
    int status = -1; // exit status; -1: not started, or killed by a signal
    std::string out, err;
    std::string failure; // why it was not started
};

// Runs a program from the PATH with `input` as its standard input. Input and output are memory files, so no pipe can
// fill up.
ProcessResult run_process(const std::vector<std::string>& command, const std::string& input);

// In its scope, this thread's child processes, and their own children, are killed once the function returns true.
class CancelScope {
public:
    explicit CancelScope(std::function<bool()> is_canceled);
    ~CancelScope();
    CancelScope(const CancelScope&) = delete;
    CancelScope& operator=(const CancelScope&) = delete;
    bool happened() const { return happened_; }
    bool ask() { return happened_ = happened_ || is_canceled_(); }

private:
    std::function<bool()> is_canceled_;
    CancelScope* outer_;
    bool happened_ = false;
};

// A directory that is removed with the object. Tries TMPDIR, /tmp, /dev/shm, /var/tmp and the working directory.
class TemporaryFolder {
public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    const std::string& path() const { return path_; } // empty: none could be created

private:
    std::string path_;
};

bool read_file(const std::string& path, Bytes* out);
bool write_file(const std::string& path, const void* data, size_t size);

// Reads a regular file that only this user or root can have written. Follows no link, and does not wait for the writer
// of a FIFO. Returns false for all other files. `accepts` gets the first `head` bytes and the size of the file, and
// decides whether the rest is read.
bool read_private_file(const std::string& path, size_t head,
                       const std::function<bool(const std::byte*, uint64_t)>& accepts, Bytes* out);
// Creates a file that only its owner can read and write, whatever the umask is. Returns false if the path exists.
bool write_private_file(const std::string& path, const void* data, size_t size);
// Creates missing directories for their owner alone, whatever the umask is.
bool make_private_folders(const std::string& path);
// Returns true for a directory (or a regular file) of this user or root that is not a link and that others cannot
// write.
bool is_private(const std::string& path, bool is_folder);
void remove_folder(const std::string& path); // with its contents; follows no link
// Returns the descriptor of a memory file with these bytes, or -1 on failure.
int memory_file(const char* name, const void* data, size_t size);

std::string text_of(const Bytes& bytes);
Bytes bytes_of(const std::string& text);

// FNV-1a in two lanes of 64 bits: for cache keys, not for security.
class Hash {
public:
    void add(const void* data, size_t size);
    void add(const std::string& text); // with its length, so that fields cannot run together
    void add(uint64_t value) { add(&value, sizeof value); }
    std::string hex() const;

private:
    uint64_t a_ = 0xcbf29ce484222325u, b_ = 0x9ae16a3b2f90404fu;
};

} // namespace emu::front
