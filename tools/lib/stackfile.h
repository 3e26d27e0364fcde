/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lines of the kernel's file iosys_stacks: the call stacks that iosys knows, and the files
 * that their frames are in. See Documentation/trace/iosys.rst in the patched kernel.
 */
#ifndef LIB_STACKFILE_H
#define LIB_STACKFILE_H

#include <stdbool.h>
#include <linux/limits.h>
#include <linux/types.h>

/* Bytes of a line with its end: a path, of which each byte can be escaped, is the longest */
#define STACKFILE_LINE (4 * PATH_MAX + 1024)

/* Frames of a stack, and bytes of a build-id, as in the kernel */
#define STACKFILE_FRAMES 256
#define STACKFILE_ID 20

/**
 * enum stackfile_kind - what a line is
 * @STACKFILE_STACK:	a stack
 * @STACKFILE_MAP:	a file
 * @STACKFILE_COMMENT:	a comment
 * @STACKFILE_DAMAGED:	nothing that the kernel writes
 */
enum stackfile_kind {
	STACKFILE_STACK,
	STACKFILE_MAP,
	STACKFILE_COMMENT,
	STACKFILE_DAMAGED,
};

/**
 * struct stackfile_line - a line
 * @id:		number of the stack or of the file
 * @end:	of a stack: why there are no more frames; "complete": it is whole
 * @guessed:	number of frames found by frame pointers
 * @nr:		number of frames
 * @map:	of each frame, number of its file; 0: memory of no file
 * @offset:	of each frame, offset in the file, or address
 * @dev:	of a file: its dev_t
 * @ino:	its inode
 * @build_id:	its build-id
 * @build_id_size: bytes of that; 0: unknown
 * @path:	its path
 */
struct stackfile_line {
	u32 id;
	char end[16];
	u32 guessed;
	u32 nr;
	u32 map[STACKFILE_FRAMES];
	u64 offset[STACKFILE_FRAMES];
	u32 dev;
	u64 ino;
	u8 build_id[STACKFILE_ID];
	u32 build_id_size;
	char path[PATH_MAX];
};

enum stackfile_kind stackfile_parse(const char *text, struct stackfile_line *l);

#endif
