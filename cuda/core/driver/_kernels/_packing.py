# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Vectorized loads and stores of 16 bytes for elementwise kernels of the user, where their code allows it.

The code is not changed. Inside the loop over the elements of a pack (16 bytes in registers), the name of each array is
an object whose ``[i]`` is the element in registers. So the code may use an array only as ``x[i]``, and must store every
element unconditionally.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from cuda.core.driver._types import VectorArg, dtype_to_ctype

__all__ = ["Packing", "packing_of"]

PACK_BYTES = 16

_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
# Code that leaves the loop early, depends on the mapping of threads to indices, or may store some elements only.
_BARRED = re.compile(
    r"\b(?:if|else|for|while|do|switch|case|goto|return|break|continue|tid|total_threads|cta_start|threadIdx|blockIdx|"
    r"blockDim|gridDim|asm|__syncthreads|__syncwarp|__shared__)\b|#|\""
)
_INDEX_CHANGES = re.compile(r"\bi\b\s*(?:=(?!=)|\+\+|--|(?:[-+*/%&|^]|<<|>>)=)|(?:\+\+|--)\s*i\b|&\s*i\b")
# An ampersand that takes an address.
_ADDRESS = re.compile(r"(?:^|[^\w\s)\]&])\s*&$|(?:^|[^&])&&\s*&$")
_ASSIGNS = re.compile(r"=(?!=)")
_CHANGES = re.compile(r"(?:[-+*/%&|^]|<<|>>)=|\+\+|--")


class Packing(NamedTuple):
    """Which arrays the user's code reads and writes, for vectorized access.

    Attributes
    ----------
    width : int
        The number of elements of a pack.
    loads, stores : tuple of VectorArg
        The arrays that are loaded before the user's code, and stored after it.
    mask : int
        The address bits that must be 0 for aligned packs.
    places : tuple of int
        The indices of the arrays that are stored.
    """

    width: int
    loads: tuple[VectorArg, ...]
    stores: tuple[VectorArg, ...]
    mask: int
    places: tuple[int, ...]

    def source(self, template: str, **texts: str) -> str:
        """Return the source of the kernel: the template with the loads and stores of the arrays."""
        width = self.width
        loads, stores, places = [], [], []
        for item in dict.fromkeys((*self.loads, *self.stores)):
            kind, name = dtype_to_ctype(item.dtype), item.name
            pack = f"cuda_core::pack<{kind}, {width}>"
            if item in self.loads:
                loads.append(f"{pack} cuda_core_{name} = reinterpret_cast<const {pack}*>({name})[cuda_core_p];")
            else:
                loads.append(f"{pack} cuda_core_{name};")
            if item in self.stores:
                stores.append(f"reinterpret_cast<{pack}*>({name})[cuda_core_p] = cuda_core_{name};")
            seen = kind if item in self.stores else f"const {kind}"
            places.append(
                f"const cuda_core::place<{seen}> {name} = {{&cuda_core_{name}.items[cuda_core_k]}};",
            )
        return template.format(
            width=width, loads=" ".join(loads), stores=" ".join(stores), places=" ".join(places), **texts
        )


def packing_of(items, operation: str, preamble: str, loop_prep: str, after_loop: str) -> Packing | None:
    """Return how the user's code can be vectorized; None if it cannot.

    Parameters
    ----------
    items : sequence of VectorArg and ScalarArg
        The parameters.
    operation, preamble, loop_prep, after_loop : str
        The user's code.
    """
    vectors = [item for item in items if isinstance(item, VectorArg)]
    widest = max(item.dtype.itemsize for item in vectors)
    sizes = {item.dtype.itemsize for item in vectors}
    text = _COMMENTS.sub(" ", operation)
    if not sizes <= {1, 2, 4, 8} or any(item.dtype.kind == "V" for item in vectors):
        return None
    if after_loop.strip() or _BARRED.search(text) or _INDEX_CHANGES.search(text):
        return None
    names = [item.name for item in vectors]
    others = loop_prep + "".join(line for line in preamble.splitlines(True) if "#" in line or "\\" in line)
    if any(re.search(rf"\b{name}\b", others) for name in names):
        return None
    loads, stores = [], []
    for item in vectors:
        uses = uses_of(item.name, text)
        if uses is None:
            return None
        is_read, is_stored = uses
        if is_read:
            loads.append(item)
        if is_stored:
            stores.append(item)
    width = PACK_BYTES // widest
    if not stores:
        return None
    places = tuple([place for place, item in enumerate(vectors) if item in stores])
    return Packing(width, tuple(loads), tuple(stores), width * widest - 1, places)


def uses_of(name: str, text: str) -> tuple[bool, bool] | None:
    """Return whether code reads and whether it stores the elements of an array; None for other uses than ``x[i]``."""
    is_read = is_stored = False
    for found in re.finditer(rf"\b{name}\b", text):
        before, after = text[: found.start()].rstrip(), text[found.end() :]
        index = re.match(r"\s*\[\s*i\s*\]\s*", after)
        # Rejected, too: members of other objects, addresses of elements, and declarations of the same name.
        if index is None or _ADDRESS.search(before) or before.endswith((".", "->", "::", "sizeof", "decltype")):
            return None
        after = after[index.end() :]
        if after.startswith(("[", "->")) or re.match(r"\.\s*\w+\s*(?:=(?!=)|[-+*/%&|^]=)", after):
            return None
        is_assigned = _ASSIGNS.match(after) is not None
        if is_assigned or _CHANGES.match(after) or before.endswith(("++", "--")):
            # Rejected after a condition, such as in ?: or &&, under which some elements are not stored.
            if not re.search(r"(?:^|[;{}]|(?<![=!<>])=|\+\+|--)$", before):
                return None
            is_stored = True
            is_read = is_read or not is_assigned
        else:
            is_read = True
    return is_read, is_stored
