/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Branches of every kind, for tests/full/lbr: a multiboot program without any
 * kernel, which records ROUNDS * 14 near calls and returns, and in each round an
 * interrupt by INT, an exception, their IRETs and a far return.
 */
.text
.long 0x1BADB002, 0, -0x1BADB002
.code32
.globl _start
_start:
	mov $stack, %esp
	lgdt gdtr
	ljmp $8, $1f
1:	mov $16, %ax
	mov %ax, %ds
	mov %ax, %ss
	mov %ax, %es
	lidt idtr
	/* Where INT 0x80 and an invalid instruction go */
	mov $soft, %eax
	mov $idt+0x80*8, %edi
	call gate
	mov $ud, %eax
	mov $idt+6*8, %edi
	call gate
	/* The plugin's list begins, then the LBR: calls, returns, others */
	.byte 0x0f,0x1f,0x80
	.ascii "LBR!"
	mov $0x14cf, %ecx
	mov $32, %eax
	xor %edx, %edx
	wrmsr
	mov $0x14ce, %ecx
	mov $0x780007, %eax
	xor %edx, %edx
	wrmsr
	mov $ROUNDS, %ebp
2:	call a
	mov $b, %eax
	call *%eax
	call *ptr
	int $0x80
	ud2
	push $8
	push $3f
	lret
3:	dec %ebp
	jnz 2b
	mov $0x14ce, %ecx
	xor %eax, %eax
	wrmsr
	/* Off, as q35's ACPI has it */
	mov $0x604, %dx
	mov $0x2000, %ax
	outw %ax, %dx
	mov $0xfe, %al
	outb %al, $0x64
4:	hlt
	jmp 4b
a:	call b
	ret
b:	nop
	call c
	ret
c:	nop
	nop
	ret
soft:	call a2
	iret
ud:	addl $2, (%esp)
	iret
a2:	ret
gate:	mov %ax, (%edi)
	movw $8, 2(%edi)
	movw $0x8e00, 4(%edi)
	shr $16, %eax
	mov %ax, 6(%edi)
	ret
.data
ptr:	.long a2
.align 8
gdt:	.quad 0, 0x00cf9a000000ffff, 0x00cf92000000ffff
gdtr:	.word 23
	.long gdt
idtr:	.word 0x7ff
	.long idt
.bss
.align 16
idt:	.skip 2048
	.skip 4096
stack:
