// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The C functions for pipelines; the class is in CCCL's <cuda/pipeline>.
#pragma once
#include <cuda_pipeline_primitives.h>
