# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Tab completion in interactive Python without evaluating computed attributes.

To see whether attributes are callable, ``rlcompleter`` and IPython (with Jedi) evaluate the attributes they offer. They
skip instances of ``property``, but not the attributes of extension types, which might call the driver and raise. This
module lets them skip these as well, and keeps ``rlcompleter`` from offering names of other libraries, which only raise
errors with hints. ``CUDA_CORE_DONT_FIX_TAB_COMPLETION``, set to anything but 0, disables it.
"""

from __future__ import annotations

import os
import sys

__all__ = ["patch_completion"]


def patch_completion() -> None:
    """Patch ``rlcompleter``, if interactive Python uses it now or after the program (``python -i``), and Jedi."""
    if _is_set(os.environ.get("CUDA_CORE_DONT_FIX_TAB_COMPLETION", "")):
        return
    if "rlcompleter" in sys.modules or sys.flags.inspect:
        import rlcompleter

        # Code of the module finds these names before the builtin ones.
        rlcompleter.property = _Computed
        rlcompleter.dir = _without_other_names
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if getattr(getattr(shell, "Completer", None), "use_jedi", False):
        _patch_jedi()


def _without_other_names(thing) -> list[str]:
    """Return the names of an object, and those of a class without the ones that only explain other libraries' names."""
    module = sys.modules.get("cuda.core._utils.other_names")  # loaded if a class has any
    return module.listed_names(thing) if module and isinstance(thing, type) else dir(thing)


def _patch_jedi() -> None:
    from types import GetSetDescriptorType

    try:
        from jedi.inference.compiled import access  # as the first completion would do
    except ImportError:
        return
    evaluated = vars(access).get("ALLOWED_DESCRIPTOR_ACCESS", ())
    access.ALLOWED_DESCRIPTOR_ACCESS = tuple(kind for kind in evaluated if kind is not GetSetDescriptorType)


def _is_set(text: str) -> bool:
    try:
        return int(text) != 0
    except ValueError:
        return text != ""


class _ComputedType(type):
    def __instancecheck__(cls, descriptor):
        return hasattr(type(descriptor), "__get__") and not callable(descriptor)


class _Computed(metaclass=_ComputedType):
    """A class for which isinstance() is true for every computed attribute."""
