# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The compiler that Triton looks up for the device. Kernels are compiled by Triton's own one, up to PTX."""

from triton.backends.compiler import BaseBackend


class SoftwareBackend(BaseBackend):
    """A compiler for no target."""

    @staticmethod
    def supports_target(target):
        return False

    def hash(self):
        return "software"

    add_stages = get_module_map = load_dialects = parse_options = hash


SoftwareBackend.__abstractmethods__ = frozenset()  # as that of SoftwareDriver
