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
    # Importing these takes longer than everything that a first launch needs.
    import ast
    import inspect

    arguments = ast.parse(f"def {text}: ...").body[0].args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + arguments.defaults
    of_kind = [(inspect.Parameter.POSITIONAL_OR_KEYWORD, pair) for pair in zip(positional, defaults, strict=True)]
    of_kind[: len(arguments.posonlyargs)] = [
        (inspect.Parameter.POSITIONAL_ONLY, pair) for _, pair in of_kind[: len(arguments.posonlyargs)]
    ]
    of_kind += [(inspect.Parameter.VAR_POSITIONAL, (arguments.vararg, None))] if arguments.vararg else []
    of_kind += [
        (inspect.Parameter.KEYWORD_ONLY, pair) for pair in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    of_kind += [(inspect.Parameter.VAR_KEYWORD, (arguments.kwarg, None))] if arguments.kwarg else []
    return inspect.Signature(
        [
            inspect.Parameter(
                argument.arg,
                kind,
                default=inspect.Parameter.empty if default is None else ast.literal_eval(default),
                annotation=inspect.Parameter.empty if argument.annotation is None else ast.unparse(argument.annotation),
            )
            for kind, (argument, default) in of_kind[1:]
        ]
    )
