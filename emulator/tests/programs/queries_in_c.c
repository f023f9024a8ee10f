// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// A part of queries.cu in C, which C++ does not accept.
#include <stdlib.h>

int count_of_wrong(const int *answers, int count)
{
    int *class = malloc(count * sizeof *class), wrong = 0;
    for (int i = 0; i < count; ++i)
        wrong += !(class[i] = answers[i]);
    free(class);
    return wrong;
}
