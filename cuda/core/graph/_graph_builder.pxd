# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._native._cuda_core cimport StreamField, StreamPin, refuse_closed
from cuda.core._stream cimport Stream, StreamSource
from cuda.core.graph._capture cimport StreamCapture
from cuda.core.graph._state cimport GraphRecord, GraphTree


cdef enum Role:
    PRIMARY
    FORK            # must be joined
    BODY            # of a conditional node


cdef class GraphBuilder(StreamSource):
    cdef:
        StreamField _h_stream      # empty when closed
        Stream _stream
        Role _role
        StreamCapture _capture      # None before it begins; shared with forks
        StreamCapture _outer        # for a body: the capture with the conditional node
        GraphTree _tree             # for a body: its graph, even before it captures
        GraphRecord _graph


# Holds a reference to the stream of a builder for a call; RuntimeError if the builder is closed.
cdef inline int GraphBuilder_pin(GraphBuilder self, StreamPin* pin) except -1:
    return 0 if pin.hold(self._h_stream) else refuse_closed(self)


# A builder that captures on a stream; it keeps the stream alive after the caller closes its Stream.
cdef GraphBuilder GraphBuilder_create(Stream stream)
# A builder that captures on a new stream of the same context.
cdef GraphBuilder GraphBuilder_beside(Stream stream)
