// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// CUjit_option lists: only the log buffers have an effect here.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>

#include "../common.hpp"

namespace emu::abi {

class JitOptions {
public:
    CUresult read(unsigned count, CUjit_option* options, void** values)
    {
        if (count && (!options || !values))
            return CUDA_ERROR_INVALID_VALUE;
        for (unsigned i = 0; i < count; ++i) {
            Log& log = options[i] == CU_JIT_INFO_LOG_BUFFER || options[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES ? info_
                                                                                                               : error_;
            if (options[i] == CU_JIT_INFO_LOG_BUFFER || options[i] == CU_JIT_ERROR_LOG_BUFFER)
                log.text = static_cast<char*>(values[i]);
            else if (options[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES ||
                     options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) {
                log.size = unsigned(reinterpret_cast<uintptr_t>(values[i]));
                log.written = &values[i];
            }
        }
        return CUDA_SUCCESS;
    }

    void give(const std::string& info, const std::string& error)
    {
        info_.give(info);
        error_.give(error);
    }

private:
    struct Log {
        char* text = nullptr;
        size_t size = 0;
        void** written = nullptr; // receives the number of bytes written, as a value

        void give(const std::string& log)
        {
            size_t count = text && size ? std::min(log.size(), size - 1) : 0;
            if (text && size) {
                std::memcpy(text, log.data(), count);
                text[count] = 0;
            }
            if (written)
                *written = reinterpret_cast<void*>(uintptr_t(count));
        }
    };
    Log info_, error_;
};

} // namespace emu::abi
