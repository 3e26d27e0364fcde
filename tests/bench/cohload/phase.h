/* SPDX-License-Identifier: GPL-2.0 */
/* Long nops that mark a phase for the plugin coherence.c, which has the same bytes. */
#ifndef COHLOAD_PHASE_H
#define COHLOAD_PHASE_H

/* nopl 0x5b484f43(%rax), ...: it begins, its rounds begin to count, it ends */
#define PHASE_BEGIN() \
	asm volatile(".byte 0x0f, 0x1f, 0x80; .ascii \"COH[\"" ::: "memory")
#define PHASE_COUNT() \
	asm volatile(".byte 0x0f, 0x1f, 0x80; .ascii \"COH#\"" ::: "memory")
#define PHASE_END() \
	asm volatile(".byte 0x0f, 0x1f, 0x80; .ascii \"COH]\"" ::: "memory")

#endif
