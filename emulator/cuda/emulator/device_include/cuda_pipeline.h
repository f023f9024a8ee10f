// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The functions of pipelines for C; <cuda/pipeline> of CCCL has the class.
#pragma once
#include <cuda_pipeline_primitives.h>
