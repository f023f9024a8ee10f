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
//          later: the call succeeds and the context fails, as after an asynchronous error;
//          hang: the call begins only when the plan is removed, and then as usual; the code means nothing
// CODE     CUDA_ERROR_OUT_OF_MEMORY or 2
//
// CUDA_EMULATOR_FAIL holds plans separated by semicolons.
#pragma once

#include "../common.hpp"
#include "../state/origin.hpp"

namespace emu::abi {

enum class FaultTime { none, before, after, later, hang };

struct PlannedFault {
    FaultTime when = FaultTime::none;
    CUresult code = CUDA_SUCCESS;
    int plan = 0;
};

// Counts the call in every plan that it matches; of the plans that are due, the first one decides.
PlannedFault next_fault(const char* name, const char* symbol);
// Returns the id of the new plan; 0, with `error`, if the text is invalid.
int add_plan(const std::string& text, std::string* error);
bool remove_plan(int id);
void wait_until_removed(int plan);
// How many calls matched and failed, and the last one that failed.
bool plan_state(int id, uint64_t* matched, uint64_t* fired, std::string* last);
// Adds the plans of CUDA_EMULATOR_FAIL, and reports those that are wrong; returns whether all are valid.
bool plans_from_variable();

void set_locator(state::Locator locator); // null: none; it makes reports name the place of allocating calls
void set_failing(bool on); // tells the gate whether calls have to look for faults

} // namespace emu::abi
