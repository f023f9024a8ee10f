// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// Everything that relies on CPython's internals, or that differs between its versions: fields of
// its objects, slots of types, the pending error, the interpreter lock at exit. For a new version of Python
// only this file has to be reviewed; tests/utils/test_cpython.py has a test of each function.
#pragma once

#include <Python.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace cuda_core {

// --- The end of the interpreter ---

inline bool is_interpreter_exiting() noexcept {
#if PY_VERSION_HEX >= 0x030D0000
    return !Py_IsInitialized() || Py_IsFinalizing();
#else
    return !Py_IsInitialized() || _Py_IsFinalizing();
#endif
}

// Runs what may ask for the interpreter lock, as all Python code does. Before Python 3.14 a thread that asks while the
// interpreter exits is unwound by pthread_exit, which no destructor survives: let it wait for the end of the process
// instead, as later versions do. A function without objects that end may let the unwinding pass: it is not noexcept.
template <class Function>
inline void or_wait_for_exit(Function function) noexcept {
    try {
        function();
    } catch (...) {
        for (;;) pause();
    }
}

// --- The interpreter lock, on threads that may not have it ---

// Calls `function()` with the interpreter lock, from any thread. It is taken nowhere else on threads that have no
// Python code below; where they have, Cython's `with gil` does it (tests/rules/test_locks.py).
template <class Function>
inline void with_interpreter(Function function) noexcept {
    or_wait_for_exit([&function] {
        const PyGILState_STATE state = PyGILState_Ensure();
        function();
        PyGILState_Release(state);
    });
}

// Sets an exception from any thread, for a caller who looks for it with the lock.
inline void set_error_on_any_thread(PyObject* type, const char* text) noexcept {
    with_interpreter([type, text] { PyErr_SetString(type, text); });
}

// --- Callbacks: Python code that runs where a resource ends ---

// Puts the pending error aside for a scope. The interpreter lock is held.
class PendingError {
public:
#if PY_VERSION_HEX >= 0x030C0000
    PendingError() noexcept : error_(PyErr_GetRaisedException()) {}
    ~PendingError() {
        if (has_interpreter()) PyErr_SetRaisedException(error_);
    }

private:
    PyObject* error_;
#else
    PendingError() noexcept { PyErr_Fetch(&type_, &error_, &traceback_); }
    ~PendingError() {
        if (has_interpreter()) PyErr_Restore(type_, error_, traceback_);
    }

private:
    PyObject* type_;
    PyObject* error_;
    PyObject* traceback_;
#endif

public:
    // False where the thread is unwound because the interpreter exits.
    static bool has_interpreter() noexcept { return PyGILState_Check(); }

    PendingError(const PendingError&) = delete;
    PendingError& operator=(const PendingError&) = delete;
};

// Calls `function(value)` with the interpreter lock, from any thread. The function raises nothing. A
// resource may end while an exception is on its way, which is kept. Once the interpreter exits, nothing
// is called.
template <class T>
inline void call_with_interpreter(void (*function)(T&), T& value) noexcept {
    if (is_interpreter_exiting()) return;
    with_interpreter([function, &value] {
        PendingError kept;
        function(value);
    });
}

// --- Functions of other extensions ---

// A cdef function of an extension that is imported at its first use. Each one that a .pxd declares is offered in this
// way; its type stands there, too.
inline void* deferred_function(const char* module, const char* name) {
    PyObject* imported = PyImport_ImportModule(module);
    PyObject* functions = imported ? PyObject_GetAttrString(imported, "__pyx_capi__") : nullptr;
    PyObject* capsule = functions ? PyMapping_GetItemString(functions, name) : nullptr;
    void* function = capsule ? PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)) : nullptr;
    Py_XDECREF(capsule);
    Py_XDECREF(functions);
    Py_XDECREF(imported);  // sys.modules keeps it
    return function;
}

// --- Fields of objects ---

// The items of a tuple, in place.
inline PyObject** tuple_items(PyObject* tuple) noexcept { return ((PyTupleObject*)tuple)->ob_item; }

// Reads an int of at most two digits, which all addresses and most sizes are, without a call.
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

// --- Slots of types ---

// The namespace of an extension type, which `type.__dict__` shows read-only; a borrowed reference.
// PyType_Modified() is due after a change.
inline PyObject* type_namespace(PyTypeObject* type) noexcept { return type->tp_dict; }

// Lets calling an extension type run `call`, which needs no tuple of arguments, and `__new__` run `make`.
inline void set_constructor(PyTypeObject* type, newfunc make, vectorcallfunc call) noexcept {
    type->tp_new = make;
    type->tp_vectorcall = call;
    PyType_Modified(type);
}

// Constructors that say what was probably meant by an unknown keyword: looked for after the keyword was refused, so
// that calls without such a mistake pay nothing. One type of each extension can have them.
class ConstructorHints {
public:
    // To be called before the type has subclasses.
    static void add(PyTypeObject* type) noexcept {
        init_ = type->tp_init;
        vectorcall_ = type->tp_vectorcall;
        type->tp_init = init;
        if (vectorcall_ != nullptr) type->tp_vectorcall = vectorcall;
    }

private:
    static inline initproc init_ = nullptr;
    static inline vectorcallfunc vectorcall_ = nullptr;

    static int init(PyObject* self, PyObject* arguments, PyObject* keywords) {
        const int result = init_(self, arguments, keywords);
        if (result < 0) suggest((PyObject*)Py_TYPE(self), keywords);
        return result;
    }

    static PyObject* vectorcall(PyObject* type, PyObject* const* values, size_t count, PyObject* names) {
        PyObject* made = vectorcall_(type, values, count, names);
        if (made == nullptr) suggest(type, names);
        return made;
    }

    // Replaces the error, if a keyword is unknown.
    static void suggest(PyObject* type, PyObject* keywords) noexcept {
        if (keywords == nullptr || !PyErr_ExceptionMatches(PyExc_TypeError)) return;
        PyObject* better = nullptr;
        or_wait_for_exit([&better, type, keywords] {
            PendingError kept;
            PyObject* module = PyImport_ImportModule("cuda.core._utils.options");
            better = module ? PyObject_CallMethod(module, "unknown_keyword", "OO", type, keywords) : nullptr;
            Py_XDECREF(module);
            if (better == nullptr) PyErr_Clear();
        });
        if (better != nullptr && better != Py_None) PyErr_SetObject(PyExc_TypeError, better);
        Py_XDECREF(better);
    }
};

// Properties of extension types, as instances of a subclass of Python's `property`: what completes names evaluates no
// property, but does evaluate the getset descriptors that Cython makes. Their exceptions are AttributeErrors, too, where
// they say that there is no value: hasattr() and completion then answer. See values.py.
class ComputedProperty {
public:
    // Replaces the descriptors of an extension type; returns -1 with an exception if it cannot.
    static int replace(PyObject* cls) noexcept {
        PyObject* type = shared_type();
        if (type == nullptr) return -1;
        int status = 0;
        PyObject *name, *found, *space = type_namespace(reinterpret_cast<PyTypeObject*>(cls));
        Py_ssize_t position = 0;
        while (status == 0 && PyDict_Next(space, &position, &name, &found)) {  // values may be replaced meanwhile
            if (!Py_IS_TYPE(found, &PyGetSetDescr_Type)) continue;
            PyObject* self = PyType_GenericAlloc(reinterpret_cast<PyTypeObject*>(type), 0);
            if (self != nullptr) descriptor(self) = Py_NewRef(found);  // for ever, as the type that has it
            status = self != nullptr ? PyDict_SetItem(space, name, self) : -1;
            Py_XDECREF(self);
        }
        PyType_Modified(reinterpret_cast<PyTypeObject*>(cls));
        Py_DECREF(type);
        return status;
    }

private:
    // The subclass, which the first extension makes; a new reference.
    static PyObject* shared_type() noexcept {
        PyObject* module = PyImport_ImportModule("cuda.core._utils.errors.values");
        PyObject* type = module ? PyObject_GetAttrString(module, "computed_property") : nullptr;
        if (type == Py_None) {
            Py_SETREF(type, make_type());
            if (type && PyObject_SetAttrString(module, "computed_property", type) < 0) Py_CLEAR(type);
        }
        Py_XDECREF(module);
        return type;
    }

    static PyObject* make_type() noexcept {
        static PyGetSetDef shown[] = {
            {"__doc__", forward, nullptr, nullptr, const_cast<char*>("__doc__")},
            {"__name__", forward, nullptr, nullptr, const_cast<char*>("__name__")},
            {"__qualname__", forward, nullptr, nullptr, const_cast<char*>("__qualname__")},
            {"__objclass__", forward, nullptr, nullptr, const_cast<char*>("__objclass__")},
            {"fget", get_function, nullptr, nullptr, nullptr},
            {"fset", set_function, nullptr, nullptr, nullptr},
            {nullptr, nullptr, nullptr, nullptr, nullptr},
        };
        static PyType_Slot slots[] = {
            {Py_tp_descr_get, reinterpret_cast<void*>(get)},
            {Py_tp_descr_set, reinterpret_cast<void*>(set)},
            {Py_tp_getset, shown},
            {0, nullptr},
        };
        static PyType_Spec spec = {
            "cuda.core._utils.errors.values.computed_property",
            static_cast<int>(PyProperty_Type.tp_basicsize + sizeof(PyObject*)),
            0,
            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
            slots,
        };
        PyObject* bases = PyTuple_Pack(1, &PyProperty_Type);
        PyObject* type = bases ? PyType_FromSpecWithBases(&spec, bases) : nullptr;
        Py_XDECREF(bases);
        return type;
    }

    static PyObject*& descriptor(PyObject* self) noexcept {
        return *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(self) + PyProperty_Type.tp_basicsize);
    }

    static PyObject* get(PyObject* self, PyObject* object, PyObject* type) {
        if (object == nullptr) return Py_NewRef(self);
        PyObject* value = PyGetSetDescr_Type.tp_descr_get(descriptor(self), object, type);
        if (value == nullptr) restate();
        return value;
    }

    static int set(PyObject* self, PyObject* object, PyObject* value) {
        return PyGetSetDescr_Type.tp_descr_set(descriptor(self), object, value);
    }

    static PyObject* forward(PyObject* self, void* name) noexcept {
        return PyObject_GetAttrString(descriptor(self), static_cast<const char*>(name));
    }

    static PyObject* get_function(PyObject* self, void*) noexcept {
        PyObject* module = PyImport_ImportModule("cuda.core._utils.errors.values");
        PyObject* made = module ? PyObject_CallMethod(module, "Getter", "O", descriptor(self)) : nullptr;
        Py_XDECREF(module);
        return made;
    }

    static PyObject* set_function(PyObject* self, void*) noexcept {
        if (((PyGetSetDescrObject*)descriptor(self))->d_getset->set == nullptr) Py_RETURN_NONE;
        return PyObject_GetAttrString(descriptor(self), "__set__");
    }

    static void restate() {
        PyObject *type, *error, *traceback;
        PyErr_Fetch(&type, &error, &traceback);
        PyErr_NormalizeException(&type, &error, &traceback);
        if (traceback != nullptr) PyException_SetTraceback(error, traceback);
        PyObject* module = PyImport_ImportModule("cuda.core._utils.errors.values");
        PyObject* better = module ? PyObject_CallMethod(module, "restated", "O", error) : nullptr;
        Py_XDECREF(module);
        if (better != nullptr) {
            Py_SETREF(type, Py_NewRef((PyObject*)Py_TYPE(better)));
            Py_SETREF(error, better);
        }
        PyErr_Restore(type, error, traceback);
    }
};

// Lets calling an instance of an extension type run the vectorcallfunc that is `offset` bytes into it.
inline void set_call_offset(PyTypeObject* type, Py_ssize_t offset) noexcept {
    type->tp_vectorcall_offset = offset;
    type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
    PyType_Modified(type);
}

}  // namespace cuda_core
