// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The fiber switch for the x86-64 System V ABI; see fiber.hpp. A suspended fiber is represented by its stack pointer:
// the six callee-saved registers are stored there, followed by the address where it continues. The floating-point
// control words are the same in all fibers and are not switched.
#if defined(__x86_64__)

    .text

// void emu_fiber_switch(void** save, void* load)
    .globl emu_fiber_switch
    .hidden emu_fiber_switch
    .type emu_fiber_switch, @function
    .p2align 4
emu_fiber_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size emu_fiber_switch, .-emu_fiber_switch

// void emu_fiber_resume(void* load): the second half of the switch.
    .globl emu_fiber_resume
    .hidden emu_fiber_resume
    .type emu_fiber_resume, @function
    .p2align 4
emu_fiber_resume:
    cld
    movq %rdi, %rax
.Lresume:
    movq %rax, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size emu_fiber_resume, .-emu_fiber_resume

// void emu_fiber_begin(void** save, void* top) and emu_fiber_restart(void* top). A thread ends with a jump to
// emu_thread_end, because the processor predicts the 32 latest returns by counting calls. Those of a thread that waits
// at a barrier are four: here, of the entry, of the kernel's loop and of the barrier. Threads then end as they were
// predicted, although each was interrupted by others. In C++ this code would save registers that nobody needs.
    .globl emu_fiber_begin
    .hidden emu_fiber_begin
    .type emu_fiber_begin, @function
    .globl emu_fiber_restart
    .hidden emu_fiber_restart
    .type emu_fiber_restart, @function
    .p2align 4
emu_fiber_begin:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rdi
emu_fiber_restart:
    .cfi_startproc
    .cfi_undefined %rip
    movq %rdi, %rsp
    xorl %ebp, %ebp
    call emu_thread_begin
    movq %rdx, %rdi
    call 1f
    pushq $0 // in place of a return address
    jmp emu_thread_end
1:  subq $8, %rsp
    call *%rax
    addq $8, %rsp
    ret
    .cfi_endproc
    .size emu_fiber_restart, .-emu_fiber_restart
    .size emu_fiber_begin, .-emu_fiber_begin

#endif
    .section .note.GNU-stack, "", @progbits
