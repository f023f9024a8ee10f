// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Libraries of object files (.a), as `ar` makes them.
#pragma once

#include "front.hpp"

namespace emu::front {

bool is_archive(const void* image, size_t size);
// The members, named "library(member)". False: damaged.
bool read_archive(const LinkInput& library, std::vector<LinkInput>* members);
// Takes those objects out of `members` that `objects` need, directly or not, and adds them there.
void take_needed(std::vector<LinkInput>* members, std::vector<LinkInput>* objects);

} // namespace emu::front
