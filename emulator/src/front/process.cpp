// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <csignal>
#include <fcntl.h>
#include <mutex>
#include <poll.h>
#include <set>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "../exec/fork.hpp"

extern char** environ;

namespace emu::front {
namespace {

// Writes a whole file.
bool write_all(int fd, const void* data, size_t size)
{
    if (size > file_size_limit())
        return false;
    auto* at = static_cast<const char*>(data);
    while (size) {
        ssize_t done = ::write(fd, at, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        at += done;
        size -= size_t(done);
    }
    return true;
}

std::string read_all(int fd)
{
    std::string text;
    struct stat info{};
    if (fstat(fd, &info) || info.st_size <= 0)
        return text;
    text.resize(size_t(info.st_size));
    size_t have = 0;
    while (have < text.size()) {
        ssize_t got = pread(fd, &text[have], text.size() - have, off_t(have));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        have += size_t(got);
    }
    text.resize(have);
    return text;
}

// The C locale, so messages can be parsed, without variables that would change a compiler's behavior. A compiler that is
// killed leaves its temporary files, so they are in a directory of ours.
std::vector<std::string> child_environment(const std::string& temporary)
{
    static const char* const dropped[] = {
        "LC_ALL=",     "LANG=",
        "LANGUAGE=",   "LC_MESSAGES=",
        "CPATH=",      "CPLUS_INCLUDE_PATH=",
        "GCC_COLORS=", "SOURCE_DATE_EPOCH=",
        "LD_PRELOAD=", "DEPENDENCIES_OUTPUT=",
        "LD_RUN_PATH=", "SUNPRO_DEPENDENCIES=",
        "GCC_COMPARE_DEBUG=", "CCC_OVERRIDE_OPTIONS=",
        "TMPDIR=",
    };
    std::vector<std::string> out;
    for (char** at = environ; at && *at; ++at) {
        bool keep = true;
        for (const char* name : dropped)
            keep = keep && std::strncmp(*at, name, std::strlen(name)) != 0;
        if (keep)
            out.emplace_back(*at);
    }
    out.emplace_back("LC_ALL=C");
    if (!temporary.empty())
        out.push_back("TMPDIR=" + temporary);
    return out;
}

std::vector<char*> pointers(std::vector<std::string>& words)
{
    std::vector<char*> out;
    for (auto& word : words)
        out.push_back(word.data());
    out.push_back(nullptr);
    return out;
}

thread_local CancelScope* canceling = nullptr;

// The directories and process groups that this process must not leave behind, with the process that made them.
struct Temporary {
    std::mutex mutex;
    bool is_over = false;
    std::set<std::pair<pid_t, std::string>> folders;
    std::set<std::pair<pid_t, pid_t>> groups;

    bool is_idle() const { return !has_own(folders) && !has_own(groups); }
    template <class Rows> static bool has_own(const Rows& rows)
    {
        return std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.first == getpid(); });
    }
};

Temporary& temporary()
{
    return exec::only_object<Temporary>();
}

// At the exit, threads may still be compiling.
struct EndAtExit {
    ~EndAtExit()
    {
        Temporary& t = temporary();
        std::unique_lock lock(t.mutex);
        t.is_over = true;
        for (const auto& row : t.groups)
            if (row.first == getpid())
                kill(-row.second, SIGKILL);
        for (int i = 0; i < 100 && !t.is_idle(); ++i) { // those threads remove their own directories
            lock.unlock();
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            lock.lock();
        }
        for (const auto& row : t.folders)
            if (row.first == getpid())
                remove_folder(row.second);
    }
} end_at_exit;

// A started process, with its own process group. All its members have an end of the same pipe.
class Child {
public:
    Child(const std::vector<std::string>& command, const int (&files)[3], const std::string& folder);
    ~Child();
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    int error() const { return error_; }
    int wait();

private:
    void watch();

    int pipe_[2] = {-1, -1};
    pid_t pid_ = -1;
    int error_ = ENFILE;
};

Child::Child(const std::vector<std::string>& command, const int (&files)[3], const std::string& folder)
{
    if (files[0] < 0 || files[1] < 0 || files[2] < 0 || pipe2(pipe_, O_CLOEXEC))
        return;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    // A separate process group: Ctrl-C in the terminal is for the program, whose other threads may be compiling.
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    for (int i = 0; i < 3; ++i)
        posix_spawn_file_actions_adddup2(&actions, files[i], i);
    posix_spawn_file_actions_adddup2(&actions, pipe_[1], 3);
    std::vector<std::string> words = command, environment = child_environment(folder);
    Temporary& t = temporary();
    {
        std::lock_guard lock(t.mutex);
        error_ = t.is_over ? ECANCELED
                           : posix_spawnp(&pid_, words[0].c_str(), &actions, &attributes, pointers(words).data(),
                                          pointers(environment).data());
        if (!error_)
            t.groups.insert({getpid(), pid_});
    }
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    close(std::exchange(pipe_[1], -1));
}

Child::~Child()
{
    if (!error_) {
        std::lock_guard lock(temporary().mutex);
        temporary().groups.erase({getpid(), pid_});
    }
    for (int end : pipe_)
        if (end >= 0)
            close(end);
}

// Returns when the child has exited. Kills it if cancellation is requested.
void Child::watch()
{
    int descriptor = int(syscall(SYS_pidfd_open, pid_, 0));
    while (descriptor >= 0) {
        pollfd ended = {descriptor, POLLIN, 0};
        if (poll(&ended, 1, 20) > 0)
            break;
        if (canceling->ask()) {
            kill(-pid_, SIGKILL);
            break;
        }
    }
    if (descriptor >= 0)
        close(descriptor);
}

int Child::wait()
{
    if (canceling)
        watch();
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0) {
        if (errno == EINTR)
            continue;
        return 0; // SIGCHLD is ignored in this process, so no status is kept: judge by the output
    }
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    pollfd group = {pipe_[0], POLLIN, 0}; // after a kill, its own children may still be creating files
    while (poll(&group, 1, 1000) < 0 && errno == EINTR)
        continue;
    return -1;
}

// Every step is relative to an open directory, so a link planted by another user leads nowhere.
void remove_folder_at(int parent, const char* path)
{
    int here = openat(parent, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR* folder = here < 0 ? nullptr : fdopendir(here);
    if (!folder) {
        if (here >= 0)
            close(here);
        return;
    }
    while (dirent* entry = readdir(folder)) {
        std::string name = entry->d_name;
        if (name == "." || name == "..")
            continue;
        if (unlinkat(here, name.c_str(), 0) && (errno == EISDIR || errno == EPERM))
            remove_folder_at(here, name.c_str());
    }
    closedir(folder);
    unlinkat(parent, path, AT_REMOVEDIR);
}

} // namespace

void remove_folder(const std::string& path)
{
    remove_folder_at(AT_FDCWD, path.c_str());
}

int memory_file(const char* name, const void* data, size_t size)
{
    int fd = memfd_create(name, MFD_CLOEXEC);
    if (fd < 0)
        return -1;
    if (write_all(fd, data, size) && lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    close(fd);
    return -1;
}

ProcessResult run_process(const std::vector<std::string>& command, const std::string& input)
{
    ProcessResult result;
    if (canceling && canceling->happened()) {
        result.failure = "canceled";
        return result;
    }
    int files[3] = {memory_file("emu-in", input.data(), input.size()), memory_file("emu-out", "", 0),
                    memory_file("emu-err", "", 0)};
    TemporaryFolder folder;
    {
        Child child(command, files, folder.path());
        if (child.error())
            result.failure = std::strerror(child.error());
        else
            result.status = child.wait();
    }
    if (result.failure.empty()) {
        result.out = read_all(files[1]);
        result.err = read_all(files[2]);
    }
    for (int fd : files)
        if (fd >= 0)
            close(fd);
    return result;
}

CancelScope::CancelScope(std::function<bool()> is_canceled)
    : is_canceled_(std::move(is_canceled)), outer_(std::exchange(canceling, this))
{
}

CancelScope::~CancelScope()
{
    canceling = outer_;
}

TemporaryFolder::TemporaryFolder()
{
    const char* wanted = std::getenv("TMPDIR");
    for (const char* base : {wanted, "/tmp", "/dev/shm", "/var/tmp", "."}) {
        if (!base || !*base)
            continue;
        std::string path = std::string(base) + "/cuda-emulator-XXXXXX";
        std::lock_guard lock(temporary().mutex);
        if (!temporary().is_over && mkdtemp(path.data())) {
            temporary().folders.insert({getpid(), path});
            path_ = path;
            return;
        }
    }
}

TemporaryFolder::~TemporaryFolder()
{
    if (path_.empty())
        return;
    remove_folder(path_);
    std::lock_guard lock(temporary().mutex);
    temporary().folders.erase({getpid(), path_});
}

bool read_file(const std::string& path, Bytes* out)
{
    int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    std::string text = read_all(fd);
    close(fd);
    *out = bytes_of(text);
    return true;
}

bool write_file(const std::string& path, const void* data, size_t size)
{
    int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return false;
    bool done = write_all(fd, data, size);
    return close(fd) == 0 && done;
}

namespace {

bool is_private(const struct stat& info)
{
    return (info.st_uid == geteuid() || info.st_uid == 0) && !(info.st_mode & (S_IWGRP | S_IWOTH));
}

} // namespace

bool read_private_file(const std::string& path, size_t head,
                       const std::function<bool(const std::byte*, uint64_t)>& accepts, Bytes* out)
{
    int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    struct stat info{};
    Bytes first(head);
    bool usable = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && is_private(info) &&
                  pread(fd, first.data(), head, 0) == ssize_t(head) && accepts(first.data(), uint64_t(info.st_size));
    if (usable)
        *out = bytes_of(read_all(fd));
    close(fd);
    return usable && out->size() == size_t(info.st_size);
}

bool write_private_file(const std::string& path, const void* data, size_t size)
{
    int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    fchmod(fd, 0600); // the umask may have removed bits
    bool done = write_all(fd, data, size);
    return close(fd) == 0 && done;
}

bool make_private_folders(const std::string& path)
{
    for (size_t at = 1; at <= path.size(); ++at)
        if (at == path.size() || path[at] == '/') {
            std::string part = path.substr(0, at);
            if (mkdir(part.c_str(), 0700) == 0)
                chmod(part.c_str(), 0700);
            else if (errno != EEXIST)
                return false;
        }
    return true;
}

bool is_private(const std::string& path, bool is_folder)
{
    struct stat info{};
    return lstat(path.c_str(), &info) == 0 && is_private(info) &&
           (is_folder ? S_ISDIR(info.st_mode) : S_ISREG(info.st_mode));
}

std::string text_of(const Bytes& bytes)
{
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Bytes bytes_of(const std::string& text)
{
    auto* begin = reinterpret_cast<const std::byte*>(text.data());
    return Bytes(begin, begin + text.size());
}

void Hash::add(const void* data, size_t size)
{
    auto* at = static_cast<const unsigned char*>(data);
    for (size_t i = 0; i < size; ++i) {
        a_ = (a_ ^ at[i]) * 0x100000001b3u;
        b_ = (b_ + at[i]) * 0x9fb21c651e98df25u;
        b_ ^= b_ >> 29;
    }
}

void Hash::add(const std::string& text)
{
    add(uint64_t(text.size()));
    add(text.data(), text.size());
}

std::string Hash::hex() const
{
    char text[40];
    std::snprintf(text, sizeof text, "%016llx%016llx", (unsigned long long)a_, (unsigned long long)b_);
    return text;
}

} // namespace emu::front
