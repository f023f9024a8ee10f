# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Helpers: views of arrays and tensors, batched operations on buffers, and program caches.

Each name is imported at its first access.
"""

from cuda.core._utils.importing.deferred import deferred_names

# The module of each public name, relative to ``cuda.core``.
_HOMES = {
    "CopyOptions": "_memory._copy_options",
    "FileStreamProgramCache": "_compile.cache._stores",
    "InMemoryProgramCache": "_compile.cache._stores",
    "MemcpyOverlapMode": "_memory._copy_enums",
    "MemcpySrcAccessOrder": "_memory._copy_enums",
    "ProgramCacheResource": "_compile.cache._stores",
    "StridedMemoryView": "_memoryview",
    "args_viewable_as_strided_memory": "_memoryview",
    "copy_batch": "_memory._managed_memory_ops",
    "discard_batch": "_memory._managed_memory_ops",
    "discard_prefetch_batch": "_memory._managed_memory_ops",
    "make_program_cache_key": "_compile.cache._key",
    "prefetch_batch": "_memory._managed_memory_ops",
    "register_importer": "_arrays._importers",
}

__all__ = list(_HOMES)
__getattr__ = deferred_names(__name__, _HOMES, root="cuda.core")


def __dir__():
    return sorted(__all__)
