# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""File descriptors that are sent to another process."""

import pytest

from cuda.core._utils import ipc as sharing


class Carried:
    def __init__(self, result):
        self.result = result

    def detach(self):
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


def test_descriptor_is_received():
    assert sharing.received_descriptor(Carried(7)) == 7


@pytest.mark.parametrize("error", [EOFError(), FileNotFoundError(), ConnectionRefusedError()], ids=repr)
def test_descriptor_error_is_explained_if_its_sender_has_exited(error):
    with pytest.raises(RuntimeError, match="did not arrive: the process that sent it has ended") as raised:
        sharing.received_descriptor(Carried(error))
    assert raised.value.__cause__ is error


def test_reducer_is_used_by_multiprocessing():
    from multiprocessing.reduction import ForkingPickler

    class Thing:
        pass

    sharing.register_reducer(Thing, lambda thing: (int, ("5",)))
    assert ForkingPickler.loads(ForkingPickler.dumps(Thing())) == 5
