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
    int status = -1;       // exit status; -1: could not be started, or ended by a signal
    std::string out, err;
    std::string failure;   // why it could not be started
};

// Runs a program found by PATH with `input` on its standard input. Input and output go
// through memory files, so no pipe can fill up.
ProcessResult run_process(const std::vector<std::string>& command, const std::string& input);

// While it lives, this thread's child processes are killed, with their own, once the function gives true.
class CancelScope {
public:
    explicit CancelScope(std::function<bool()> is_cancelled);
    ~CancelScope();
    CancelScope(const CancelScope&) = delete;
    CancelScope& operator=(const CancelScope&) = delete;
    bool happened() const { return happened_; }
    bool ask() { return happened_ = happened_ || is_cancelled_(); }

private:
    std::function<bool()> is_cancelled_;
    CancelScope* outer_;
    bool happened_ = false;
};

// A folder that vanishes with the object. Tries TMPDIR, /tmp, /dev/shm, /var/tmp and the
// working folder.
class TemporaryFolder {
public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    const std::string& path() const { return path_; } // empty: none could be made

private:
    std::string path_;
};

bool read_file(const std::string& path, Bytes* out);
bool write_file(const std::string& path, const void* data, size_t size);

// Files that nobody but this user, or root, can have written. Reads a regular file, without following a
// link or waiting, as for the writer of a FIFO; false for anything else. `accepts` sees the first `head`
// bytes and the size of the file, and decides whether the rest is read.
bool read_private_file(const std::string& path, size_t head,
                       const std::function<bool(const std::byte*, uint64_t)>& accepts, Bytes* out);
// Makes a new file that only its owner reads and writes, whatever the umask; false when the path is taken.
bool write_private_file(const std::string& path, const void* data, size_t size);
// Makes the folders that are missing, for their owner alone, whatever the umask.
bool make_private_folders(const std::string& path);
// Whether this is a folder, or a regular file, and no link to one, of this user or root, that others cannot write.
bool is_private(const std::string& path, bool is_folder);
void remove_folder(const std::string& path); // with what is in it
// A descriptor of a memory file that holds these bytes; -1 on failure.
int memory_file(const char* name, const void* data, size_t size);

std::string text_of(const Bytes& bytes);
Bytes bytes_of(const std::string& text);

// FNV-1a in two lanes of 64 bits: keys of the cache, not security.
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
