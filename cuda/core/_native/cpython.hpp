// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// Everything that relies on CPython's internals, or that differs between its versions: fields of its objects, slots of
// types, the pending exception, the GIL at exit. For a new version of Python, review this file only;
// tests/native/test_cpython.py tests each function.
#pragma once

#include <Python.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cuda_core {

// --- The end of the interpreter ---

inline bool is_interpreter_exiting() noexcept {
#if PY_VERSION_HEX >= 0x030D0000
    return !Py_IsInitialized() || Py_IsFinalizing();
#else
    return !Py_IsInitialized() || _Py_IsFinalizing();
#endif
}

// Runs a function that may acquire the GIL, as all Python code does. Before Python 3.14, pthread_exit unwinds a thread
// that acquires the GIL while the interpreter exits, and unwinding through a noexcept function or destructor terminates
// the process. This blocks the thread until the process exits instead, as later versions do. Functions that are not
// noexcept and have no objects to destroy may let the unwinding pass.
template <class Function>
inline void run_or_block_at_exit(Function function) noexcept {
    try {
        function();
    } catch (...) {
        for (;;) pause();
    }
}

// --- The GIL, on threads that may not have it ---

// Whether this thread holds the GIL; without one, whether it is attached to the interpreter. PyGILState_Check() does not
// answer this: once a process has created a subinterpreter, it always returns 1.
inline bool has_gil() noexcept {
#if PY_VERSION_HEX >= 0x030D0000
    return PyThreadState_GetUnchecked() != nullptr;
#elif PY_VERSION_HEX >= 0x030C0000
    return _PyThreadState_UncheckedGet() != nullptr;
#else  // the state of whichever thread holds the GIL
    PyThreadState* holder = _PyThreadState_UncheckedGet();
    return holder != nullptr && holder == PyGILState_GetThisThreadState();
#endif
}

// Calls `function()` with the GIL held, from any thread. Threads that were not called from Python acquire the GIL only
// here, all others use Cython's `with gil` (tests/rules/test_calls.py).
template <class Function>
inline void with_interpreter(Function function) noexcept {
    run_or_block_at_exit([&function] {
        const PyGILState_STATE state = PyGILState_Ensure();
        function();
        PyGILState_Release(state);
    });
}

// Sets an exception from any thread. The caller checks for it once it holds the GIL.
inline void set_error_on_any_thread(PyObject* type, const char* text) noexcept {
    with_interpreter([type, text] { PyErr_SetString(type, text); });
}

// --- Callbacks: Python code that runs when a resource is destroyed ---

// Saves the pending exception for a scope, and restores it. The GIL is held.
class PendingError {
public:
#if PY_VERSION_HEX >= 0x030C0000
    PendingError() noexcept : error_(PyErr_GetRaisedException()) {}
    ~PendingError() {
        // Not on a thread that is being unwound because the interpreter exits.
        if (has_gil()) PyErr_SetRaisedException(error_);
    }

private:
    PyObject* error_;
#else
    PendingError() noexcept { PyErr_Fetch(&type_, &error_, &traceback_); }
    ~PendingError() {
        if (has_gil()) PyErr_Restore(type_, error_, traceback_);
    }

private:
    PyObject* type_;
    PyObject* error_;
    PyObject* traceback_;
#endif

public:
    PendingError(const PendingError&) = delete;
    PendingError& operator=(const PendingError&) = delete;
};

// Calls `function(value)`, which raises nothing, with the GIL held, from any thread. A resource may be
// destroyed while an exception is pending, which is preserved. While the interpreter exits, nothing is called.
template <class T>
inline void call_with_interpreter(void (*function)(T&), T& value) noexcept {
    if (is_interpreter_exiting()) return;
    with_interpreter([function, &value] {
        PendingError kept;
        function(value);
    });
}

// --- Fields of objects ---

// The items of a tuple, in place.
inline PyObject** tuple_items(PyObject* tuple) noexcept { return ((PyTupleObject*)tuple)->ob_item; }

// Reads an int of at most two digits (60 bits), such as an address or most sizes, without a call into Python. Returns
// false for longer ones.
inline bool read_short_int(PyObject* object, std::int64_t* value) noexcept {
#if PY_VERSION_HEX < 0x030C0000
    const Py_ssize_t size = Py_SIZE(object);
    const bool is_negative = size < 0;
    const std::size_t count = (std::size_t)(is_negative ? -size : size);
    const digit* digits = ((PyLongObject*)object)->ob_digit;
#else
    const std::uintptr_t tag = ((PyLongObject*)object)->long_value.lv_tag;
    const bool is_negative = (tag & 3) == 2;
    const std::size_t count = tag >> 3;
    const digit* digits = ((PyLongObject*)object)->long_value.ob_digit;
#endif
    if (count > 2) return false;
    const std::int64_t low = count > 0 ? (std::int64_t)digits[0] : 0;
    const std::int64_t high = count > 1 ? (std::int64_t)digits[1] << PyLong_SHIFT : 0;
    *value = is_negative ? -(high | low) : high | low;
    return true;
}

// --- Frames ---

#if PY_VERSION_HEX < 0x030C0000
// The first fields of the interpreter's own frame, which its headers only declare.
struct InterpreterFrame {
    PyFunctionObject* function;
    PyObject *globals, *builtins, *locals;
    PyCodeObject* code;
    PyFrameObject* object;
    InterpreterFrame* previous;
    _Py_CODEUNIT* instruction;
};
#endif

// Returns true if the innermost Python code of this thread is at this instruction of `code`, as an offset in bytes. Unlike
// PyEval_GetFrame, does not make a frame object, which costs 30 ns for each call of a Python function.
inline bool is_running(PyObject* code, int offset) noexcept {
#if PY_VERSION_HEX < 0x030C0000
    const auto* frame = reinterpret_cast<const InterpreterFrame*>(PyThreadState_Get()->cframe->current_frame);
    return frame != nullptr && (PyObject*)frame->code == code &&
           (const char*)frame->instruction - (const char*)frame->code->co_code_adaptive == offset;
#else
#if PY_VERSION_HEX < 0x030D0000
    auto* frame = PyThreadState_Get()->cframe->current_frame;
#else
    auto* frame = PyThreadState_Get()->current_frame;
#endif
    if (frame == nullptr) return false;
    PyObject* current = PyUnstable_InterpreterFrame_GetCode(frame);
    Py_DECREF(current);  // the frame has another reference
    return current == code && PyUnstable_InterpreterFrame_GetLasti(frame) == offset;
#endif
}

// --- Slots of types ---

// The dict behind the read-only `type.__dict__` of an extension type; a borrowed reference. Call PyType_Modified()
// after a change.
inline PyObject* type_namespace(PyTypeObject* type) noexcept { return type->tp_dict; }

// Lets a call of an extension type run `call`, which takes its arguments without a tuple, and `__new__` run `make`.
inline void set_constructor(PyTypeObject* type, newfunc make, vectorcallfunc call) noexcept {
    type->tp_new = make;
    type->tp_vectorcall = call;
    PyType_Modified(type);
}

// Lets a call of an instance of an extension type run the vectorcallfunc at `offset` bytes in the instance.
inline void set_call_offset(PyTypeObject* type, Py_ssize_t offset) noexcept {
    type->tp_vectorcall_offset = offset;
    type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
    PyType_Modified(type);
}

// --- Methods of extension types ---

// Whether the first argument is an object of the class that the method belongs to; if not, sets an exception.
inline bool check_self(PyObject* method, PyObject* const* args, Py_ssize_t count) noexcept {
    PyTypeObject* cls = ((PyCMethodObject*)method)->mm_class;
    if (count > 0 && PyObject_TypeCheck(args[0], cls)) return true;
    const char* name = ((PyCFunctionObject*)method)->m_ml->ml_name;
    if (count > 0) {
        PyErr_Format(PyExc_TypeError, "descriptor '%s' for '%s' objects doesn't apply to a '%s' object", name, cls->tp_name,
                     Py_TYPE(args[0])->tp_name);
    } else {
        PyErr_Format(PyExc_TypeError, "unbound method %s.%s() needs an argument", cls->tp_name, name);
    }
    return false;
}

// Calls a method with the flags METH_FASTCALL | METH_KEYWORDS. Not noexcept: at exit, the method may unwind the thread.
inline PyObject* call_fast_method(PyObject* method, PyObject* const* args, size_t nargsf, PyObject* names) {
    using Function = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);
    const Py_ssize_t count = PyVectorcall_NARGS(nargsf);
    if (!check_self(method, args, count)) return nullptr;
    const auto function = (Function)(void (*)())((PyCFunctionObject*)method)->m_ml->ml_meth;
    return function(args[0], args + 1, count - 1, names);
}

// Calls a method with the flags METH_VARARGS | METH_KEYWORDS, such as `join(self, *others)`.
inline PyObject* call_tuple_method(PyObject* method, PyObject* const* args, size_t nargsf, PyObject* names) {
    const Py_ssize_t count = PyVectorcall_NARGS(nargsf);
    if (!check_self(method, args, count)) return nullptr;
    PyObject* rest = PyTuple_New(count - 1);
    PyObject* keywords = names && PyTuple_GET_SIZE(names) ? PyDict_New() : nullptr;
    bool is_complete = rest && (keywords || !names || !PyTuple_GET_SIZE(names));
    for (Py_ssize_t i = 1; is_complete && i < count; ++i) PyTuple_SET_ITEM(rest, i - 1, Py_NewRef(args[i]));
    for (Py_ssize_t i = 0; is_complete && keywords && i < PyTuple_GET_SIZE(names); ++i) {
        is_complete = PyDict_SetItem(keywords, PyTuple_GET_ITEM(names, i), args[count + i]) == 0;
    }
    const auto function = (PyCFunctionWithKeywords)(void (*)())((PyCFunctionObject*)method)->m_ml->ml_meth;
    PyObject* result = is_complete ? function(args[0], rest, keywords) : nullptr;
    Py_XDECREF(rest);
    Py_XDECREF(keywords);
    return result;
}

// Lets a method of an extension type check `self`; does nothing for other attributes.
inline void check_self_in_method(PyTypeObject* cls, PyObject* attribute) noexcept {
    const char* kind = std::strrchr(Py_TYPE(attribute)->tp_name, '.');
    if (!kind || std::strcmp(kind, ".cython_function_or_method") != 0) return;
    auto* method = (PyCMethodObject*)attribute;
    vectorcallfunc* call = &method->func.vectorcall;
    switch (method->func.m_ml->ml_flags) {
        case METH_FASTCALL | METH_KEYWORDS: *call = &call_fast_method; break;
        case METH_VARARGS | METH_KEYWORDS: *call = &call_tuple_method; break;
        default: return;  // a function without parameters cannot be a method
    }
    Py_XSETREF(method->mm_class, (PyTypeObject*)Py_NewRef(cls));
}

// Lets all methods of the extension types defined by a module check `self`, as methods written in C do. Those compiled by
// Cython do not: `Stream.sync(5)` would read the fields of a stream in an int. Returns -1 with an exception on failure.
inline int check_self_in_methods(PyObject* module_namespace) noexcept {
    const char* module = PyUnicode_AsUTF8(PyDict_GetItemString(module_namespace, "__name__"));
    if (!module) return -1;
    const std::size_t length = std::strlen(module);
    PyObject *name, *value, *attribute;
    for (Py_ssize_t i = 0; PyDict_Next(module_namespace, &i, &name, &value);) {
        if (!PyType_Check(value) || PyType_HasFeature((PyTypeObject*)value, Py_TPFLAGS_HEAPTYPE)) continue;
        auto* cls = (PyTypeObject*)value;
        if (std::strncmp(cls->tp_name, module, length) != 0 || cls->tp_name[length] != '.') continue;
        for (Py_ssize_t j = 0; PyDict_Next(type_namespace(cls), &j, &name, &attribute);) {
            check_self_in_method(cls, attribute);
        }
    }
    return 0;
}

}  // namespace cuda_core
