// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// The registries of handles by their raw values, one of each kind per process.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "values.hpp"

namespace cuda_core {

// Maps a raw value to its live handle, so that a value that the driver returns leads to the existing handle. Entries
// whose handle has expired are replaced or removed, live ones never.
template <class T>
class Registry {
public:
    using H = Handle<T>;

    // Returns the live handle of the same value; if there is none, registers `handle`, unless it is empty.
    H add(const H& handle) {
        if (!handle) return handle;
        State& state = state_.current();
        std::lock_guard<std::mutex> lock(state.mutex);
        auto [place, is_new] = state.cells.try_emplace(handle.get(), handle.cell_);
        if (!is_new) {
            if (place->second->add_reference_if_alive()) return H(place->second);
            place->second->drop_weak();
            place->second = handle.cell_;
        }
        handle.cell_->add_weak();
        return handle;
    }

    // The live handle of `value`, or an empty one.
    H find(T value) {
        State& state = state_.current();
        std::lock_guard<std::mutex> lock(state.mutex);
        auto place = state.cells.find(value);
        if (place == state.cells.end() || !place->second->add_reference_if_alive()) return H();
        return H(place->second);
    }

    // Called before the value is destroyed, because the driver may then return the same value for a new resource.
    void remove(T value) noexcept {
        State& state = state_.current();
        std::lock_guard<std::mutex> lock(state.mutex);
        auto place = state.cells.find(value);
        if (place == state.cells.end() || place->second->is_alive()) return;
        place->second->drop_weak();
        state.cells.erase(place);
    }

    std::vector<H> living() {
        State& state = state_.current();
        std::lock_guard<std::mutex> lock(state.mutex);
        std::vector<H> found;
        for (auto& [value, cell] : state.cells)
            if (cell->add_reference_if_alive()) found.push_back(H(cell));
        return found;
    }

    std::size_t size() {
        State& state = state_.current();
        std::lock_guard<std::mutex> lock(state.mutex);
        return state.cells.size();
    }

private:
    struct State {
        std::mutex mutex;
        std::unordered_map<T, typename H::TypedCell*> cells;
    };

    PerProcess<State> state_;
};

// Never destroyed, because threads may outlive the interpreter.
CUDA_CORE_API Registry<CUcontext>* context_registry() noexcept;
CUDA_CORE_API Registry<Green>* green_registry() noexcept;
CUDA_CORE_API Registry<CUstream>* stream_registry() noexcept;
CUDA_CORE_API Registry<CUkernel>* kernel_registry() noexcept;

}  // namespace cuda_core
