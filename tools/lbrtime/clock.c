// SPDX-License-Identifier: GPL-2.0
/*
 * The duration of a cycle.
 *
 * The time T of a whole interval consists of the visits that are whole in it, C cycles
 * together, and of parts of the visits that its ends cut, of at most c0 and c1 cycles.
 * So a cycle lasts
 *
 *     (T - slack) / (C + c0 + c1) <= x <= (T + slack) / C
 *
 * whatever the visits are like. The x that most intervals allow is the clock. It is
 * rejected if less than AGREE_MIN of them allow it, or if it is outside of CYCLE_MIN
 * and CYCLE_MAX. Within what these intervals allow, x is the ratio of their times to
 * their cycles with half of each cut visit. Its error is the range that they allow; if
 * it was recorded which branches are new, so that intervals are not selected by length,
 * it is at most twice the standard error of that ratio.
 *
 * In any interval, the visits that are whole in it last no longer than the interval. So
 * no clock is accepted by which more than one in SLIP_LOSS of the intervals has more
 * cycles than time.
 *
 * Often the count restarts at each sample, for example if perf drops the return from
 * the sample's interrupt with the cycles up to it. Then the visit before the sample is
 * not measured, intervals do not agree as above, and there is no lower limit: what is
 * not measured may be the visit, or the interrupt, which lasts as long each time. The
 * clock is rejected then. lbrprof's own interrupt is short: for its samples, the clock
 * is the largest number of cycles that an interval has in its time.
 *
 * A clock that changes, or that differs between CPUs, is found by comparing the ratio of
 * times to cycles in blocks of consecutive intervals, halves to sixteenths of the
 * recording and all to sixteenths of a CPU's, with that of all. In
 * these sums the places of the cuts cancel out: what the sample before cut off a visit is
 * in the interval before. If the count restarts, what is measured of a cut visit after
 * the sample has the same distribution as what is not measured before it.
 *
 * If it was not recorded which branches are new, an interval that contradicts the clock
 * is not whole: its cycles do not fill it, or are too many for it. With a clock that is
 * given, the rest may be interrupts: cycles must fill half of the interval.
 */
#include <math.h>
#include <stdlib.h>

#include "lbrtime.h"
#include "order.h"

/* Minimum number of intervals */
#define INTERVALS_MIN 3

/* Minimum share of intervals that agree on a clock */
#define AGREE_MIN 0.75

/* Ratio of the first visits of intervals to all that means a restart: half to one */
#define RESTART_RATIO 0.8

/* Maximum ratio of cut visits to others */
#define CUT_MAX 0.5

/* The frequency of a CPU is no steadier than this */
#define ERROR_MIN 0.005

/* With a given clock, cycles fill at least 1 / FILL_PART of a whole interval */
#define FILL_PART 2

/*
 * The clock has changed if that of a block of at least BLOCK_MIN intervals, one of at most
 * BLOCKS_MAX, deviates by more than CHANGE_DEVIATIONS standard deviations. It is not used
 * if it deviates by more than CHANGE_MAX.
 */
#define BLOCKS_MAX 16
#define BLOCK_MIN 20
#define CHANGE_DEVIATIONS 4
#define CHANGE_MAX 0.05

/* An interval whose ratio of time to cycles is this times the median, or the median this
 * times the ratio, includes other delays
 */
#define OUTLIER 2

/*
 * Maximum delay of a sample, ns, and in parts of an interval: the smallest of
 * SLIP_PART, a half of it, a quarter and so on with which all but one in SLIP_LOSS of
 * the intervals agree.
 */
#define SLIP_MAX 300.0
#define SLIP_PART 0.05
#define SLIP_ROUNDS 6
#define SLIP_LOSS 20

/**
 * struct bounds - bounds of a cycle's duration, by an interval
 * @sample:	at its end
 * @low:	ns
 * @high:	ns, or INFINITY
 * @time:	of the interval, ns
 * @cycles:	of the interval, with half of each cut visit; 0 if the last one is
 *		unknown
 * @cut:	variance of @cycles, by the places of the cuts
 * @half:	@cycles, also if the visits are long
 * @most:	cycles of the interval with both cut visits; INFINITY if unknown
 */
struct bounds {
	const struct sample *sample;
	double low, high;
	double time, cycles, cut, half, most;
};

static double sum_cycles(const struct timeline *t, const struct sample *s)
{
	double sum = 0;
	u32 i;

	for (i = 0; i < s->nr; i++)
		sum += t->branch[s->first + i].cycles;
	return sum;
}

/* Cycles of the visit that the interval's end cuts, or INFINITY if unknown */
static double last_cycles(const struct timeline *t, const struct sample *s)
{
	const struct sample *after = s->after == NONE ? NULL :
							&t->sample[s->after];
	u16 cycles;

	if (!after || after->state != STATE_WHOLE || !after->nr)
		return INFINITY;
	cycles = t->branch[after->first].cycles;
	return cycles && cycles < CYCLES_MAX ? cycles : INFINITY;
}

/* A counter of user space overflows in no visit of the kernel */
static bool is_kernel(const struct timeline *t, u64 branch)
{
	return t->branch[branch].flags & (BRANCH_KERNEL | BRANCH_HELD);
}

/* Return: whether the interval has bounds */
static bool get_bounds(const struct timeline *t, const struct sample *s,
		       double part, struct bounds *b)
{
	double all, first, last, slack;

	if (s->state != STATE_WHOLE || s->before == NONE || s->ts <= s->start ||
	    !timeline_is_measured(t, s))
		return false;
	all = sum_cycles(t, s);
	first = t->branch[s->first].cycles;
	last = last_cycles(t, s);
	b->sample = s;
	b->time = s->ts - s->start;
	slack = fmin(SLIP_MAX, b->time * part);
	b->most = all + last;
	b->half = all + (last - first) / 2;
	b->low = (b->time - slack) / b->most;
	b->high = all > first ? (b->time + slack) / (all - first) : INFINITY;
	/*
	 * On average half of a visit is cut; of intervals that were inferred to be
	 * whole, which are the short ones, only if the visit is short compared with the
	 * interval.
	 */
	b->cycles = first + last < INFINITY &&
				    (!t->inferred ||
				     first + last <= (all - first) * CUT_MAX) &&
				    t->sample[s->before].nr &&
				    !is_kernel(t, s->first) &&
				    !is_kernel(t, t->sample[s->after].first) ?
			    b->half :
			    0;
	b->cut = b->cycles > 0 ? (square(first) + square(last)) / 12 : 0;
	return true;
}

/**
 * struct edge - begin or end of the range that an interval allows
 * @ns:		duration of a cycle
 * @step:	1 for a begin, -1 for an end
 */
struct edge {
	double ns;
	int step;
};

static int by_ns(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return ORDER(x->ns, y->ns) ?: y->step - x->step;
}

/*
 * Upper limit of a cycle: whole visits last no longer than the interval. One interval
 * in SLIP_LOSS may end with a late sample.
 */
static double longest(const struct bounds *b, u64 nr)
{
	double *high = xzalloc((nr + 1) * sizeof(*high)), least;
	u64 i;

	for (i = 0; i < nr; i++)
		high[i] = b[i].high;
	qsort(high, nr, sizeof(*high), order_double);
	least = nr ? high[nr / SLIP_LOSS] : INFINITY;
	free(high);
	return least;
}

/* Return: number of intervals that agree on the range from @low to @high */
static u64 agree(const struct bounds *b, u64 nr, double *low, double *high)
{
	double limit = longest(b, nr);
	struct edge *edge = xzalloc(2 * nr * sizeof(*edge) + 1);
	u64 most = 0, now = 0, edges = 0, i;

	for (i = 0; i < nr; i++) {
		edge[edges++] = (struct edge){ b[i].low, 1 };
		edge[edges++] = (struct edge){ b[i].high, -1 };
	}
	qsort(edge, edges, sizeof(*edge), by_ns);
	for (i = 0; i < edges; i++) {
		now += edge[i].step;
		if (edge[i].step < 0 || now <= most || edge[i].ns > limit)
			continue;
		most = now;
		*low = edge[i].ns;
		*high = edge[i + 1].ns;
	}
	free(edge);
	return most;
}

static bool allows(const struct bounds *b, double ns)
{
	return b->low <= ns && ns <= b->high;
}

/* The clock within @low and @high, by the intervals that agree */
static void settle_clock(struct timeline *t, const struct bounds *b, u64 nr,
			 double low, double high)
{
	double time = 0, cycles = 0, left = 0, cut = 0, n = 0, ns;
	u64 i;

	ns = isinf(high) ? low : sqrt(low * high);
	for (i = 0; i < nr; i++) {
		if (b[i].cycles <= 0 || !allows(&b[i], ns))
			continue;
		time += b[i].time;
		cycles += b[i].cycles;
	}
	if (cycles > 0)
		ns = fmin(fmax(time / cycles, low), high);
	for (i = 0; i < nr; i++) {
		if (b[i].cycles <= 0 || !allows(&b[i], ns))
			continue;
		left += square(b[i].time - ns * b[i].cycles);
		cut += square(ns) * b[i].cut;
		n++;
	}
	t->clock.ns = ns;
	t->clock.error = isinf(high) ? INFINITY :
				       fmax(high - ns, ns - low) / ns;
	if (!t->inferred && n >= INTERVALS_MIN)
		t->clock.error =
			fmin(t->clock.error,
			     DEVIATIONS * sqrt(fmax(left, cut)) / time);
	t->clock.error = fmax(t->clock.error, ERROR_MIN);
	if (n < INTERVALS_MIN)
		return;
	/* What the places of cuts do not explain, and what these may hide */
	t->slip = sqrt(fmax((left - cut) / n, 0) + cut / n * sqrt(2 / n));
	t->slip = fmin(fmax(t->slip, 1), SLIP_MAX);
}

/*
 * Maximum number of cycles per ns: of an interval with hardly any time that is not
 * measured. One in a thousand may be an outlier.
 */
static double top_rate(const struct timeline *t)
{
	double *rate = xzalloc(t->nr * sizeof(*rate)), top;
	u64 nr = 0, i;

	for (i = 0; i < t->nr; i++) {
		const struct sample *s = &t->sample[i];

		if (s->state == STATE_WHOLE && s->ts > s->start &&
		    timeline_is_measured(t, s))
			rate[nr++] = sum_cycles(t, s) / (s->ts - s->start);
	}
	qsort(rate, nr, sizeof(*rate), order_double);
	top = nr ? rate[nr - 1 - nr / 1000] : 0;
	free(rate);
	return top;
}

/*
 * Whether the counter of cycles restarts at each sample. A sample hits a visit the more
 * likely the longer that is: so the mean of the first branch's cycles is sum(L^2) /
 * sum(L) of all visits' cycles L if it measures the whole visit, but half of that if it
 * measures only the part after the sample.
 */
static bool counter_restarts(const struct timeline *t)
{
	double first = 0, nr = 0, sum = 0, squares = 0;
	u64 i;
	u32 j;

	for (i = 0; i < t->nr; i++) {
		const struct sample *s = &t->sample[i];

		if (s->state != STATE_WHOLE || s->before == NONE ||
		    !timeline_is_measured(t, s))
			continue;
		first += t->branch[s->first].cycles;
		nr++;
		for (j = 1; j < s->nr; j++) {
			double c = t->branch[s->first + j].cycles;

			sum += c;
			squares += c * c;
		}
	}
	return nr > 0 && first / nr * sum < RESTART_RATIO * squares;
}

/**
 * struct ratio - ratio of times to cycles of a block of intervals
 * @ns:		ns per cycle; 0 if too few intervals are usable
 * @error:	standard error, relative to @ns
 */
struct ratio {
	double ns;
	double error;
};

/* Cycles of an interval, with an error whose mean is 0; 0 if unknown */
static double fair_cycles(const struct timeline *t, const struct bounds *b)
{
	if (isinf(b->most))
		return 0;
	return t->restarts ? b->most : b->half;
}

/* Median of the intervals' times per cycle, of which there are at least BLOCK_MIN, or 0 */
static double median_ratio(const struct timeline *t, const struct bounds *b,
			   u64 nr)
{
	double *ratio = xzalloc((nr + 1) * sizeof(*ratio)), median;
	u64 n = 0, i;

	for (i = 0; i < nr; i++) {
		double cycles = fair_cycles(t, &b[i]);

		if (cycles > 0)
			ratio[n++] = b[i].time / cycles;
	}
	qsort(ratio, n, sizeof(*ratio), order_double);
	median = n >= BLOCK_MIN ? ratio[n / 2] : 0;
	free(ratio);
	return median;
}

static struct ratio find_ratio(const struct timeline *t, const struct bounds *b,
			       u64 nr)
{
	double median = median_ratio(t, b, nr), time = 0, cycles = 0, left = 0;
	struct ratio r = { 0 };
	int round;
	u64 i;

	for (round = 0; round < 2 && median > 0; round++) {
		for (i = 0; i < nr; i++) {
			double c = fair_cycles(t, &b[i]);

			if (c <= 0 || b[i].time > OUTLIER * median * c ||
			    b[i].time * OUTLIER < median * c)
				continue;
			if (round) {
				left += square(b[i].time - r.ns * c);
				continue;
			}
			time += b[i].time;
			cycles += c;
		}
		r.ns = time / cycles;
	}
	r.error = time > 0 ? sqrt(left) / time : 0;
	return r;
}

/*
 * How much the clock deviates from @all ns in @blocks and more equal parts of intervals, if
 * that is more than @stated and chance. If it changes steadily, the ends of a part deviate
 * more than its mean.
 */
static double find_deviation(const struct timeline *t, const struct bounds *b,
			     u64 nr, u64 blocks, double all, double stated)
{
	double off, most = 0;
	struct ratio part;
	u64 i;

	for (; blocks <= BLOCKS_MAX; blocks *= 2) {
		for (i = 0; i < blocks; i++) {
			u64 from = nr * i / blocks, to = nr * (i + 1) / blocks;

			part = find_ratio(t, b + from, to - from);
			off = fabs(part.ns / all - 1);
			if (part.ns <= 0 ||
			    off <= stated + CHANGE_DEVIATIONS * part.error)
				continue;
			if (blocks > 1)
				off *= (double)blocks / (blocks - 1);
			most = fmax(most, off + DEVIATIONS * part.error);
		}
	}
	return most;
}

static int by_cpu(const void *a, const void *b)
{
	const struct sample *x = ((const struct bounds *)a)->sample;
	const struct sample *y = ((const struct bounds *)b)->sample;

	return ORDER(x->cpu, y->cpu) ?: ORDER(x, y);
}

/*
 * How much the clock deviates in a part of the recording, or on a CPU, from that of all of
 * it. @spread is set to the deviation of CPUs that cannot be excluded. Orders the intervals
 * by CPU.
 */
static double find_change(const struct timeline *t, struct bounds *b, u64 nr,
			  double *spread)
{
	double stated = t->restarts ? 0 : t->clock.error, change;
	double all = find_ratio(t, b, nr).ns;
	struct ratio cpu;
	u64 i, next;

	*spread = 0;
	if (all <= 0)
		return 0;
	if (!t->restarts && t->clock.state == CLOCK_KNOWN)
		all = t->clock.ns;
	change = find_deviation(t, b, nr, 2, all, stated);
	qsort(b, nr, sizeof(*b), by_cpu);
	for (i = 0; i < nr; i = next) {
		for (next = i + 1; next < nr; next++)
			if (b[next].sample->cpu != b[i].sample->cpu)
				break;
		cpu = find_ratio(t, b + i, next - i);
		if (next - i == nr || cpu.ns <= 0)
			continue;
		*spread = fmax(*spread,
			       fabs(cpu.ns / all - 1) + DEVIATIONS * cpu.error);
		change = fmax(change, find_deviation(t, b + i, next - i, 1, all,
						     stated));
	}
	return change;
}

/*
 * Whether intervals that lost branches have more cycles than time. If it was recorded
 * which branches are new, all visits but the oldest are whole in the interval.
 */
static bool lost_exceed(const struct timeline *t)
{
	double least = t->clock.ns * (1 - t->clock.error) * (1 - SLIP_PART);
	u64 nr = 0, exceed = 0, i;

	for (i = 0; i < t->nr && !t->inferred; i++) {
		const struct sample *s = &t->sample[i];

		if (s->state != STATE_LOST || !timeline_is_measured(t, s))
			continue;
		nr++;
		exceed += (sum_cycles(t, s) - t->branch[s->first].cycles) *
				  least >
			  s->ts - s->start + SLIP_MAX;
	}
	return exceed >= INTERVALS_MIN && exceed * SLIP_LOSS > nr;
}

/* A clock that changed a little has a larger error; one that changed more is not used */
static void check_steady(struct timeline *t, struct bounds *b, u64 nr)
{
	struct clock *c = &t->clock;
	double off, change;

	if (c->state > CLOCK_BOUND)
		return;
	change = find_change(t, b, nr, &off);
	if (change > CHANGE_MAX || lost_exceed(t)) {
		c->state = CLOCK_CHANGED;
		return;
	}
	off = fmax(off, change);
	c->spread = off;
	/* The largest number of cycles is of the fastest part */
	if (c->state == CLOCK_BOUND)
		c->ns *= 1 + 2 * off;
	else
		c->error = fmax(c->error, t->restarts ? 2 * off : off);
}

static u64 all_bounds(const struct timeline *t, double part, struct bounds *b)
{
	u64 nr = 0, i;

	for (i = 0; i < t->nr; i++)
		nr += get_bounds(t, &t->sample[i], part, &b[nr]);
	return nr;
}

/* Return: part of an interval; @low and @high: range on which
 * the intervals agree with it
 */
static double find_slip(const struct timeline *t, struct bounds *b, double *low,
			double *high)
{
	double part = SLIP_PART, a, c;
	u64 agreed, nr;
	int i;

	for (i = 0; i < SLIP_ROUNDS; i++) {
		nr = all_bounds(t, part / 2, b);
		agreed = agree(b, nr, &a, &c);
		if (agreed < t->clock.agree - t->clock.agree / SLIP_LOSS)
			break;
		part /= 2;
		*low = a;
		*high = c;
	}
	return part;
}

/* The clock by whole intervals; one that begins at a switch counts
 * only if the counter restarts
 */
static void by_intervals(struct timeline *t)
{
	struct bounds *b = xzalloc(t->nr * sizeof(*b));
	double low = 0, high = INFINITY, rate;
	u64 nr = all_bounds(t, SLIP_PART, b);

	t->clock.intervals = nr;
	t->clock.agree = agree(b, nr, &low, &high);
	t->clock.state = CLOCK_KNOWN;
	if (nr < INTERVALS_MIN || (low <= 0 && isinf(high))) {
		t->clock.state = CLOCK_FEW;
	} else if (t->clock.agree >= AGREE_MIN * nr) {
		nr = all_bounds(t, find_slip(t, b, &low, &high), b);
		settle_clock(t, b, nr, low, high);
	} else if (counter_restarts(t)) {
		t->restarts = true;
		rate = top_rate(t);
		t->clock.ns = rate > 0 ? 1 / rate : 0;
		t->clock.error = 0.01;
		if (t->inferred)
			t->clock.state = CLOCK_BOUND;
	} else {
		t->clock.state = CLOCK_CONTRADICTED;
	}
	if (t->clock.state <= CLOCK_BOUND &&
	    !(t->clock.ns >= CYCLE_MIN && t->clock.ns <= CYCLE_MAX))
		t->clock.state = CLOCK_IMPLAUSIBLE;
	check_steady(t, b, nr);
	free(b);
}

/**
 * clock_hides - whether a cycle may be shorter than the intervals show
 * @t:	timeline, after clock_find()
 *
 * The LBR is frozen in the interrupt of perf's sample: each interval includes its time,
 * which cannot be distinguished from longer cycles.
 */
bool clock_hides(const struct timeline *t)
{
	return t->inferred && !t->clock.given;
}

/* Whether the cycles, with both cut visits, fill too little of the interval */
static bool is_unfilled(const struct bounds *b, double ns)
{
	return ns * b->most * FILL_PART < b->time;
}

/*
 * Whether too many intervals are not filled by their cycles. If the count restarts, it
 * shows only in their sum: the visit before a sample is not measured.
 */
static bool leaves_unfilled(const struct timeline *t, double ns)
{
	struct bounds b, sum = { 0 };
	u64 nr = 0, unfilled = 0, i;

	for (i = 0; i < t->nr; i++) {
		if (!get_bounds(t, &t->sample[i], SLIP_PART, &b) ||
		    isinf(b.most))
			continue;
		nr++;
		unfilled += is_unfilled(&b, ns);
		sum.time += b.time;
		sum.most += b.most;
	}
	if (nr < INTERVALS_MIN)
		return false;
	return t->restarts ? is_unfilled(&sum, ns) :
			     unfilled > (1 - AGREE_MIN) * nr;
}

/* A clock from many intervals that agree takes precedence over the user's */
static bool contradicts(const struct timeline *t, double ns)
{
	const struct clock *c = &t->clock;
	double off = ns / c->ns - 1;

	if (leaves_unfilled(t, ns))
		return true;
	if (c->state == CLOCK_BOUND)
		return off > SLIP_PART;
	if (c->state != CLOCK_KNOWN || t->restarts)
		return false;
	return (clock_hides(t) ? off : fabs(off)) > 2 * c->error + SLIP_PART;
}

/**
 * clock_range - range of a cycle's duration
 * @t:		timeline, after clock_find()
 * @least:	set to the minimum, ns
 * @most:	set to the maximum, ns
 *
 * Return: false if nothing is known.
 */
bool clock_range(const struct timeline *t, double *least, double *most)
{
	const struct clock *c = &t->clock;

	*least = CYCLE_MIN;
	if (c->state == CLOCK_BOUND)
		*most = c->ns;
	else if (c->state == CLOCK_KNOWN && !isinf(c->error))
		*most = c->ns * (1 + c->error);
	else
		return false;
	if (c->state == CLOCK_KNOWN && !clock_hides(t))
		*least = c->ns * (1 - c->error);
	return true;
}

/* If the intervals contradict it, the clock that they show, if any, remains in @ns */
static void use_given(struct timeline *t, double ns)
{
	struct clock *c = &t->clock;

	if (contradicts(t, ns)) {
		c->ns = c->state == CLOCK_KNOWN ? c->ns : 0;
		c->state = CLOCK_REFUSED;
		return;
	}
	c->state = CLOCK_KNOWN;
	c->ns = ns;
	c->error = c->spread;
	c->given = true;
}

/**
 * clock_find - find the duration of a cycle
 * @t:		timeline, with its states, and branches without jumps
 * @ghz:	cycles per ns, or 0 to find it
 */
void clock_find(struct timeline *t, double ghz)
{
	t->slip = SLIP_MAX;
	if (!t->has_cycles)
		return;
	by_intervals(t);
	if (ghz > 0 && t->clock.state != CLOCK_CHANGED)
		use_given(t, 1 / ghz);
	if (t->clock.state == CLOCK_KNOWN)
		t->ns_per_cycle = t->clock.ns;
}

/**
 * clock_check - intervals that contradict the clock are not whole
 * @t:	timeline, after clock_find()
 */
void clock_check(struct timeline *t)
{
	double ns = t->clock.state == CLOCK_REFUSED ? t->clock.ns :
						      t->ns_per_cycle;
	struct bounds b;
	u64 i;

	if (!t->inferred || ns <= 0)
		return;
	for (i = 0; i < t->nr; i++) {
		struct sample *s = &t->sample[i];

		if (!get_bounds(t, s, SLIP_PART, &b))
			continue;
		/*
		 * A counter that restarts leaves out the visit before the sample; a
		 * given clock, the time of interrupts
		 */
		if (t->restarts)
			b.low = 0;
		else if (t->clock.given)
			b.low = b.time / FILL_PART / b.most;
		if (allows(&b, ns))
			continue;
		s->state = STATE_LOST;
		s->flags |= LBRPROF_LOST;
		t->intervals[STATE_WHOLE]--;
		t->intervals[STATE_LOST]++;
		t->time[STATE_WHOLE] -= s->ts - s->start;
		t->time[STATE_LOST] += s->ts - s->start;
	}
}

/**
 * clock_trouble - why cycles are not used
 * @t:	timeline, after clock_find(), with an unknown clock
 *
 * Return: a message.
 */
const char *clock_trouble(const struct timeline *t)
{
	switch (t->clock.state) {
	case CLOCK_BOUND:
		return "they exclude the time before a sample and in its interrupt, so the duration of a cycle is unknown (give it with --ghz)";
	case CLOCK_FEW:
		return "too few intervals are whole to find the duration of a cycle (give it with --ghz)";
	case CLOCK_CONTRADICTED:
		return "the intervals do not agree on the duration of a cycle";
	case CLOCK_REFUSED:
		return "--ghz contradicts the samples: cycles would exceed the intervals, or fill less than half of them";
	case CLOCK_CHANGED:
		return "the duration of a cycle changed during the recording, or differs between CPUs, by more than 5 %";
	case CLOCK_IMPLAUSIBLE:
		return "by the intervals, a cycle is shorter than 0.1 ns or longer than 10 ns";
	default:
		return "none were recorded";
	}
}
