# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._handles._handles cimport StreamHandle
from cuda.core._stream cimport Stream, StreamSource
from cuda.core.graph._graph_state cimport GraphRecord, GraphTree
from cuda.core.graph._stream_capture cimport StreamCapture


cdef enum Role:
    PRIMARY
    FORK            # must be joined
    BODY            # of a conditional node


cdef class GraphBuilder(StreamSource):
    cdef:
        StreamHandle _h_stream      # empty when closed
        Stream _stream
        Role _role
        StreamCapture _capture      # None before it begins; of a fork, that of the builder it forked from
        StreamCapture _outer        # of a body: the capture with the conditional node
        GraphTree _tree             # of a body, from its creation
        GraphRecord _graph


# A builder that captures on a stream; the caller's object may be closed meanwhile.
cdef GraphBuilder GraphBuilder_create(Stream stream)
