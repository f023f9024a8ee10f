// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Macros that the front end adds to a program: kernel and variable records, and storage for shared variables. The
// loader finds records by their symbol names.
#pragma once

// Controls whether the compiler inlines a kernel into the loop over a block's threads, which avoids calls and
// recomputing values common to all threads. It does not with clang, which treats threadIdx as a constant, nor with the
// checks that follow each thread.
#if !defined(__OPTIMIZE__) || defined(__clang__) || (EMU_CHECKS & ~(1 | 16)) || defined(EMU_STEPS)
#undef EMU_INLINES_KERNELS
#define EMU_INLINES_KERNELS 0
#elif !defined(EMU_INLINES_KERNELS)
#define EMU_INLINES_KERNELS 1
#endif
#if EMU_INLINES_KERNELS
#define EMU_RUN_ATTRIBUTES __attribute__((noinline))
#else
#define EMU_RUN_ATTRIBUTES EMU_NO_CHECK __attribute__((noinline))
#endif

namespace emu {

template <class T> struct Argument;
template <class T> struct Argument<void(T)> {
    typedef T type;
};

template <emu_u32... I> struct Indices {};
template <emu_u32 N, emu_u32... I> struct Count : Count<N - 1, N - 1, I...> {};
template <emu_u32... I> struct Count<0, I...> {
    typedef Indices<I...> type;
};

template <class T> struct RemoveReference {
    typedef T type;
};
template <class T> struct RemoveReference<T&> {
    typedef T type;
};

template <emu_u32 N> struct Layout {
    EmuParameter rows[N ? N : 1];
    emu_u32 bytes;
};

template <class... A> constexpr Layout<sizeof...(A)> layout_of()
{
    const emu_u32 sizes[] = {emu_u32(sizeof(A))..., 0}, alignments[] = {emu_u32(alignof(A))..., 1};
    Layout<sizeof...(A)> out{};
    emu_u32 at = 0;
    for (emu_u32 i = 0; i < sizeof...(A); ++i) {
        at = (at + alignments[i] - 1) / alignments[i] * alignments[i];
        out.rows[i].offset = at;
        out.rows[i].size = sizes[i];
        at += sizes[i];
    }
    out.bytes = at;
    return out;
}

template <class... A> struct Parameters {
    static constexpr Layout<sizeof...(A)> layout = layout_of<A...>();
};
template <class... A> constexpr Layout<sizeof...(A)> Parameters<A...>::layout;

template <class T, T F> struct Named;
template <class... A, void (*F)(A...)> struct Named<void (*)(A...), F> {
    typedef Parameters<typename RemoveReference<A>::type...> Types;
    static constexpr void (*address)(A...) = F;
    static constexpr emu_u32 count = sizeof...(A);
    static constexpr emu_u32 bytes = Types::layout.bytes;
    static constexpr const EmuParameter* rows = Types::layout.rows;
#if EMU_CHECKS & 32 // the compiler inserts calls into any code
    static constexpr void (*run)(A...) = F;
#else
    // The executor lowers both ends when the next thread has to start elsewhere, because this one waits. Preemption may
    // do so between any two instructions, so `linear` is written first and then compared.
    EMU_RUN_ATTRIBUTES static void run(typename RemoveReference<A>::type... values)
    {
        volatile emu_u32 &linear = emu_thread.linear, &end = emu_thread.end, &row_end = emu_thread.row_end;
        uint3& shown = const_cast<ThreadIndex&>(threadIdx);
        uint3 index = threadIdx;
        emu_u32 number = linear;
#if !EMU_INLINES_KERNELS
        void (*kernel)(A...) = F;
        __asm__("" : "+r"(kernel)); // hides it from the compiler
#endif
        for (;;) {
            row_end = number + blockDim.x - index.x;
            if (row_end > end)
                row_end = end;
            do {
                shown.x = index.x++;
                shown.y = index.y; // tells the compiler
#if EMU_INLINES_KERNELS
                F(values...);
#else
                kernel(values...);
#endif
                linear = ++number;
            } while (number < row_end);
            if (number >= end)
                break;
            index.x = 0;
            if (++index.y == blockDim.y)
                index.y = 0, shown.z = ++index.z;
        }
        linear = number - 1;
    }
#endif
    template <emu_u32... I> EMU_NO_CHECK static void call(void* const* values, Indices<I...>)
    {
        (void)values;
        run(*static_cast<typename RemoveReference<A>::type*>(values[I])...);
    }
    EMU_NO_CHECK static void enter(void* const* values) { call(values, typename Count<sizeof...(A)>::type()); }
    static constexpr EmuEntry entry = &enter;
};
#if __cplusplus >= 201703L
template <class... A, void (*F)(A...) noexcept> struct Named<void (*)(A...) noexcept, F>
    : Named<void (*)(A...), static_cast<void (*)(A...)>(F)> {};
#endif
// Name expressions of variables.
template <class T, T* P> struct Named<T*, P> {
    static constexpr T* address = P;
    static constexpr emu_u32 count = 0, bytes = 0;
    static constexpr const EmuParameter* rows = nullptr;
    static constexpr EmuEntry entry = nullptr;
};

// True if a variable's default value is constant. Used for arrays only: for them g++ accepts __constinit, and drops the
// constructors.
template <class T, bool = (static_cast<void>(T()), true)> constexpr bool has_constant_value(int) { return true; }
template <class T> constexpr bool has_constant_value(long) { return __has_trivial_constructor(T); }
template <class T> struct ConstantByDefault {
    static constexpr bool value = true;
};
template <class T, size_t N> struct ConstantByDefault<T[N]> {
    static constexpr bool value = has_constant_value<T>(0);
};
template <class T, size_t N, size_t M> struct ConstantByDefault<T[N][M]> : ConstantByDefault<T[M]> {};

// `extern __shared__ T name[]` at namespace scope: each use refers to the running block's dynamic shared memory.
template <class T> struct DynamicShared;
template <class T> struct DynamicShared<T[]> {
    operator T*() const { return static_cast<T*>(emu_thread.dynamic_shared); }
    template <class U> explicit operator U*() const { return static_cast<U*>(emu_thread.dynamic_shared); }
    template <class I> T& operator[](I i) const { return static_cast<T*>(emu_thread.dynamic_shared)[i]; }
};

} // namespace emu

#define EMU_UNPAREN(...) __VA_ARGS__

#define EMU_RECORD(line, ...)                                                                     \
    {                                                                                             \
        EMU_ABI_VERSION, emu_u32(sizeof(EmuKernel)), (const void*)(__VA_ARGS__::address),         \
            __VA_ARGS__::entry, __VA_ARGS__::rows, __VA_ARGS__::count, __VA_ARGS__::bytes, 0u,    \
            0u, 0u, 0u, {0u, 0u, 0u}, 0u, __FILE__, line, {0u, 0u, 0u}                            \
    }
#define EMU_KERNEL(id, line, form, ...)                                                           \
    static const EmuKernel emu_kernel_record_##id __attribute__((used)) =                         \
        EMU_RECORD(line, ::emu::Named<::emu::Argument<void form>::type, __VA_ARGS__>);
#define EMU_NAME(id, ...)                                                                         \
    static const EmuKernel emu_kernel_record_name_##id __asm__("emu_kernel_record_name_" #id "_") \
        __attribute__((used)) = EMU_RECORD(0, ::emu::Named<decltype(__VA_ARGS__), __VA_ARGS__>);
// Of a kernel without a definition.
#define EMU_DECLARED_NAME(id, ...)                                                                \
    static const EmuKernel emu_kernel_record_name_##id __asm__("emu_kernel_record_name_" #id "_") \
        __attribute__((used)) = {EMU_ABI_VERSION, emu_u32(sizeof(EmuKernel)), (const void*)(__VA_ARGS__), \
                                 nullptr, nullptr, 0u, 0u, 0u, 0u, 0u, 0u, {0u, 0u, 0u}, 0u, __FILE__, 0, {0u, 0u, 0u}};
#define EMU_LAUNCH_BOUNDS(bounds, cluster)                                                        \
    static const emu_u32 emu_launch_bounds[2][4] __attribute__((used)) = {                        \
        {EMU_UNPAREN bounds}, {EMU_UNPAREN cluster}};

// The mangled names of functions with shared variables that a kernel can reach.
#define EMU_SHARED_CALLS(names) static const char emu_shared_calls[] __attribute__((used)) = names;

// Variables are separated, so that an access past the end of one does not reach the next. With checks, the compiler
// leaves a red zone of at least 32 bytes after each.
#if defined(__clang__)
#define EMU_ALIGNED __attribute__((aligned(32))) // it leaves no red zone after a variable of a larger alignment
#define EMU_CONSTINIT __attribute__((require_constant_initialization)) // of static variables in functions
// Would reject trivial constructors, and addresses of functions as void*; -Werror=global-constructors rejects the others.
#define EMU_CONSTINIT_DEFAULT
#define EMU_DESTROYED_TRIVIALLY(...) __is_trivially_destructible(__VA_ARGS__)
#else
#define EMU_ALIGNED __attribute__((aligned(64)))
#define EMU_CONSTINIT __constinit
#define EMU_CONSTINIT_DEFAULT __constinit
#define EMU_DESTROYED_TRIVIALLY(...) __has_trivial_destructor(__VA_ARGS__)
#endif
#define EMU_DEFAULT(name)                                                                         \
    static_assert(::emu::ConstantByDefault<decltype(name)>::value,                                \
                  "dynamic initialization is not supported for a __device__ variable: " #name);
#define EMU_VARIABLE(id, name, kind)                                                              \
    static_assert(EMU_DESTROYED_TRIVIALLY(decltype(name)),                                        \
                  "a __device__ variable cannot have a destructor: " #name);                      \
    static const EmuVariable emu_variable_record_##id __attribute__((used)) = {                   \
        EMU_ABI_VERSION, kind, (void*)__builtin_addressof(name), nullptr, sizeof(name),           \
        (sizeof(name) + 32 * (EMU_CHECKS & 1) + 63) / 64 * 64, #name, __FILE__, __LINE__, 0};
// Of an instance of a variable template, which has no padding.
#define EMU_VARIABLE_OF_TEMPLATE(id, kind, ...)                                                   \
    static const EmuVariable emu_variable_record_##id __attribute__((used)) = {                   \
        EMU_ABI_VERSION, kind, (void*)__builtin_addressof(__VA_ARGS__), nullptr,                  \
        sizeof(__VA_ARGS__), sizeof(__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__, 0};

#define EMU_ALIGNAS(n) __attribute__((aligned(n)))
// Hides a variable from the compiler: it does not instrument accesses to constant places in a variable that it knows,
// and computes the address of a thread-local one, which takes a call, again after each barrier.
namespace emu {
EMU_NO_CHECK __attribute__((always_inline)) inline unsigned char* hide(unsigned char* p)
{
    __asm__("" : "+r"(p));
    return p;
}
} // namespace emu
#if EMU_CHECKS & 6 || defined(__OPTIMIZE__) || defined(EMU_STEPS)
#define EMU_SHARED_BYTES(variable) ::emu::hide(variable)
#else
#define EMU_SHARED_BYTES(variable) variable
#endif
// The red zone after a shared variable.
#define EMU_SHARED_PAD(size)                                                                      \
    ((size) < 256 || !(EMU_CHECKS & 1) ? 64 : (size) > 8192 ? 2048 : ((size) / 4 + 63) / 64 * 64)
#define EMU_SHARED(id, name, alignment)                                                           \
    static __thread EMU_ALIGNAS(16) EMU_ALIGNAS(__alignof__(emu_shared_type_##id)) alignment      \
        unsigned char emu_shared_##id[sizeof(emu_shared_type_##id) +                        \
                                      EMU_SHARED_PAD(sizeof(emu_shared_type_##id))];              \
    struct emu_shared_at_##id {                                                                   \
        static void* locate() { return emu_shared_##id; }                                         \
    };                                                                                            \
    static const EmuVariable emu_variable_record_##id __attribute__((used)) = {                   \
        EMU_ABI_VERSION, EMU_VARIABLE_SHARED, nullptr, &emu_shared_at_##id::locate,               \
        sizeof(emu_shared_type_##id), sizeof(emu_shared_##id), #name, __FILE__, __LINE__, 0};     \
    __attribute__((unused)) emu_shared_type_##id& name =                                          \
        *reinterpret_cast<emu_shared_type_##id*>(EMU_SHARED_BYTES(emu_shared_##id));
// At namespace scope, `name` is another declaration of the bytes, which end with the red zone.
#define EMU_SHARED_OUTSIDE(id, name, alignment)                                                   \
    static __thread EMU_ALIGNAS(16) EMU_ALIGNAS(__alignof__(emu_shared_type_##id)) alignment      \
        unsigned char emu_shared_##id[sizeof(emu_shared_type_##id) +                              \
                                      EMU_SHARED_PAD(sizeof(emu_shared_type_##id))] __asm__(      \
            "emu_shared_bytes_" #id) __attribute__((used));                                       \
    extern __thread emu_shared_type_##id name __asm__("emu_shared_bytes_" #id)                    \
        __attribute__((visibility("hidden")));                                                    \
    struct emu_shared_at_##id {                                                                   \
        static void* locate() { return emu_shared_##id; }                                         \
    };                                                                                            \
    static const EmuVariable emu_variable_record_##id __attribute__((used)) = {                   \
        EMU_ABI_VERSION, EMU_VARIABLE_SHARED, nullptr, &emu_shared_at_##id::locate,               \
        sizeof(name), sizeof(emu_shared_##id), #name, __FILE__, __LINE__, EMU_SHARED_IS_OUTSIDE};
#define EMU_SHARED_DYNAMIC(id, name, alignment)                                                   \
    __attribute__((unused)) emu_shared_type_##id& name =                                          \
        *reinterpret_cast<emu_shared_type_##id*>(emu_thread.dynamic_shared);
#define EMU_SHARED_DYNAMIC_OUTSIDE(id, name, alignment)                                           \
    static constexpr ::emu::DynamicShared<emu_shared_type_##id> name{};

#define EMU_MODULE(architecture)                                                                  \
    EMU_CONVERSIONS                                                                               \
    extern "C" {                                                                                  \
    __attribute__((weak, used, visibility("hidden"))) EmuModule emu_module = {                    \
        EMU_ABI_VERSION, emu_u32(sizeof(EmuModule)), EMU_CHECKS, architecture, {}, {0, 0, 0, 0}};      \
    }
