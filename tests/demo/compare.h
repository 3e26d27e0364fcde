/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of compare share; see compare.c. */
#ifndef DEMO_COMPARE_H
#define DEMO_COMPARE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <trace-cmd/trace-cmd.h>

#define NSEC_PER_SEC 1000000000ull
#define PAGE 4096
#define WORST 10

/* What a guest usually gives that gets all the CPU time that it asks for */
#define USUAL_STORM_LOW 12
#define USUAL_STORM_HIGH 25
#define USUAL_CALM 20

/* Share of the host's CPUs that others use, in per cent, from which on it is busy */
#define BUSY_PERCENT 15

/*
 * The readers' parent samples the CPUs each half second.  When neither it nor any
 * reader did anything for longer than this, the whole guest stood still.
 */
#define STILL (6 * NSEC_PER_SEC / 10)

/* The limit may exceed a second only if healthy reads are as slow as this. */
#define UNHEALTHY (NSEC_PER_SEC / 4)

/**
 * struct one_read - a read as its process saw it
 * @pid:	the process
 * @start:	when it began, ns of CLOCK_MONOTONIC
 * @end:	when it returned
 * @sector:	where
 * @runnable:	for how long of this its process had no CPU, at least, ns
 * @duration:	what the alarm in the log says, ns; 0: none
 * @logged:	its completion is in the log of the defaults
 * @device:	its completion is in the log of the paper's settings
 * @excused:	it need not be in the log, see is_excused()
 */
struct one_read {
	int pid;
	uint64_t start;
	uint64_t end;
	uint64_t sector;
	uint64_t runnable;
	uint64_t duration;
	bool logged;
	bool device;
	bool excused;
};

/* A time in which the whole guest stood still */
struct pause {
	uint64_t begin;
	uint64_t end;
};

/**
 * struct reads - the reads of one recording
 * @read:	each of them, the slowest first
 * @nr:		number of them
 * @slow:	how many took more than a second
 * @begin:	start of the first one
 * @pause:	when the guest stood still during it, in order of time
 * @nr_pauses:	number of these
 * @paused:	their length together, ns
 */
struct reads {
	struct one_read *read;
	size_t nr;
	size_t slow;
	uint64_t begin;
	struct pause *pause;
	size_t nr_pauses;
	uint64_t paused;
};

/**
 * struct completion - a block_rq_complete in a log
 * @ts:		when, ns
 * @sector:	where
 * @duration:	of the alarm that follows it on its CPU, ns; 0: none
 * @taken:	it is some read's already
 */
struct completion {
	uint64_t ts;
	uint64_t sector;
	uint64_t duration;
	bool taken;
};

/**
 * struct log - what reached the file from one trace buffer
 * @events:	number of events
 * @alarms:	how many of them are ctlchart_alarm
 * @event_bytes: bytes of events in the ring's pages
 * @alarm_bytes: how many of them are of ctlchart_alarm
 * @limit_bytes: how many of them are of ctlchart_limit
 * @bytes:	bytes of ring pages
 * @lost:	events were overwritten before they were read
 * @done:	the completions, by time
 * @nr_done:	number of them
 * @ts:		time of each event
 * @sum:	bytes of events up to it
 */
struct log {
	size_t events;
	size_t alarms;
	uint64_t event_bytes;
	uint64_t alarm_bytes;
	uint64_t limit_bytes;
	uint64_t bytes;
	bool lost;
	struct completion *done;
	size_t nr_done;
	uint64_t *ts;
	uint64_t *sum;
	/* while reading: */
	uint64_t *page; /* file offsets of pages seen last, by CPU */
	size_t *last_done; /* last completion by CPU, plus 1 */
	int cpus;
};

/**
 * struct cpu_shares - user, system, iowait, idle, in per cent of the CPUs' time
 */
struct cpu_shares {
	double user;
	double system;
	double iowait;
	double idle;
};

/* Samples of it: shares between two, time at the end of each */
struct cpu_log {
	struct cpu_shares all;
	size_t nr;
	uint64_t begin; /* time of the first sample, ns */
	double *at;
	double *busy; /* user and system */
	double *iowait;
	double *idle;
};

/**
 * struct file - one trace.dat
 * @main:	its main buffer
 * @paper:	the instance of the paper's settings, if it has one
 * @plain:	the instance of plain ftrace, if it has one
 * @metadata:	all bytes of the file that are not of the ring
 */
struct file {
	struct log main;
	struct log paper;
	struct log plain;
	uint64_t metadata;
};

/* How slow reads fared */
struct found {
	size_t whole; /* in the log of the defaults */
	size_t device; /* in the log of the paper's settings */
	size_t excused;
	size_t starved; /* of these, by a CPU and not by the disk */
	size_t missing; /* neither in the log of the defaults nor excused */
	uint64_t limit; /* of the chart of the defaults, ns */
};

struct result {
	struct file calm;
	struct file plain;
	struct file chart;
	struct reads calm_reads;
	struct reads plain_reads;
	struct reads reads;
	struct cpu_log cpu_calm;
	struct cpu_log cpu_plain;
	struct cpu_log cpu_chart;
	struct found found_calm;
	struct found found;
	double others; /* per cent of the host's CPUs; negative: not known */
};

extern const char *dir;

void __attribute__((noreturn, format(printf, 1, 2)))
die(const char *format, ...);
char *path_of(const char *name, const char *suffix);
FILE *open_file(const char *path, const char *mode);
void close_written(FILE *file, const char *path);
struct reads load_reads(const char *name);
struct cpu_log load_cpu(const char *name);
/* Note when neither a reader nor their parent did anything. */
void find_pauses(struct reads *reads, const struct cpu_log *cpu);
/*
 * How long a read took without the time that the guest stood still or its process
 * waited for a CPU.  These overlap, and so only the longer one is subtracted.
 */
uint64_t running_time(const struct reads *reads, const struct one_read *r);
/* The time that 99 in 100 reads do not exceed */
uint64_t percentile99(const struct reads *reads);
struct file load_file(const char *name, bool paper, bool plain);
/* number_of - the number after @before in what the chart said of itself */
uint64_t number_of(const char *name, const char *chart, const char *before);
void print_result(const struct result *r);
/* The figures beside the usual ones, and what the host has to do with them */
void print_usual(const struct result *r);
/* Why the demo could not show its case; not a failure of ctlchart */
void print_notes(const struct result *r);
void write_summary(const struct result *r);
void write_plots(const struct result *r);

#endif
