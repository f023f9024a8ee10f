// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Planned faults: driver calls that fail on purpose. A plan has the form
//
//   PATTERN[@N[+]][:TIME]=CODE
//
// PATTERN  names of driver functions, with * and ?, separated by commas; with or without version suffix; a name
//          after ! is exempt
// @N       the N-th matching call; @N+ that call and all later ones; by default every matching call
// TIME     before (default): the call has no effect; after: it has its effect and returns the error;
//          later: the call succeeds and the context fails, as after an asynchronous error;
//          hang: the call starts only when the plan is removed, and then as usual; the code is ignored
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

// Counts the call in every plan that it matches. If several plans are due, the first one decides.
PlannedFault next_fault(const char* name, const char* symbol);
// Returns the new plan's id, or 0, and the problem in `error`, if the text is invalid.
int add_plan(const std::string& text, std::string* error);
bool remove_plan(int id);
void wait_until_removed(int plan);
// Returns how many calls matched and failed, and the last one that failed.
bool plan_state(int id, uint64_t* matched, uint64_t* fired, std::string* last);
// Adds the plans of CUDA_EMULATOR_FAIL. Returns the error of the first invalid one, or an empty string.
std::string plans_from_variable();

void set_locator(state::Locator locator); // null: none; lets reports name the place of allocating calls
void set_failing(bool on); // tells the gate whether calls must check for faults

} // namespace emu::abi
