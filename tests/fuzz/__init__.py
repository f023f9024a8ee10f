# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Hostile values for each parameter of all that is public, in child processes.

    cd tests && python -m fuzz --minutes 10

``surface`` finds what can be called, ``values`` has what is passed, ``arguments`` what the other parameters get,
``verdict`` decides what may come out, ``worker`` makes the calls, and ``campaign`` watches the workers.
"""
