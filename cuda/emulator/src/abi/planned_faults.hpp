// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Planned faults: driver calls that fail on purpose. A plan is written
//
//   PATTERN[@N[+]][:TIME]=CODE
//
// PATTERN  names of driver functions, with * and ?, separated by commas; with or without
//          version suffix; one behind ! is exempt
// @N       the N-th call that matches; @N+ that one and all later ones; without: every one
// TIME     before (default): nothing was done; after: it was done, and the error is given;
//          later: the call succeeds and the context fails, as after an asynchronous error
// CODE     CUDA_ERROR_OUT_OF_MEMORY or 2
//
// CUDA_EMULATOR_FAIL holds plans separated by semicolons.
#pragma once

#include "../common.hpp"

namespace emu::abi {

enum class FaultTime { none, before, after, later };

struct PlannedFault {
    FaultTime when = FaultTime::none;
    CUresult code = CUDA_SUCCESS;
};

// Counts the call in every plan that it matches; the first plan whose turn it is wins.
PlannedFault next_fault(const char* name, const char* symbol);
// The id of the new plan; 0 and a sentence when the text is not one.
int add_plan(const std::string& text, std::string* error);
bool remove_plan(int id);
// Calls that matched, calls that failed, and the last one that failed.
bool plan_state(int id, uint64_t* matched, uint64_t* fired, std::string* last);
void plan_from_variable();

void set_failing(bool on); // of the gate: whether calls ask for faults at all

} // namespace emu::abi
