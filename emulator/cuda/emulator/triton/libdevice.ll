; SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
; SPDX-License-Identifier: Apache-2.0
; Takes the place of NVIDIA's libdevice. It defines nothing, so that calls remain, which the software device serves.
target triple = "nvptx64-nvidia-cuda"
