// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Static libraries of object files (.a), as written by `ar`.
#pragma once

#include "front.hpp"

namespace emu::front {

bool is_archive(const void* image, size_t size);
// Reads the members, named "library(member)". Returns false if the file is malformed.
bool read_archive(const LinkInput& library, std::vector<LinkInput>* members);
// Moves the members that `objects` need, directly or indirectly, from `members` to `objects`.
void take_needed(std::vector<LinkInput>* members, std::vector<LinkInput>* objects);

} // namespace emu::front
