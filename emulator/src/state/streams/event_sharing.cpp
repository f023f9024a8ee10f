// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "event_sharing.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

#include "../memory/virtual_space.hpp"

namespace emu::state {
namespace {

constexpr uint64_t event_handle_magic = 0x656d756576656e74; // "emuevent"

// A zombie counts as ended, because its parent might be the waiting process.
bool has_ended(int process)
{
    char path[64], line[256];
    std::snprintf(path, sizeof path, "/proc/%d/stat", process);
    int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return errno == ENOENT;
    ssize_t size = ::read(file, line, sizeof line - 1);
    ::close(file);
    line[std::max<ssize_t>(size, 0)] = '\0';
    const char* name_end = std::strrchr(line, ')'); // the state follows the name
    return name_end && name_end[1] && (name_end[2] == 'Z' || name_end[2] == 'X');
}

} // namespace

struct SharedEvent::Page {
    std::atomic<uint64_t> begun, done;
    std::atomic<int> recorder; // the process that made the last record
    int device;
};

std::shared_ptr<SharedEvent> SharedEvent::make(int device)
{
    auto event = std::make_shared<SharedEvent>();
    MemoryNote note;
    note.kind = MemoryNote::Kind::event;
    note.size = page_bytes;
    event->file_ = make_memory_file("emulator-event", &note);
    if (event->file_ < 0)
        return nullptr;
    void* page = mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, event->file_, 0);
    if (page == MAP_FAILED)
        return nullptr;
    event->page_ = static_cast<Page*>(page);
    event->page_->device = device;
    return event;
}

// A handle names the process that created the event, which must be alive, and its descriptor there.
CUresult SharedEvent::open(const CUipcEventHandle& handle, std::shared_ptr<SharedEvent>* out)
{
    HandleData data;
    std::memcpy(&data, &handle, sizeof data);
    if (data.magic != event_handle_magic)
        return CUDA_ERROR_INVALID_VALUE;
    if (data.process == getpid())
        return CUDA_ERROR_INVALID_CONTEXT; // like hardware drivers
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%d/fd/%d", data.process, data.file);
    auto event = std::make_shared<SharedEvent>();
    event->file_ = ::open(path, O_RDWR | O_CLOEXEC);
    MemoryNote note;
    if (!read_memory_note(event->file_, &note) || note.kind != MemoryNote::Kind::event || note.number != data.number)
        return CUDA_ERROR_INVALID_VALUE;
    void* page = mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, event->file_, 0);
    if (page == MAP_FAILED)
        return CUDA_ERROR_OUT_OF_MEMORY;
    event->page_ = static_cast<Page*>(page);
    event->opened_ = true;
    *out = std::move(event);
    return CUDA_SUCCESS;
}

SharedEvent::~SharedEvent()
{
    if (page_)
        munmap(page_, page_bytes);
    if (file_ >= 0)
        close(file_);
}

CUresult SharedEvent::describe(CUipcEventHandle* out) const
{
    MemoryNote note;
    if (opened_ || !read_memory_note(file_, &note))
        return CUDA_ERROR_INVALID_HANDLE;
    HandleData data{event_handle_magic, note.number, int(getpid()), file_};
    std::memset(out, 0, sizeof *out);
    std::memcpy(out, &data, sizeof data);
    return CUDA_SUCCESS;
}

int SharedEvent::device() const
{
    return page_->device;
}

uint64_t SharedEvent::begin()
{
    page_->recorder = int(getpid());
    return page_->begun.fetch_add(1) + 1;
}

void SharedEvent::finish(uint64_t number)
{
    uint64_t done = page_->done.load();
    while (done < number && !page_->done.compare_exchange_weak(done, number)) {}
}

uint64_t SharedEvent::latest() const
{
    return page_->begun.load();
}
bool SharedEvent::reached(uint64_t number) const
{
    return page_->done.load() >= number || has_ended(page_->recorder.load());
}

void SharedEvent::wait(uint64_t number, const std::function<bool()>& gives_up) const
{
    for (int round = 0; page_->done.load() < number && !gives_up(); ++round) {
        std::this_thread::sleep_for(std::chrono::microseconds(round < 100 ? 20 : 200));
        if (round % 500 == 499 && reached(number))
            return;
    }
}

} // namespace emu::state
