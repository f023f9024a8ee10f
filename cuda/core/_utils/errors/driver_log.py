# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Reading the driver's log of failed calls (``cuLogsDumpToMemory``, CUDA 13)."""

from __future__ import annotations

import re
from _thread import get_native_id

__all__ = ["last_failure"]

# [time][thread][source][severity][entry point] message, as in the CUDA Programming Guide. Further lines of a message
# have no such head.
_HEAD = r"\[[\d:.]+\]\[(\d+)\]\[\w+\]\[\w\]\[(\w+)\] ?"

# Interruptible waits query instead of blocking, or make the call on a helper thread (`docs/design/waiting.md`). The log
# names the query, or the ID of the helper thread.
_QUERIED_INSTEAD = {"cuStreamSynchronize": "cuStreamQuery", "cuEventSynchronize": "cuEventQuery"}
_ON_HELPER_THREAD = frozenset(
    {
        "cuArrayDestroy",
        "cuCtxSynchronize",
        "cuLibraryGetKernelCount",
        "cuLibraryGetModule",
        "cuLibraryLoadData",
        "cuLibraryLoadFromFile",
        "cuLibraryUnload",
        "cuLinkAddData",
        "cuLinkAddFile",
        "cuLinkComplete",
        "cuMemFree",
        "cuMemFreeHost",
        "cuMipmappedArrayDestroy",
    }
)


def last_failure(log: bytes, name: str, api: str | None) -> str | None:
    """Return the messages of the driver's log about the last failed call of this thread.

    Parameters
    ----------
    log : bytes
        The log, oldest message first.
    name : str
        The code of the failure, such as ``"CUDA_ERROR_INVALID_VALUE"``.
    api : str or None
        The entry point that failed, without a version suffix; None if unknown.

    Returns
    -------
    str or None
        The messages without their heads, and without the one that only repeats the code; None if there are none, or if
        the last failure in the log is not that of ``name`` and ``api``.
    """
    texts: list[str] = []
    call = None
    for thread, entry, text in _newest_first(log.decode(errors="replace")):
        if thread != get_native_id() and not (api in _ON_HELPER_THREAD and entry == api):
            continue
        if call is None:
            call = entry
        elif entry != call or text.startswith("Returning"):  # the last message of an earlier failure
            break
        texts.insert(0, text)
    joined = " ".join(texts)
    is_other_code = "CUDA_ERROR_" in joined and not re.search(rf"\b{name}\b", joined)
    if (
        call is None
        or is_other_code
        or (not call.startswith((api, _QUERIED_INSTEAD.get(api, api))) if api else "CUDA_ERROR_" not in joined)
    ):
        return None
    return "\n".join(text for text in texts if not text.startswith("Returning")) or None


def _newest_first(log):
    following: list[str] = []
    for line in reversed(log.splitlines()):
        head = re.match(_HEAD, line)
        if head is None:
            following.insert(0, line)
            continue
        yield int(head[1]), head[2], "\n".join([line[head.end() :], *(row.removeprefix("  ") for row in following)])
        following = []
