// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// CUDA_EMULATOR_CHECK=initialized: which bytes of device memory, and of a block's shared memory, have been written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device_include/emulator_abi.h"

namespace emu::exec {

// One bit for each byte of memory on all devices. Other memory counts as written, because the host writes managed and
// pinned memory without a call. All functions do nothing if the check is off.
void reserve_contents(uintptr_t base, size_t size);
void describe_contents(EmuSpace* space); // for the loader
void forget_contents(uintptr_t base, size_t size); // called when the memory is allocated
void note_written(uintptr_t base, size_t size);
void note_copied(uintptr_t to, uintptr_t from, size_t size);
// For a copy to the host: finds the first range of at least 16 bytes that nobody has written, and returns its size, or 0.
// Padding in structures is shorter.
size_t find_unwritten(uintptr_t base, size_t size, uintptr_t* begin);
// Returns true if any byte has been written. One is enough, because a value's padding is never written.
bool has_contents(uintptr_t base, size_t size);

// The written bytes of a running block's shared memory, by index (Worker::shared_index).
class SharedContents {
public:
    void clear(size_t size) { written_.assign(size, 0); }
    void note_written(size_t index, size_t size)
    {
        for (size_t i = 0; i < size; ++i)
            written_[index + i] = 1;
    }
    bool has_contents(size_t index, size_t size) const
    {
        for (size_t i = 0; i < size; ++i)
            if (written_[index + i])
                return true;
        return false;
    }

private:
    std::vector<uint8_t> written_; // one for each byte, because a byte is faster to read than a bit
};

} // namespace emu::exec
