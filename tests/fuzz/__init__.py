# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Hostile values for each parameter of the public interface, in child processes.

    cd tests && python -m fuzz --minutes 10

``surface`` finds the targets of calls, ``values`` has the hostile values, ``arguments`` the values of the other
parameters, ``verdict`` accepts or rejects exceptions, ``worker`` makes the calls, and ``campaign`` watches the workers.
"""
