# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Programs of other libraries that use ``cuda.core``; ``.ci/clients`` runs them on a machine with a GPU."""
