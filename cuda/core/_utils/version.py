# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Versions of the driver and of its bindings, under the name that other packages import."""

from cuda.core._utils.cuda_utils import binding_version, driver_version

__all__ = ["binding_version", "driver_version"]
