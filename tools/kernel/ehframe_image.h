/* SPDX-License-Identifier: GPL-2.0 */
/*
 * iosys: small objects with an .eh_frame of one's own, for tests of ehframe.c.
 *
 * The file is mapped at IMAGE_BASE as it is: headers and .eh_frame in its first page,
 * which is not executable, code in the second one.
 */
#ifndef _IOSYS_EHFRAME_IMAGE_H
#define _IOSYS_EHFRAME_IMAGE_H

#include <linux/elf.h>
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#ifndef PT_GNU_EH_FRAME
#define PT_GNU_EH_FRAME 0x6474e550
#endif

#define IMAGE_BASE 0x400000
#define IMAGE_CODE 0x1000
#define IMAGE_SIZE 0x2000
#define IMAGE_HDR 0x200
#define IMAGE_EH_FRAME 0x300
#define IMAGE_PHDRS 3

/**
 * struct ehframe_image - an object
 * @bytes: its file
 * @at: where .eh_frame ends
 * @functions: how many there are
 */
struct ehframe_image {
	u8 bytes[IMAGE_SIZE];
	u32 at;
	u32 functions;
};

static inline void image_bytes(struct ehframe_image *image, const void *bytes,
			       u32 len)
{
	if (len)
		memcpy(image->bytes + image->at, bytes, len);
	image->at += len;
}

static inline void image_u32(struct ehframe_image *image, u32 value)
{
	put_unaligned_le32(value, image->bytes + image->at);
	image->at += 4;
}

static inline void image_segment(struct ehframe_image *image, u32 i, u32 type,
				 u32 flags, u64 offset, u64 size)
{
	struct elf64_phdr phdr = {
		.p_type = type,
		.p_flags = flags,
		.p_offset = offset,
		.p_vaddr = IMAGE_BASE + offset,
		.p_filesz = size,
		.p_memsz = size,
	};

	memcpy(image->bytes + sizeof(struct elf64_hdr) + i * sizeof(phdr),
	       &phdr, sizeof(phdr));
}

static inline void image_begin(struct ehframe_image *image)
{
	struct elf64_hdr ehdr = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_phoff = sizeof(ehdr),
		.e_phentsize = sizeof(struct elf64_phdr),
		.e_phnum = IMAGE_PHDRS,
	};
	static const u8 head[] = { 1, 0x1b, 3, 0x3b };

	memset(image, 0, sizeof(*image));
	memcpy(image->bytes, &ehdr, sizeof(ehdr));
	image_segment(image, 0, PT_LOAD, PF_R, 0, IMAGE_CODE);
	image_segment(image, 1, PT_LOAD, PF_R | PF_X, IMAGE_CODE,
		      IMAGE_SIZE - IMAGE_CODE);
	image->at = IMAGE_HDR;
	image_bytes(image, head, sizeof(head));
	image_u32(image, IMAGE_EH_FRAME - IMAGE_HDR - 4);
	image->at = IMAGE_EH_FRAME;
}

/* The length before a description that began at @from */
static inline void image_close(struct ehframe_image *image, u32 from)
{
	while (image->at & 3)
		image->at++;
	put_unaligned_le32(image->at - from - 4, image->bytes + from);
}

/*
 * A common description with an augmentation of "zR" or "zRS" and instructions, after
 * those that compilers begin with. Returns where it is.
 */
static inline u32 image_cie(struct ehframe_image *image, const char *letters,
			    const u8 *program, u32 len)
{
	static const u8 numbers[] = { 1, 0x78, 16, 1, 0x1b };
	static const u8 begin[] = { 0x0c, 7, 8, 0x90, 1 };
	u32 from = image->at;

	image->at += 4;
	image_u32(image, 0);
	image->bytes[image->at++] = 1;
	image_bytes(image, letters, strlen(letters) + 1);
	image_bytes(image, numbers, sizeof(numbers));
	image_bytes(image, begin, sizeof(begin));
	image_bytes(image, program, len);
	image_close(image, from);
	return from;
}

/* A function of @size bytes, at @pc in the code; in order of their addresses */
static inline void image_fde(struct ehframe_image *image, u32 cie, u32 pc,
			     u32 size, const u8 *program, u32 len)
{
	u8 *entry = image->bytes + IMAGE_HDR + 12 + 8 * image->functions++;
	u32 from = image->at;

	image->at += 4;
	image_u32(image, image->at - cie);
	image_u32(image, IMAGE_CODE + pc - image->at);
	image_u32(image, size);
	image->bytes[image->at++] = 0;
	image_bytes(image, program, len);
	image_close(image, from);
	put_unaligned_le32(IMAGE_CODE + pc - IMAGE_HDR, entry);
	put_unaligned_le32(from - IMAGE_HDR, entry + 4);
}

static inline void image_end(struct ehframe_image *image)
{
	image_u32(image, 0);
	put_unaligned_le32(image->functions, image->bytes + IMAGE_HDR + 8);
	image_segment(image, 2, PT_GNU_EH_FRAME, PF_R, IMAGE_HDR,
		      12 + 8 * image->functions);
}

static inline int image_read(void *arg, u64 offset, void *to, u32 len)
{
	struct ehframe_image *image = arg;

	if (offset > IMAGE_SIZE || len > IMAGE_SIZE - offset)
		return -EIO;
	memcpy(to, image->bytes + offset, len);
	return 0;
}

#endif
