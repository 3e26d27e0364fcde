/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Order: comparing for qsort(), and searching what is sorted.
 */
#ifndef LIB_ORDER_H
#define LIB_ORDER_H

#include <linux/types.h>
#include <stdlib.h>

/*
 * -1, 0 or 1, as @a is less than, equal to or greater than @b.  What decides between equal
 * ones follows after ?:, so that ORDER(x->a, y->a) ?: ORDER(x->b, y->b) sorts by a, then b.
 */
#define ORDER(a, b)                    \
	({                             \
		__auto_type a_ = (a);  \
		__auto_type b_ = (b);  \
		(a_ > b_) - (a_ < b_); \
	})

/*
 * The first @i from @from to below @to for which @condition, an expression of @i, is true,
 * or @to.  If it is true for an @i, it is true for all greater ones.
 */
#define FIRST(i, from, to, condition)                      \
	({                                                 \
		u64 low_ = (from), high_ = (to);           \
		while (low_ < high_) {                     \
			u64 i = low_ + (high_ - low_) / 2; \
			if (condition)                     \
				high_ = i;                 \
			else                               \
				low_ = i + 1;              \
		}                                          \
		low_;                                      \
	})

static inline int order_u64(const void *a, const void *b)
{
	return ORDER(*(const u64 *)a, *(const u64 *)b);
}

static inline int order_u32(const void *a, const void *b)
{
	return ORDER(*(const u32 *)a, *(const u32 *)b);
}

static inline int order_double(const void *a, const void *b)
{
	return ORDER(*(const double *)a, *(const double *)b);
}

/**
 * sort_if_needed - qsort() of what is often in order already
 * @base: the first element
 * @nr: number of elements
 * @size: bytes of one
 * @order: compares two, as for qsort()
 */
static inline void sort_if_needed(void *base, size_t nr, size_t size,
				  int (*order)(const void *a, const void *b))
{
	char *p = base;
	size_t i;

	for (i = 1; i < nr; i++) {
		if (order(p + (i - 1) * size, p + i * size) > 0) {
			qsort(base, nr, size, order);
			return;
		}
	}
}

#endif
