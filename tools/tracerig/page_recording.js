// SPDX-License-Identifier: GPL-2.0
/*
 * What the recording of a case shows, for its page: open_html.c writes DATA. All times are ns
 * since the operation began. The rest of the page is in page_timeline.js and page.js.
 */
const C = DATA.case, ALARM = C.alarm, X = DATA.explain, OP = DATA.operation, IS_TIME = C.chart.unit === "ns";
const THREADS = DATA.threads.map(([pid, comm]) => pid ? comm + "-" + pid : "idle");
const VECS = ["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"];
/* Kinds of parts, as in explain.h */
const PARTS = ["run", "wait", "interrupt", "blocked", "blocked", "queue", "device"];
/* Without events for so long, outside of the operation, a recording is between two windows */
const SILENCE = 2e8;

/* ---- the recording, as arrays of numbers */
const E = (() => {
	const e = DATA.events, n = e.t.length;
	let t = 0;
	return { n, t: Float64Array.from(e.t, d => t += d), cpu: Uint16Array.from(e.cpu), kind: Uint16Array.from(e.kind),
		thread: Uint32Array.from(e.thread), a: Int32Array.from(e.a), b: Float64Array.from(e.b) };
})();
const ROLE = DATA.kinds.map(k => k.role);
const FROM = E.n ? E.t[0] : 0, TO = E.n ? Math.max(E.t[E.n - 1], FROM + 1000) : 1000;

/* Without switches nothing is known of what ran */
const HAS_SWITCH = ROLE.includes("switch");

function role(i) { return ROLE[E.kind[i]]; }
function textOf(k) { return k < 0 ? "" : DATA.texts[k]; }
function vecOf(k) { return "softirq " + (VECS[k] || k); }

/* [dev, name] of /proc/diskstats */
const DISKS = new Map((DATA.state.find(f => f.name === "diskstats.txt") || { text: "" }).text.split("\n")
	.map(l => l.trim().split(/\s+/)).map(f => [f[0] + ":" + f[1], f[2]]));
const DEVICES = DATA.devices.map(d => DISKS.has(d) ? `${DISKS.get(d)} (${d})` : d);

/* Stretches of time: begins and ends in order, and what is in each */
class Spans {
	constructor() { Object.assign(this, { from: [], to: [], what: [] }); }

	add(from, to, what) {
		if (to <= from)
			return;
		this.from.push(from);
		this.to.push(to);
		this.what.push(what);
	}

	get n() { return this.from.length; }
	/* The first one that ends after a time */
	first(t) { return bisect(this.n, i => this.to[i] <= t); }
	/* The one at a time, or -1 */
	at(t) {
		const i = this.first(t);
		return i < this.n && this.from[i] <= t ? i : -1;
	}

	sum() { return this.from.reduce((sum, from, i) => sum + this.to[i] - from, 0); }
}

/* Where nothing is recorded on any CPU: between windows, and what the page leaves out */
const BREAKS = new Spans();
for (let i = 1; i < E.n; i++) {
	const from = E.t[i - 1], to = E.t[i], middle = DATA.left[1];
	const left = middle && from < middle[0] && to > middle[1];
	if (left || (to - from >= SILENCE && (!OP || to <= OP.start || from >= Math.max(OP.end, ALARM.time))))
		BREAKS.add(from, to, left);
}

/*
 * Requests to devices; @begin and @end: when they are known to have been in flight. What
 * becomes of them where nothing is recorded is not known.
 */
const REQUESTS = (() => {
	let last = 0;
	return DATA.requests.map(([thread, dev, sector, nr, queued, issued, completed]) => {
		const begin = last += queued === null ? issued : queued, gap = BREAKS.first(begin);
		return { thread, dev, sector, nr, begin, issued: queued === null ? begin : issued === null ? null : begin + issued,
			end: completed !== null ? begin + completed : gap < BREAKS.n ? Math.max(begin, BREAKS.from[gap]) : TO };
	});
})();

/* The request that the operation is */
const OWN = OP && OP.sector !== undefined ? REQUESTS.find(r => r.dev === OP.dev && OP.sector >= r.sector &&
	OP.sector < r.sector + Math.max(r.nr, 1) && r.begin < OP.end && r.end > OP.start) : undefined;

/* ---- what each CPU did: threads that ran, interrupts, and where that is not recorded */
const CPUS = (() => {
	const cpus = new Map(), gaps = new Map();
	for (const [cpu, from, to, missed] of DATA.gaps)
		gaps.set(cpu + " " + to, [from === null ? FROM : from, missed]);
	function lane(number) {
		const c = { number, runs: new Spans(), hard: new Spans(), soft: new Spans(), unknown: new Spans(), events: [], blamed: new Set(),
			thread: -1, since: FROM, last: FROM, hardFrom: null, softFrom: null, breaks: 0 };
		cpus.set(number, c);
		return c;
	}
	function ran(c, to) {
		if (HAS_SWITCH && c.thread >= 0 && DATA.threads[c.thread][0])
			c.runs.add(c.since, to, c.thread);
	}
	/* Its records between two times are missing: nothing is known of it */
	function forget(c, from, to, missed) {
		ran(c, from);
		c.unknown.add(from, to, missed);
		Object.assign(c, { thread: -1, since: to, hardFrom: null, softFrom: null });
	}
	function handler(c, which, spans, name, t) {
		const from = c[which];
		if (name !== null) {
			c[which] = [t, name];
		} else {
			/* Its begin may be before the recording */
			if (from)
				spans.add(from[0], t, from[1]);
			c[which] = null;
		}
	}
	for (let i = 0; i < E.n; i++) {
		const c = cpus.get(E.cpu[i]) || lane(E.cpu[i]), t = E.t[i], gap = gaps.get(E.cpu[i] + " " + t);
		for (; c.breaks < BREAKS.n && BREAKS.to[c.breaks] <= t; c.breaks++)
			forget(c, Math.max(c.since, BREAKS.from[c.breaks]), BREAKS.to[c.breaks], null);
		if (gap && gap[0] >= c.since)
			forget(c, gap[0], t, gap[1]);
		if (c.thread < 0)
			c.thread = E.thread[i];
		c.events.push(i);
		switch (role(i)) {
		case "switch":
			ran(c, t);
			c.thread = E.a[i];
			c.since = t;
			break;
		case "irq":
			handler(c, "hardFrom", c.hard, "interrupt " + textOf(E.a[i]), t);
			break;
		case "irq_exit":
			handler(c, "hardFrom", c.hard, null, t);
			break;
		case "softirq":
			handler(c, "softFrom", c.soft, vecOf(E.a[i]), t);
			break;
		case "softirq_exit":
			handler(c, "softFrom", c.soft, null, t);
			break;
		}
		c.last = t;
	}
	for (const c of cpus.values()) {
		for (; c.breaks < BREAKS.n; c.breaks++)
			forget(c, Math.max(c.since, BREAKS.from[c.breaks]), BREAKS.to[c.breaks], null);
		if (c.thread >= 0)
			ran(c, TO);
	}
	return [...cpus.values()].sort((a, b) => a.number - b.number);
})();

/* ---- what a thread did: [state, CPU or who woke it] */
function follow(who) {
	const s = new Spans();
	let state = null, since = FROM, detail = null, breaks = 0;
	function until(t) {
		if (state)
			s.add(since, t, [state, detail]);
		since = t;
	}
	for (let i = 0; i < E.n && HAS_SWITCH; i++) {
		const r = role(i), t = E.t[i];
		for (; breaks < BREAKS.n && BREAKS.to[breaks] <= t; breaks++) {
			until(BREAKS.from[breaks]);
			state = null;
			since = BREAKS.to[breaks];
		}
		if (r === "switch" && E.a[i] === who && E.thread[i] !== who) {
			until(t);
			[state, detail] = ["run", E.cpu[i]];
		} else if (r === "switch" && E.thread[i] === who && E.a[i] !== who) {
			if (!state)
				[state, detail] = ["run", E.cpu[i]];
			until(t);
			[state, detail] = E.b[i] ? [E.b[i] & 2 ? "blocked" : "sleep", null] : ["wait", null];
		} else if (r === "waking" && E.a[i] === who && state !== "run" && state !== "wait") {
			if (!state)
				state = "sleep";
			until(t);
			[state, detail] = ["wait", i];
		} else if (!state && E.thread[i] === who) {
			[state, detail] = ["run", E.cpu[i]];
		}
	}
	until(TO);
	return s;
}
const STATES = { run: "ran", wait: "waited for a CPU", sleep: "slept", blocked: "blocked (D)" };

/* ---- requests of each device: when their numbers change, and these */
const QUEUES = DEVICES.map((name, dev) => {
	const steps = [];
	for (const r of REQUESTS.filter(r => r.dev === dev)) {
		const issued = Math.min(r.issued === null ? r.end : r.issued, r.end);
		steps.push([r.begin, 1, 0], [issued, -1, 1], [r.end, 0, -1]);
	}
	steps.sort((a, b) => a[0] - b[0]);
	let queued = 0, issued = 0;
	const q = { dev, t: [], queued: [], issued: [] };
	for (const [t, dq, di] of steps) {
		queued += dq;
		issued += di;
		const k = q.t.length && q.t[q.t.length - 1] === t ? q.t.length - 1 : q.t.length;
		[q.t[k], q.queued[k], q.issued[k]] = [t, queued, issued];
	}
	return q;
});

/* When any of some requests, which are in order of their begins, was in flight */
function together(requests) {
	const s = new Spans();
	for (const { begin, end } of requests) {
		const last = s.n - 1;
		if (last >= 0 && begin <= s.to[last])
			s.to[last] = Math.max(s.to[last], end);
		else
			s.add(begin, end, null);
	}
	return s;
}

