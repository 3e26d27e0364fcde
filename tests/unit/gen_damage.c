// SPDX-License-Identifier: GPL-2.0
/*
 * gen_damage IN OUT SEED
 *
 * Copies a file with damage in it, the same for the same seed: bytes flipped,
 * numbers made extreme, parts cut out, doubled or exchanged, the end cut off.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

static uint64_t rnd(void)
{
	state += 0x9e3779b97f4a7c15ULL; /* splitmix64 */
	uint64_t z = state;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* Somewhere; as often as not near the beginning, where sizes and formats are */
static size_t place(size_t len)
{
	size_t head = len < 8192 ? len : 8192;

	return rnd() % 2 ? rnd() % len : rnd() % head;
}

static void extreme(unsigned char *p, size_t room)
{
	static const uint64_t values[] = { 0,	       1,	   0x7f,
					   0x80,       0xff,	   0x7fff,
					   0xffff,     0x7fffffff, 0x80000000,
					   0xffffffff, INT64_MAX,  UINT64_MAX };
	uint64_t v = values[rnd() % (sizeof(values) / sizeof(*values))];
	size_t size = 1u << rnd() % 4;

	memcpy(p, &v, size < room ? size : room);
}

static size_t damage(unsigned char *b, size_t len)
{
	size_t a = place(len), c = place(len), n = rnd() % 64;

	if (a + n > len)
		n = len - a;
	if (c + n > len)
		n = len - c;
	switch (rnd() % 12) {
	case 0:
		return a;
	case 1:
		memmove(b + a, b + a + n, len - a - n);
		return len - n;
	case 2:
		memmove(b + c, b + a, n);
		return len;
	case 3:
	case 4:
	case 5:
	case 6:
		extreme(b + a, len - a);
		return len;
	default:
		b[a] ^= 1u << rnd() % 8;
		return len;
	}
}

int main(int argc, char **argv)
{
	unsigned char *b;
	size_t len;
	FILE *f;
	int n;

	f = argc == 4 ? fopen(argv[1], "rb") : NULL;
	if (!f || fseek(f, 0, SEEK_END))
		return 2;
	len = ftell(f);
	b = malloc(len);
	rewind(f);
	if (!b || !len || fread(b, 1, len, f) != len)
		return 2;
	fclose(f);
	state = strtoull(argv[3], NULL, 10);
	for (n = 1 + rnd() % 8; n && len; n--)
		len = damage(b, len);
	f = fopen(argv[2], "wb");
	if (!f || fwrite(b, 1, len, f) != len || fclose(f))
		return 2;
	free(b);
	return 0;
}
