// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// An extension in C++ with pybind11, which uses objects of cuda.core.
#include <pybind11/pybind11.h>
#define CUDA_CORE_THROW throw pybind11::error_already_set()
#include <cuda_core.hpp>

namespace py = pybind11;
using namespace cuda_core_api;

static py::object to_python(Object object) { return py::reinterpret_steal<py::object>(object.release()); }

PYBIND11_MODULE(cpp_consumer, module, py::mod_gil_not_used()) {
    module.def("stream_address", [](py::object stream) { return std::size_t(Stream::accept(stream.ptr()).handle()); });
    module.def("wrap_stream", [](std::size_t address) { return to_python(Stream::wrap(CUstream(address)).object()); });
    module.def("range_of", [](py::object object) {
        const Buffer buffer = Buffer::accept(object.ptr());
        return py::make_tuple(std::size_t(buffer.pointer()), buffer.size());
    });
    module.def("second_half", [](py::object object) {
        const Buffer buffer = Buffer::accept(object.ptr());
        const std::size_t half = buffer.size() / 2;
        return to_python(Buffer::wrap(buffer.pointer() + half, half, object.ptr()).object());
    });
    module.def("allocate", [](py::object resource, std::size_t size, py::object stream) {
        return to_python(MemoryResource::accept(resource.ptr()).allocate(size, Stream::accept(stream.ptr())).object());
    });
}
