// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The fiber switch for AArch64; see fiber.hpp. A suspended fiber is represented by its stack pointer: the callee-saved
// registers are stored there, including x30 (where it continues). FPCR is the same in all fibers and is not switched.
#if defined(__aarch64__)

    .text

    .macro save
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x2, sp
    str x2, [x0]
    .endm

    .macro restore
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
    .endm

// void emu_fiber_switch(void** save, void* load)
    .globl emu_fiber_switch
    .hidden emu_fiber_switch
    .type emu_fiber_switch, %function
    .p2align 4
emu_fiber_switch:
    save
    mov sp, x1
    restore
    .size emu_fiber_switch, .-emu_fiber_switch

// void emu_fiber_resume(void* load): the second half of the switch.
    .globl emu_fiber_resume
    .hidden emu_fiber_resume
    .type emu_fiber_resume, %function
    .p2align 4
emu_fiber_resume:
    mov sp, x0
    restore
    .size emu_fiber_resume, .-emu_fiber_resume

// void emu_fiber_begin(void** save, void* top) and emu_fiber_restart(void* top).
    .globl emu_fiber_begin
    .hidden emu_fiber_begin
    .type emu_fiber_begin, %function
    .globl emu_fiber_restart
    .hidden emu_fiber_restart
    .type emu_fiber_restart, %function
    .p2align 4
emu_fiber_begin:
    save
    mov x0, x1
emu_fiber_restart:
    .cfi_startproc
    .cfi_undefined x30
    mov sp, x0
    mov x29, xzr
    mov x30, xzr
    bl emu_thread_begin
    mov x2, x0
    mov x0, x1
    blr x2
    b emu_thread_end
    .cfi_endproc
    .size emu_fiber_restart, .-emu_fiber_restart
    .size emu_fiber_begin, .-emu_fiber_begin

#endif
    .section .note.GNU-stack, "", %progbits
