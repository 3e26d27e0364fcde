// SPDX-License-Identifier: GPL-2.0
/* The page of a case, after page_recording.js: its head, the timeline, links and the search */

/* ---- names and colours */
const STRETCHES = new Spans();
for (const [from, to, part] of DATA.stretches)
	STRETCHES.add(from, to, part);
/* The part, or what an analyzer has found; null: no cause is named */
const CAUSE = !X.cause ? null : X.cause_by === "events" ? X.parts[0] : X.findings.find(f => f.by === X.cause_by && f.name === X.cause);
/* Whether the first part is it, which is red wherever it is */
const HAS_CAUSE = !!CAUSE && CAUSE === X.parts[0];
/* Runs for which the operation waited, if that is the cause */
for (const [from, to, part, cpu] of DATA.stretches) {
	const c = CPUS.find(c => c.number === cpu);
	if (part || !HAS_CAUSE || !c || PARTS[X.parts[0].kind] !== "wait")
		continue;
	for (let i = c.runs.first(from); i < c.runs.n && c.runs.from[i] < to; i++)
		c.blamed.add(i);
}
/* The thread that a part names */
function named(part) {
	const m = /^(?:waiting for a CPU: |blocked until )(.*?)(?: woke it)?$/.exec(part.name);
	return m ? THREADS.indexOf(m[1]) : -1;
}
const CULPRIT = HAS_CAUSE && PARTS[X.parts[0].kind] !== "wait" ? named(X.parts[0]) : -1;
const MAIN = OP && OP.pid ? DATA.threads.findIndex(([pid]) => pid === OP.pid) : OWN ? OWN.thread : -1;

function partColour(k) { return colour(HAS_CAUSE && k === 0 ? "bad" : "part-" + PARTS[X.parts[k].kind]); }
/* Threads of a program have one hue, apart from those of the cause and of the operation */
const HUES = THREADS.map((name, i) => {
	let h = 7;
	for (const c of DATA.threads[i][1].replace(/[-0-9]+$/, "").split(/[/:]/)[0])
		h = (h * 31 + c.codePointAt(0)) % 9973;
	return 50 + h * 137.5 % 120;
});
function threadColour(i) {
	return i === MAIN ? colour("op") : i === CULPRIT ? colour("bad") : `hsl(${HUES[i]} ${colour("soft")})`;
}

/* Times relative to the operation's begin */
function short(text) { return text.replace(/\.?0+(?= )/, ""); }
function since(t) { return (t < 0 ? "-" : "+") + time(Math.abs(t)); }
function amount(v) { return IS_TIME ? time(v) : count(v); }
function link(from, to) {
	const room = (to - from) * 0.15;
	return "#t=" + Math.floor(from - room) + "," + Math.ceil(to + room);
}

/* ---- the head: what happened, and why */
const main = page(`case ${C.case}: ${C.chart.name} took ${amount(ALARM.value)}, usually ${amount(ALARM.center)}`);
document.title = `case ${C.case}: ${X.cause || C.chart.name}`;

function put(parent, cls, ...texts) {
	const p = add(parent, "p", cls);
	for (const t of texts)
		p.append(t);
	return p;
}
function bold(text) { return el("b", "", text); }
/* What explain says about a part, with a link to its longest stretch */
function evidence(part) {
	const p = el("span");
	p.append(time(part.ns), part.usual ? `, usually ${time(part.usual)}` : "", "; longest ");
	const a = add(p, "a", "", `${time(part.longest)} at ${since(part.at)}`);
	a.href = link(part.at, part.at + part.longest);
	p.append(part.kind <= 2 ? ` on CPU ${part.cpu}` : "", part.evidence ? ": " + part.evidence : "");
	return p;
}

if (CAUSE)
	put(main, "headline", "cause: ", el("b", "v", (CAUSE.by ? CAUSE.by + ": " : "") + X.cause), `${X.awaited && ` (ioreq: ${X.awaited})`}, ${CAUSE.percent} % of the delay, confidence ${X.confidence} %`);
else
	put(main, "headline", bold("no cause"), ": " + X.why_none);
if (CAUSE)
	put(main, "", evidence(CAUSE));
put(main, "", `${ALARM.comm}-${ALARM.pid}, ${ALARM.keys}, limit ${amount(ALARM.limit)}; ${C.time.slice(0, 19).replace("T", " ")} UTC on ${C.host.name}, Linux ${C.host.release} ${C.host.machine}`);
if (DATA.damage)
	put(main, "bad", "The case is not as it was written: " + DATA.damage);

/* Two bars on one scale: the operation, and a usual one */
function bar(parent, label, pieces, whole, text) {
	const row = add(parent, "div", "bar");
	add(row, "span", "", label);
	const b = add(row, "div", "pieces");
	for (const [k, ns] of pieces) {
		const piece = add(b, "div");
		piece.style.width = 100 * ns / whole + "%";
		piece.style.background = k < 0 ? "" : partColour(k);
		piece.title = (k < 0 ? "unknown" : X.parts[k].name) + ", " + time(ns);
		if (k < 0)
			piece.className = "unknown";
	}
	add(row, "span", "n", text);
}
function fillBars() {
	bars.textContent = "";
	if (!OP || !X.parts.length)
		return;
	const whole = Math.max(X.duration, X.usual);
	bar(bars, "this one", [...X.parts.map((p, k) => [k, p.ns]), [-1, X.unseen]], whole, time(X.duration));
	const usual = X.parts.map((p, k) => [k, p.usual]), known = usual.reduce((sum, u) => sum + u[1], 0);
	bar(bars, "usually", [...usual.map(([k, ns]) => [k, ns * Math.min(1, X.usual / known)]), [-1, Math.max(0, X.usual - known)]], whole, time(X.usual));
}
const bars = add(main, "div", "bars");

/* ---- the timeline */
const tools = add(main, "div", "tools");
function button(text, label, click) {
	const b = add(tools, "button", "", text);
	b.title = label;
	b.setAttribute("aria-label", label);
	b.onclick = click;
	return b;
}

const AXIS = 20;
class Timeline extends Plot {
	constructor(parent) {
		super(parent, { label: "what threads, devices and CPUs did", cls: "timeline", least: 200, margin: [0, AXIS, 0, 4],
			all: { x0: FROM, x1: TO, y0: 0, y1: 1 } });
		this.setLanes(MAIN);
	}

	/* The operation, a thread, the devices with requests, and the CPUs with events */
	setLanes(who) {
		const thin = CPUS.length > 16;
		this.who = who;
		this.thread = who >= 0 ? follow(who) : new Spans();
		this.waits = together(REQUESTS.filter(r => r.thread === who));
		this.lanes = [];
		if (STRETCHES.n)
			this.lanes.push({ kind: "op", h: 26, name: "operation" });
		if (who >= 0 && HAS_SWITCH)
			this.lanes.push({ kind: "thread", h: 26, name: THREADS[who] });
		for (const q of QUEUES.filter(q => q.t.length).sort((a, b) => b.t.length - a.t.length))
			this.lanes.push({ kind: "device", h: 40, q, name: DEVICES[q.dev] });
		for (const c of CPUS)
			this.lanes.push({ kind: "cpu", h: thin ? 14 : 26, c, name: "CPU " + c.number });
		let y = AXIS;
		for (const l of this.lanes) {
			l.y = y;
			y += l.h;
		}
		this.canvas.style.height = y + 4 + "px";
		this.draw();
	}

	lane(kind) { return this.lanes.find(l => l.kind === kind); }
	laneAt(py) { return this.lanes.find(l => py >= l.y && py < l.y + l.h); }
	/* The operation with some of what is around it */
	operation() {
		if (OP)
			this.show(OP.start - (OP.end - OP.start) * 0.06, OP.end + (OP.end - OP.start) * 0.06);
		else
			this.reset();
	}

	draw() {
		this.margin[0] = this.canvas.clientWidth < 700 ? 74 : 130;
		super.draw();
		if (this.lanes)
			changed();
	}

	/* On a touch screen a finger moves the view, and two zoom */
	listen() {
		super.listen();
		const at = new Map(), c = this.canvas;
		c.addEventListener("pointerdown", e => {
			if (e.pointerType !== "touch")
				return;
			at.set(e.pointerId, e.offsetX);
			if (this.drag)
				this.drag.shift = true;
			if (at.size === 2) {
				this.drag = null;
				this.pinch = new Map([...at].map(([id, px]) => [id, this.atX(px)]));
			}
		});
		c.addEventListener("pointermove", e => {
			if (!at.has(e.pointerId))
				return;
			at.set(e.pointerId, e.offsetX);
			if (at.size === 2 && this.pinch)
				this.pinched([...this.pinch].map(([id, t]) => [at.get(id), t]));
		});
		for (const end of ["pointerup", "pointercancel"])
			c.addEventListener(end, e => {
				at.delete(e.pointerId);
				this.pinch = null;
			});
	}

	/* Show two times at two places */
	pinched([[px, t], [qx, u]]) {
		if (px === undefined || qx === undefined || (qx - px) * (u - t) <= 0)
			return;
		const span = (u - t) / (qx - px) * this.width, x0 = t - (px - this.left) / this.width * span;
		this.show(x0, x0 + span);
	}

	paint() {
		const g = this.g;
		if (!this.lanes)
			return;
		g.save();
		g.beginPath();
		g.rect(this.left, 0, this.width, this.canvas.clientHeight);
		g.clip();
		this.paintOperation();
		this.paintAxis();
		for (const l of this.lanes)
			this["paint_" + l.kind](l);
		this.paintMarks();
		g.restore();
		for (const l of this.lanes)
			this.paintName(l);
	}

	paintOperation() {
		const g = this.g;
		if (OP) {
			g.fillStyle = colour("area");
			g.fillRect(this.x(OP.start), AXIS, this.x(OP.end) - this.x(OP.start), this.height);
		}
	}

	paintAxis() {
		for (const t of this.ticksX(Math.max(2, this.width / 110))) {
			const x = Math.round(this.x(t)) + 0.5;
			this.line(x, AXIS - 4, x, AXIS + this.height, "grid");
			this.text(t ? short(since(t)) : "0", x + 3, 13, "left");
		}
	}

	paintMarks() {
		const bottom = AXIS + this.height, g = this.g;
		if (OP) {
			this.line(this.x(OP.start), AXIS, this.x(OP.start), bottom, "ink");
			this.line(this.x(OP.end), AXIS, this.x(OP.end), bottom, "ink");
		}
		this.line(this.x(ALARM.time), AXIS, this.x(ALARM.time), bottom, "bad", [4, 3]);
		if (view.event >= 0) {
			const x = this.x(E.t[view.event]);
			this.line(x, AXIS, x, bottom, "normal", [2, 2]);
		}
		if (view.hits) {
			g.fillStyle = colour("ink");
			for (const l of this.lanes.filter(l => l.kind === "cpu"))
				this.paintHits(l);
		}
	}

	paintHits(l) {
		let last = -1;
		for (const i of l.c.events) {
			const px = Math.round(this.x(E.t[i]));
			if (!view.hits.has(i) || px === last || px < this.left)
				continue;
			last = px;
			this.g.beginPath();
			this.g.moveTo(px - 3, l.y);
			this.g.lineTo(px + 3, l.y);
			this.g.lineTo(px, l.y + 6);
			this.g.fill();
		}
	}

	paintName(l) {
		const g = this.g, room = this.left - 10;
		let name = l.name;
		g.fillStyle = colour("ink");
		g.textAlign = "left";
		if (l.h < 14)
			return;
		while (name.length > 1 && g.measureText(name).width > room)
			name = name.slice(0, -2) + "…";
		g.fillText(name, 2, l.y + Math.min(l.h, 26) / 2 + 4);
		if (l.kind === "device" && this.left > 100) {
			g.fillStyle = colour("faint");
			g.fillText(`0 to ${counted(l.most, "request")}`, 2, l.y + 30);
		}
	}

	/* Boxes; ones narrower than a pixel share it: the more of it they fill, the darker it is */
	spans(s, y, h, fill, label) {
		const g = this.g, v = this.view;
		let px = -1, sum = 0, most = 0, at = 0;
		const flush = () => {
			if (sum > 0) {
				g.globalAlpha = Math.min(1, 0.25 + 0.75 * sum);
				g.fillStyle = fill(s.what[at], at);
				g.fillRect(px, y, 1, h);
				g.globalAlpha = 1;
			}
			sum = most = 0;
		};
		for (let i = s.first(v.x0); i < s.n && s.from[i] < v.x1; i++) {
			const a = Math.max(this.x(s.from[i]), this.left), b = Math.min(this.x(s.to[i]), this.left + this.width);
			if (Math.floor(a) !== px || b - a >= 1)
				flush();
			if (b - a >= 1) {
				g.fillStyle = fill(s.what[i], i);
				g.fillRect(a, y, b - a > 4 ? b - a - 0.7 : b - a, h);
				this.write(label && label(s.what[i]), a, b, y + h / 2 + 4);
				continue;
			}
			px = Math.floor(a);
			sum += b - a;
			if (b - a > most)
				[most, at] = [b - a, i];
		}
		flush();
	}

	/* A text in a box, if there is room for most of it */
	write(text, a, b, y) {
		const g = this.g;
		if (!text || b - a < 30 || b - a < g.measureText(text).width * 0.6)
			return;
		g.save();
		g.beginPath();
		g.rect(a, y - 20, b - a - 3, 30);
		g.clip();
		g.fillStyle = colour("on");
		g.textAlign = "left";
		g.fillText(text, a + 4, y);
		g.restore();
	}

	paint_op(l) {
		this.spans(STRETCHES, l.y + 3, l.h - 6, partColour, k => X.parts[k].key);
	}

	paint_thread(l) {
		const high = l.h - 8;
		this.spans(this.thread, l.y + 4, high, ([state]) => colour("state-" + state), ([state, detail]) => state === "run" ? "CPU " + detail : STATES[state]);
		this.spans(this.waits, l.y + l.h - 4, 3, () => colour("part-device"));
	}

	/* Requests in the queue above those in the device */
	paint_device(l) {
		const g = this.g, q = l.q, high = l.h - 6, bottom = l.y + l.h - 2, v = this.view;
		let px = -1, most = [0, 0];
		const first = Math.max(0, bisect(q.t.length, i => q.t[i] < v.x0) - 1);
		l.most = 1;
		for (let k = first; k < q.t.length && q.t[k] < v.x1; k++)
			l.most = Math.max(l.most, q.issued[k] + q.queued[k]);
		/* Within a pixel, the most that there were */
		const flush = (a, b) => {
			const [issued, both] = most.map(n => n / l.most * high);
			g.fillStyle = colour("part-queue");
			g.fillRect(a, bottom - both, b - a, both - issued);
			g.fillStyle = colour("part-device");
			g.fillRect(a, bottom - issued, b - a, issued);
			most = [0, 0];
		};
		for (let k = first; k < q.t.length && q.t[k] < v.x1; k++) {
			const a = Math.max(this.x(q.t[k]), this.left), b = k + 1 < q.t.length ? this.x(q.t[k + 1]) : this.x(TO);
			if (Math.floor(a) !== px && px >= 0)
				flush(px, px + 1);
			px = Math.floor(a);
			most = [Math.max(most[0], q.issued[k]), Math.max(most[1], q.issued[k] + q.queued[k])];
			if (b - a >= 1) {
				most = [q.issued[k], q.issued[k] + q.queued[k]];
				flush(a, Math.min(b, this.left + this.width));
				px = -1;
			}
		}
		if (px >= 0)
			flush(px, px + 1);
		if (OWN && OWN.dev === q.dev) {
			g.fillStyle = colour("bad");
			g.fillRect(this.x(OWN.begin), bottom - 3, this.x(OWN.end) - this.x(OWN.begin), 3);
		}
		this.line(this.left, bottom + 0.5, this.left + this.width, bottom + 0.5, "line");
	}

	paint_cpu(l) {
		const y = l.y + 3, h = l.h - 6, c = l.c, band = Math.max(3, Math.round(h / 3));
		const pale = i => view.threads && !view.threads.has(i);
		this.g.fillStyle = colour("panel");
		this.g.fillRect(this.left, y, this.width, h);
		this.spans(c.unknown, y, h, () => colour("unknown"), () => "not recorded");
		this.spans(c.runs, y, h, (i, k) => pale(i) ? colour("line") : c.blamed.has(k) && i !== MAIN ? colour("bad") : threadColour(i), i => pale(i) ? "" : THREADS[i]);
		this.spans(c.soft, y, band, () => colour("softirq"));
		this.spans(c.hard, y, band, () => colour("part-interrupt"));
		if (l.h > 20)
			this.paintWakings(l);
	}

	/* Wake-ups, if they can be seen apart */
	paintWakings(l) {
		const events = l.c.events, v = this.view, from = bisect(events.length, k => E.t[events[k]] < v.x0);
		const to = bisect(events.length, k => E.t[events[k]] <= v.x1), thread = this.lane("thread");
		if (to - from > this.width)
			return;
		for (let k = from; k < to; k++) {
			const i = events[k], x = this.x(E.t[i]);
			if (role(i) !== "waking")
				continue;
			this.line(x, l.y + l.h - 7, x, l.y + l.h - 1, "faint");
			if (thread && E.a[i] === this.who)
				this.line(x, thread.y + thread.h - 4, x, l.y + 3, "normal", [2, 2]);
		}
	}

	/* What is at a place: lines of text, its time, and its thread */
	whatIs(px, py) {
		const l = px >= this.left ? this.laneAt(py) : null, t = this.atX(px), near = 3 / this.width * (this.view.x1 - this.view.x0);
		if (!l)
			return null;
		const said = (text, s, i, thread = -1) => ({ text: `${text}\n${time(s.to[i] - s.from[i])} from ${since(s.from[i])}`, from: s.from[i], to: s.to[i], thread });
		/* The one at the time, or the first one that is close */
		const find = s => {
			const i = s.at(t), k = s.first(t - near);
			return i >= 0 ? i : k < s.n && s.from[k] <= t + near ? k : -1;
		};
		if (l.kind === "op") {
			const i = find(STRETCHES);
			return i < 0 ? null : said(X.parts[STRETCHES.what[i]].name, STRETCHES, i, named(X.parts[STRETCHES.what[i]]));
		}
		if (l.kind === "thread") {
			const i = find(this.thread);
			if (i < 0)
				return null;
			const [state, detail] = this.thread.what[i];
			return said(`${l.name} ${STATES[state]}` + (state === "run" ? ` on CPU ${detail}` : state === "wait" && detail !== null ? `\nwoken by ${waker(detail)}` : ""), this.thread, i, this.who);
		}
		if (l.kind === "device") {
			const k = bisect(l.q.t.length, i => l.q.t[i] <= t) - 1;
			return { text: `${l.name}\n` + (k < 0 ? "no requests" : `${counted(l.q.issued[k], "request")} in the device, ${l.q.queued[k]} in its queue`), thread: -1 };
		}
		const c = l.c, y = py - l.y, layers = [[c.hard, w => w], [c.soft, w => w]];
		if (y < 3 + Math.max(3, Math.round((l.h - 6) / 3)))
			for (const [s, name] of layers) {
				const i = find(s);
				if (i >= 0)
					return said(`CPU ${c.number}: ${name(s.what[i])}`, s, i);
			}
		const run = s => s.at(t) >= 0 ? s.at(t) : -1;
		if (run(c.unknown) >= 0)
			return said(`CPU ${c.number}: not recorded` + (c.unknown.what[run(c.unknown)] ? `, ${counted(c.unknown.what[run(c.unknown)], "record")} lost` : ""), c.unknown, run(c.unknown));
		const i = find(c.runs);
		return i < 0 ? { text: `CPU ${c.number}: ${HAS_SWITCH ? "idle" : "what ran is not recorded"}\nat ${since(t)}`, thread: -1 } :
			said(`CPU ${c.number}: ${THREADS[c.runs.what[i]]}`, c.runs, i, c.runs.what[i]);
	}

	hover(px, py) {
		const what = px === undefined ? null : this.whatIs(px, py);
		this.point(what ? what.text : "", px, py);
	}

	click(px, py) {
		const what = this.whatIs(px, py);
		picked.textContent = "";
		if (!what)
			return;
		picked.append(what.text.replace(/\n/g, ", ") + " ");
		if (what.to !== undefined)
			add(picked, "a", "", "zoom to it").href = link(what.from, what.to);
		if (what.thread >= 0 && what.thread !== this.who) {
			picked.append(" ");
			add(picked, "button", "", "follow " + THREADS[what.thread]).onclick = () => this.setLanes(what.thread);
		}
	}
}

function waker(i) {
	const c = CPUS.find(c => c.number === E.cpu[i]), t = E.t[i];
	for (const s of [c.hard, c.soft]) {
		const k = s.at(t);
		if (k >= 0)
			return s.what[k];
	}
	return THREADS[E.thread[i]];
}

/* What the page shows besides the time: hits of the search, the event that was chosen */
const view = { hits: null, threads: null, list: [], event: -1, shown: "", timer: null };
const search = add(tools, "input");
search.type = "search";
search.placeholder = "search threads, events, devices";
search.setAttribute("aria-label", "search threads, events, devices");
button("◀", "previous hit", () => jump(-1));
button("▶", "next hit", () => jump(1));
const found = add(tools, "span", "found");
const timeline = new Timeline(main);
button("operation", "show the operation", () => timeline.operation());
button("whole recording", "show all of the recording", () => timeline.reset());
button("−", "zoom out", () => timeline.zoom(1.6, timeline.left + timeline.width / 2));
button("+", "zoom in", () => timeline.zoom(0.6, timeline.left + timeline.width / 2));
button("←", "earlier", () => pan(-0.3));
button("→", "later", () => pan(0.3));
function pan(by) {
	const v = timeline.view, d = (v.x1 - v.x0) * by;
	timeline.show(v.x0 + d, v.x1 + d);
}
const picked = add(main, "p", "picked");
const marks = [];
if (STRETCHES.n && HAS_CAUSE)
	marks.push(["cause", "the cause"]);
if (MAIN >= 0 && HAS_SWITCH)
	marks.push(["op", THREADS[MAIN]]);
marks.push(["other", "other threads"], ["interrupt", "interrupt"], ["softirq", "softirq"]);
if (MAIN >= 0 && HAS_SWITCH)
	marks.push(["wait", "waits for a CPU"], ["sleep", "sleeps"], ["blocked", "blocked"]);
if (REQUESTS.length)
	marks.push(["device", "requests in the device"], ["queue", "in its queue"]);
marks.push(["hot", "the operation"], ["alarm", "alarm"]);
legend(main, marks);
put(main, "", "Times are since the operation began. Drag: choose a span. Wheel, + and -: zoom. Shift and drag, arrows: move. 0: all. Click: what is there. The address has the span that is shown: keep it as a link.");

/* ---- links: #t=FROM,TO&find=WORD */
function changed() {
	clearTimeout(view.timer);
	view.timer = setTimeout(() => {
		const v = timeline.view, parts = [`t=${Math.round(v.x0)},${Math.round(v.x1)}`];
		if (search.value)
			parts.push("find=" + encodeURIComponent(search.value));
		view.shown = "#" + parts.join("&");
		history.replaceState(null, "", view.shown);
		fillEvents();
	}, 150);
}
/* Show what the address has */
function go() {
	const p = new URLSearchParams(location.hash.slice(1)), t = (p.get("t") || "").split(",").map(Number);
	if (p.has("find") && p.get("find") !== search.value) {
		search.value = p.get("find");
		find();
	}
	if (t.length === 2 && t.every(Number.isFinite) && t[0] < t[1])
		timeline.show(t[0], t[1]);
	else
		timeline.operation();
}
addEventListener("hashchange", () => {
	if (location.hash === view.shown)
		return;
	go();
	timeline.box.scrollIntoView({ block: "nearest" });
});

/* ---- search */
function eventText(i) {
	const a = E.a[i], b = E.b[i];
	switch (role(i)) {
	case "switch":
		return `${b ? "" : "preempted, "}${THREADS[E.thread[i]]} to ${THREADS[a]}`;
	case "waking":
		return `${THREADS[a]} to CPU ${b}`;
	case "irq":
		return textOf(a);
	case "irq_exit":
		return "";
	case "softirq":
	case "softirq_exit":
		return vecOf(a).slice(8);
	case "bio":
	case "issue":
	case "complete":
		return `${DEVICES[a]} sector ${b}`;
	}
	return textOf(a);
}
function find() {
	const word = search.value.trim().toLowerCase(), has = s => s.toLowerCase().includes(word);
	Object.assign(view, { hits: null, threads: null, list: [] });
	found.textContent = "";
	if (word) {
		const threads = new Set(), kinds = DATA.kinds.map(k => has(k.name)), texts = DATA.texts.map(has);
		const vecs = VECS.map(has), devices = DEVICES.map(has);
		THREADS.forEach((name, i) => has(name) && threads.add(i));
		for (let i = 0; i < E.n; i++) {
			const r = role(i), a = E.a[i];
			if (kinds[E.kind[i]] || threads.has(E.thread[i]) || ((r === "switch" || r === "waking") ? threads.has(a) :
				r === "softirq" || r === "softirq_exit" ? vecs[a] : r === "bio" || r === "issue" || r === "complete" ? devices[a] :
				r !== "irq_exit" && a >= 0 && texts[a]))
				view.list.push(i);
		}
		view.hits = new Set(view.list);
		view.threads = threads.size ? threads : null;
		found.textContent = counted(view.list.length, "event") + (threads.size ? ` of ${counted(threads.size, "thread")}` : "");
	}
	timeline.draw();
}
/* To the next hit from the chosen event on, or from the middle of the view */
function jump(by) {
	const v = timeline.view, at = view.event >= 0 ? E.t[view.event] : (v.x0 + v.x1) / 2;
	let k = bisect(view.list.length, i => by > 0 ? E.t[view.list[i]] <= at : E.t[view.list[i]] < at);
	k = by > 0 ? k : k - 1;
	if (k >= 0 && k < view.list.length)
		choose(view.list[k]);
}
function choose(i) {
	const v = timeline.view, half = Math.min((v.x1 - v.x0) / 2, 5e6);
	view.event = i;
	if (E.t[i] < v.x0 || E.t[i] > v.x1 || half < (v.x1 - v.x0) / 2)
		timeline.show(E.t[i] - half, E.t[i] + half);
	else
		timeline.draw();
}
search.oninput = find;
search.onkeydown = e => e.key === "Enter" && jump(e.shiftKey ? -1 : 1);
