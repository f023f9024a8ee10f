// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Calls of printf whose values do not fit the format, and their corrected twins.
struct Pair {
    int a, b;
};

#define KERNEL(name, wrong, right)                                                                                     \
    extern "C" __global__ void name(int* x, int* out, int bad)                                                         \
    {                                                                                                                  \
        long big = 1l << 40;                                                                                           \
        float f = 1.5f;                                                                                                \
        Pair pair{3, 4};                                                                                               \
        const char* format = "%d %d\n";                                                                                 \
        if (threadIdx.x == 0 && bad)                                                                                   \
            wrong;                                                                                                     \
        else if (threadIdx.x == 0)                                                                                     \
            right;                                                                                                     \
        (void)big, (void)f, (void)pair, (void)format;                                                                  \
    }
#define REPEAT8(x) x x x x x x x x
#define LIST8 , 1, 2, 3, 4, 5, 6, 7, 8

KERNEL(float_as_int, printf("%d\n", f), printf("%d\n", int(f)))
KERNEL(int_as_float, printf("%f\n", 3), printf("%f\n", 3.0))
KERNEL(int_as_text, printf("%s\n", 3), printf("%s\n", "three"))
KERNEL(missing_value, printf("%d %d\n", 1), printf("%d %d\n", 1, 2))
KERNEL(short_for_long, printf("%lld\n", 3), printf("%lld\n", 3ll))
KERNEL(lost_digits, printf("%d\n", big), printf("%d %ld\n", big >> 40, big))
KERNEL(pointer_as_int, printf("%x\n", x), printf("%p %lx\n", x, x))
KERNEL(object_as_int, printf("%d\n", pair), printf("%d\n", pair.a))
KERNEL(width_of_float, printf("%*d\n", f, 3), printf("%*d %.*f\n", 5, 3, 2, f))
KERNEL(format_in_a_variable, printf(format, 1, f), printf(format, 1, 2))
KERNEL(thirty_three, printf(REPEAT8("%d%d%d%d") "%d\n" LIST8 LIST8 LIST8 LIST8, 9),
       printf(REPEAT8("%d%d%d%d") "\n" LIST8 LIST8 LIST8 LIST8))
// Right or harmless in both forms.
KERNEL(unusual, printf("%u %c %hhd %hd %zu %x %p %5.2e%%\n", -1, 'c', (signed char)-3, (short)4, sizeof f, -1, nullptr, f),
       printf("%d %d\n", 1, 2, 3, 4))
KERNEL(no_values, printf("plain %%\n"), printf(""))
