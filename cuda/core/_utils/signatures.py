# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Signatures of the constructors of extension types, for ``inspect``, ``help`` and completion."""

from __future__ import annotations

import types

__all__ = ["ConstructorSignature"]


class ConstructorSignature:
    """The ``__signature__`` of an extension type and its subclasses, read from the docstring of ``__init__``.

    An ``__init__`` in C has no signature that ``inspect`` can read, but if it has a docstring, Cython writes the
    signature of the source into its first line. Constructors in Python are left to ``inspect``.
    """

    def __get__(self, instance, owner):
        text = None if instance is not None else _constructor_text(owner)
        if text is None:
            raise AttributeError(f"{owner.__name__!r} object has no attribute '__signature__'")
        return _parse(text)


def _constructor_text(cls: type) -> str | None:
    # The class nearest to `cls` that has a constructor decides.
    for base in cls.__mro__:
        constructor = base.__dict__.get("__init__")
        if base is object:
            return "__init__(self)"
        if isinstance(constructor, types.WrapperDescriptorType):
            text = (constructor.__doc__ or "").partition("\n")[0]
            # Constructors with `unknown` raise an error for these keywords.
            return text.replace(", **unknown)", ")") if text.startswith("__init__(") else None
        if constructor is not None or isinstance(base.__dict__.get("__new__"), staticmethod):
            return None
    return None


def _parse(text: str):
    import inspect  # late, because it takes longer to import than everything that a first launch needs

    namespace = {}
    exec(f"from __future__ import annotations\ndef {text}: ...", namespace)
    signature = inspect.signature(namespace["__init__"])
    return signature.replace(parameters=list(signature.parameters.values())[1:])
