// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "multicast.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "virtual_space.hpp"

namespace emu::state {

namespace {

constexpr unsigned most_devices = 64, most_bindings = 1024;
constexpr int most_waits = 30'000; // how long to wait for other processes to add their devices, in milliseconds

std::shared_ptr<void> map_file(int file, size_t size)
{
    void* host = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (host == MAP_FAILED)
        return nullptr;
    return {host, [size](void* start) { munmap(start, size); }};
}

} // namespace

struct Multicast::Binding {
    uint64_t offset, size, number, inode; // the inode of the memory's file
    int device, process, file;            // the process that has the file, and its descriptor there
};

struct Multicast::Shared {
    pthread_mutex_t mutex;
    bool has_processes;
    unsigned team, device_count, binding_count;
    uint64_t size, last_number;
    int devices[most_devices];
    Binding bindings[most_bindings];
};

class Multicast::Lock {
public:
    explicit Lock(Shared* shared) : mutex_(&shared->mutex)
    {
        if (pthread_mutex_lock(mutex_) == EOWNERDEAD)
            pthread_mutex_consistent(mutex_);
    }
    ~Lock() { pthread_mutex_unlock(mutex_); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

private:
    pthread_mutex_t* mutex_;
};

std::shared_ptr<Multicast> Multicast::create(int file, const CUmulticastObjectProp_st& properties)
{
    void* start = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (start == MAP_FAILED)
        return nullptr;
    auto* shared = static_cast<Shared*>(start); // zeros
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&shared->mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    shared->has_processes = properties.handleTypes != CU_MEM_HANDLE_TYPE_NONE;
    shared->team = properties.numDevices;
    shared->size = properties.size;
    return std::shared_ptr<Multicast>(new Multicast(shared));
}

std::shared_ptr<Multicast> Multicast::open(int file)
{
    void* start = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return start == MAP_FAILED ? nullptr : std::shared_ptr<Multicast>(new Multicast(static_cast<Shared*>(start)));
}

Multicast::~Multicast()
{
    munmap(shared_, sizeof(Shared));
}

unsigned Multicast::find(size_t offset, size_t size, void** places)
{
    unsigned count = 0;
    Lock lock(shared_);
    for (unsigned i = 0; i < shared_->device_count; ++i) {
        Binding* end = shared_->bindings + shared_->binding_count;
        const Binding* found = std::find_if(shared_->bindings + 0, end, [&](const Binding& binding) {
            return binding.device == shared_->devices[i] && offset >= binding.offset &&
                   offset - binding.offset < binding.size && size <= binding.size - (offset - binding.offset);
        });
        void* host = found == end ? nullptr : host_of(*found);
        if (!host)
            return 0;
        places[count++] = static_cast<std::byte*>(host) + (offset - found->offset);
    }
    return count;
}

// Memory bound by another process, which must be running then, is mapped on first use.
void* Multicast::host_of(const Binding& binding)
{
    auto known = memory_.find(binding.number);
    if (known != memory_.end())
        return known->second.host.get();
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%d/fd/%d", binding.process, binding.file);
    int file = ::open(path, O_RDWR | O_CLOEXEC);
    struct stat status;
    std::shared_ptr<void> host;
    if (file >= 0 && fstat(file, &status) == 0 && status.st_ino == binding.inode)
        host = map_file(file, binding.size);
    if (file >= 0)
        close(file);
    if (host)
        memory_[binding.number] = {nullptr, host};
    return host.get();
}

// Another process may have unbound memory of this one.
void Multicast::drop_unbound()
{
    Binding* end = shared_->bindings + shared_->binding_count;
    for (auto row = memory_.begin(); row != memory_.end();) {
        bool is_bound = std::any_of(shared_->bindings + 0, end,
                                    [&](const Binding& binding) { return binding.number == row->first; });
        row = is_bound ? std::next(row) : memory_.erase(row);
    }
}

CUresult Multicast::add_device(int device)
{
    Lock lock(shared_);
    int* end = shared_->devices + shared_->device_count;
    if (std::find(shared_->devices, end, device) != end || shared_->device_count == shared_->team)
        return CUDA_ERROR_INVALID_VALUE;
    shared_->devices[shared_->device_count++] = device;
    return CUDA_SUCCESS;
}

bool Multicast::is_complete() const
{
    for (int waits = 0;; ++waits) {
        {
            Lock lock(shared_);
            if (shared_->device_count == shared_->team)
                return true;
        }
        if (!shared_->has_processes || waits == most_waits)
            return false;
        timespec pause{0, 1'000'000};
        nanosleep(&pause, nullptr);
    }
}

CUresult Multicast::bind(int device, size_t offset, size_t size, int file, std::shared_ptr<void> memory)
{
    constexpr size_t unit = VirtualSpace::unit;
    Lock lock(shared_);
    drop_unbound();
    int* devices_end = shared_->devices + shared_->device_count;
    if (std::find(shared_->devices, devices_end, device) == devices_end || !size || offset % unit || size % unit ||
        offset > shared_->size || size > shared_->size - offset)
        return CUDA_ERROR_INVALID_VALUE;
    Binding* end = shared_->bindings + shared_->binding_count;
    bool overlaps = std::any_of(shared_->bindings + 0, end, [&](const Binding& binding) {
        return binding.device == device && binding.offset < offset + size && offset < binding.offset + binding.size;
    });
    struct stat status;
    if (overlaps || fstat(file, &status))
        return CUDA_ERROR_INVALID_VALUE;
    auto host = map_file(file, size);
    if (!host || shared_->binding_count == most_bindings)
        return CUDA_ERROR_OUT_OF_MEMORY;
    uint64_t number = ++shared_->last_number;
    memory_[number] = {std::move(memory), std::move(host)};
    *end = {offset, size, number, status.st_ino, device, int(getpid()), file};
    ++shared_->binding_count;
    return CUDA_SUCCESS;
}

CUresult Multicast::unbind(int device, size_t offset, size_t size)
{
    std::map<uint64_t, Memory> ended; // destroyed after the lock is released
    Lock lock(shared_);
    Binding* end = shared_->bindings + shared_->binding_count;
    // The bindings that are entirely within the range must fill it.
    auto is_within = [&](const Binding& binding) {
        return binding.device == device && binding.offset >= offset && binding.size <= size &&
               binding.offset - offset <= size - binding.size;
    };
    uint64_t filled = 0;
    for (Binding* binding = shared_->bindings; binding != end; ++binding)
        filled += is_within(*binding) ? binding->size : 0;
    if (!size || filled != size)
        return CUDA_ERROR_INVALID_VALUE; // not whole bindings
    for (Binding* binding = shared_->bindings; binding != end; ++binding)
        if (auto row = memory_.find(binding->number); is_within(*binding) && row != memory_.end())
            ended.insert(memory_.extract(row));
    shared_->binding_count = unsigned(std::remove_if(shared_->bindings + 0, end, is_within) - shared_->bindings);
    return CUDA_SUCCESS;
}

} // namespace emu::state
