# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The name under which other packages know the set of peers."""

from cuda.core._memory._peer_access import PeerAccessibleBySetProxy

__all__ = ["PeerAccessibleBySetProxy"]
