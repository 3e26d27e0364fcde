// SPDX-License-Identifier: GPL-2.0
/* The page of a case, after page_timeline.js: what is below the timeline */

/* ---- the parts of the time, and the chart */
const two = add(main, "div", "two"), left = add(two, "div"), right = add(two, "div");
function fillParts() {
	left.textContent = "";
	add(left, "h2", "", "where the time went");
	const list = add(left, "div", "parts");
	/* What matters comes first; the others can be looked at */
	const small = X.parts.filter(p => p.percent < 1 && p.ns < 0.01 * X.duration).length;
	let rest = list;
	if (small > 1) {
		rest = el("details");
		add(rest, "summary", "", `${counted(small, "part")} of less than 1 %`);
	}
	X.parts.forEach((part, k) => {
		const p = add(k < X.parts.length - small ? list : rest, "div", "part");
		add(p, "span", "key").style.background = partColour(k);
		const text = add(p, "div");
		const head = add(text, "div");
		head.append(bold(part.name), ` ${part.percent} % of the delay` +
			(part.percent_least !== part.percent_most && HAS_CAUSE && k === 0 ? ` (${part.percent_least} to ${part.percent_most} %)` : ""));
		add(text, "p").append(evidence(part));
	});
	if (rest !== list)
		list.append(rest);
	for (const f of X.findings) {
		const p = add(list, "div", "part"), text = add(p, "div");
		p.prepend(el("span", "key normal"));
		add(text, "div").append(bold(f.by + ": " + f.name), ` ${f.percent} % of the delay` + (f.confidence ? `, confidence ${f.confidence} %` : ""));
		add(text, "p").append(evidence(f));
	}
	for (const r of X.remarks)
		put(left, "", r);
	if (X.unseen)
		put(left, "", bold(time(X.unseen)), " of the operation are not recorded.");
	if (OP && X.parts.length)
		put(left, "", `Compared with ${counted(X.normal, "normal execution")} in the recording; expected by chance among ${counted(ALARM.judged, "value")}: ${X.chance.toPrecision(2)} as large as this one.`);
	for (const d of X.doubts || [])
		put(left, "", bold("doubt: "), d);
	for (const d of X.not_seen || [])
		put(left, "", bold("not seen: "), d);
}

class Values extends Plot {
	constructor(parent) {
		const all = [...C.values.map(v => v[1]), ALARM.value, ALARM.limit, ALARM.center].filter(v => v > 0).map(Math.log10);
		const t = [...C.values.map(v => v[0]), ALARM.time], y0 = Math.min(...all), y1 = Math.max(...all), room = (y1 - y0) * 0.08 + 0.02;
		const x0 = Math.min(...t), x1 = Math.max(...t), side = (x1 - x0) * 0.02 || 5e6;
		super(parent, { log: "y", cls: "values", margin: [70, 8, 10, 20], all: { x0: x0 - side, x1: x1 + side, y0: y0 - room, y1: y1 + room } });
		this.canvas.setAttribute("role", "img");
		this.canvas.setAttribute("aria-label", `${counted(C.values.length, "value")} around the alarm`);
	}

	paint() {
		const g = this.g;
		for (const v of this.ticksY(5))
			this.gridY(this.y(v), short(amount(v)));
		for (const t of this.ticksX(Math.max(2, this.width / 90)))
			this.gridX(this.x(t), short(t ? since(t) : "0"));
		this.level(ALARM.center, "centre", "centre line", []);
		this.level(ALARM.limit, "limit", "limit", [6, 4]);
		for (const [t, v] of C.values)
			this.dot(this.x(t), this.y(v), v > ALARM.limit ? "bad" : "normal", 4);
		const x = this.x(ALARM.time), y = this.y(ALARM.value);
		g.fillStyle = colour("bad");
		g.beginPath();
		g.moveTo(x, y - 7);
		g.lineTo(x + 6, y + 5);
		g.lineTo(x - 6, y + 5);
		g.fill();
	}

	level(v, name, label, dash) {
		if (!v)
			return;
		this.g.lineWidth = 2;
		this.line(this.left, this.y(v), this.left + this.width, this.y(v), name, dash);
		this.g.lineWidth = 1;
		this.text(`${label} ${amount(v)}`, this.left + 4, this.y(v) - 4, "left", name);
	}
}
add(right, "h2", "", "the chart " + C.chart.name);
put(right, "", `${C.chart.event}${C.chart.filter ? ": " + C.chart.filter : ""}`);
new Values(right);
legend(right, [["normal", "values around the alarm"], ["alarm-mark", "the alarm"]]);

/* ---- what other programs find in the recording */

function heading(text) { add(main, "h2", "", text); }
const RENDER = {
	/* A slow path beside the nearest normal one: what each function took by itself */
	pathdiff({ paths }) {
		for (const p of paths) {
			heading("slow path beside the normal one: " + p.headline);
			put(main, "", `By pathdiff. The slowest execution took ${time(p.duration)}, the nearest normal one ${time(p.usual)}: ${p.path}`);
			const body = table(main, "scroll", [["slow, self", "n"], ["normal, self", "n"], ["function"], [""]]);
			const most = Math.max(1, ...p.functions.map(f => Math.max(f[1], f[2])));
			for (const [name, slow, normal] of p.functions) {
				const tr = add(body, "tr");
				add(tr, "td", "n", time(slow));
				add(tr, "td", "n", time(normal));
				add(tr, "td", "f", name);
				const cell = add(tr, "td", "beside");
				for (const [cls, ns] of [["bad", slow], ["normal", normal]])
					if (ns)
						add(cell, "div", cls).style.width = 100 * ns / most + "%";
			}
		}
	},

	/* A waterfall of the steps that the request's client waited for */
	ioreq({ request }) {
		if (!request)
			return;
		heading(`the request of ${request.client}: ${time(request.wait)}`);
		put(main, "", "By ioreq: the steps that its client waited for, in order; blue is the operation's thread." +
			(request.left ? ` ${counted(request.left, "later step")} are left out.` : ""));
		const box = add(main, "div", "scroll waterfall");
		let at = 0;
		for (const [depth, process, what, object, ns, own, code] of request.steps) {
			const row = add(box, "a", "step"), from = request.begin + at;
			row.href = link(from, from + Math.max(ns, 1));
			row.title = code;
			add(row, "span", "", `${"  ".repeat(Math.min(depth, 20))}${process}: ${what} ${object}`);
			const b = add(add(row, "div"), "div", own ? "own" : "");
			b.style.marginLeft = 100 * Math.min(at / Math.max(request.wait, 1), 1) + "%";
			b.style.width = 100 * Math.min(ns / Math.max(request.wait, 1), 1) + "%";
			add(row, "span", "n", time(ns));
			at += ns;
		}
	},

	lbrtime(r) {
		heading("branches: what ran between two samples");
		put(main, "", `By lbrtime, method ${r.method}: ${counted(r.samples, "sample")} with ${count(r.branches)} branches, ${time(r.time)} in all.`);
		const body = table(main, "scroll", [["time", "n"], ["visits", "n"], ["function"], ["object"]]);
		for (const [name, object, visits, ns] of r.functions) {
			const tr = add(body, "tr");
			add(tr, "td", "n", time(ns));
			add(tr, "td", "n", count(visits));
			add(tr, "td", "f", name);
			add(tr, "td", "f", object);
		}
	} };
for (const a of DATA.analyzers)
	RENDER[a.name](a);

/* ---- what is lost or left out */
function lost() {
	const l = C.losses, out = [];
	if (l.lost || l.gaps)
		out.push(`${count(l.lost)} events were lost in ${counted(l.gaps, "gap")} of the recording.`);
	if (l.dropped)
		out.push(`${counted(l.dropped, "event")} had no room in the watch.`);
	if (l.overwritten)
		out.push(`The ring buffer has overwritten ${counted(l.overwritten, "event")} since the watch began.`);
	if (!out.length)
		out.push("No event of the window was lost.");
	DATA.left.forEach((left, k) => {
		if (left)
			out.push(`This page leaves out ${counted(left[2], "event")} ${["before", "in the middle of", "after"][k]} what it shows, from ${since(left[0])} to ${since(left[1])}; trace.dat has them.`);
	});
	if (DATA.textsLeft)
		out.push(`The texts of ${counted(DATA.textsLeft, "event")} are left out.`);
	if (DATA.gapsLeft)
		out.push(`${counted(DATA.gapsLeft, "gap")} more are not marked.`);
	if (DATA.requestsLeft)
		out.push(`The page has no room for ${counted(DATA.requestsLeft, "request")}, those of the operation's time last: lanes of devices show fewer than there were.`);
	if (DATA.stretchesLeft[0])
		out.push(`Of the operation's time, the ${count(DATA.stretchesLeft[0])} shortest pieces, ${time(DATA.stretchesLeft[1])} in all, are not drawn.`);
	if (DATA.requestsFull)
		out.push("Of more than 65,536 requests, the later ones are left out.");
	if (C.missing.length)
		out.push("This machine has no " + C.missing.join(", ") + ".");
	return out;
}
add(main, "h2", "", "the recording");
put(main, "", `${counted(E.n, "event")} of ${count(DATA.total)} from ${since(FROM)} to ${since(TO)}, ${counted(CPUS.length, "CPU")} with events. ` + lost().join(" "));

/* ---- the events that are in view */
const ROWS = 300;
const listing = add(main, "details", "listing");
const listed = add(listing, "summary");
const rows = table(listing, "scroll", [["time", "n"], ["CPU", "n"], ["thread"], ["event"], [""]]);
function fillEvents() {
	const v = timeline.view, from = bisect(E.n, i => E.t[i] < v.x0), to = bisect(E.n, i => E.t[i] <= v.x1);
	const list = view.hits ? view.list.filter(i => i >= from && i < to) : null, n = list ? list.length : to - from;
	const at = list ? bisect(n, k => list[k] < view.event) : view.event - from;
	const begin = view.event >= from && view.event < to ? Math.max(0, Math.min(at - 20, n - ROWS)) : 0;
	listed.textContent = `${counted(n, "event")} in view` + (view.hits ? " with " + search.value : "") +
		(n > ROWS ? `; ${begin ? count(begin + 1) + " to " + count(Math.min(begin + ROWS, n)) : "the first " + ROWS} are listed` : "");
	rows.textContent = "";
	if (!listing.open)
		return;
	for (let k = begin; k < Math.min(n, begin + ROWS); k++) {
		const i = list ? list[k] : from + k, tr = add(rows, "tr", i === view.event ? "hit" : "");
		add(tr, "td", "n", since(E.t[i]));
		add(tr, "td", "n", E.cpu[i]);
		add(tr, "td", "", THREADS[E.thread[i]]);
		add(tr, "td", "", DATA.kinds[E.kind[i]].name.replace(/^[^:]*:/, ""));
		add(tr, "td", "f", eventText(i));
		tr.onclick = () => choose(i);
	}
	const chosen = rows.querySelector(".hit");
	if (chosen)
		chosen.parentNode.parentNode.parentNode.scrollTop = chosen.offsetTop - 60;
}
listing.ontoggle = fillEvents;

/* ---- the state of the system */
add(main, "h2", "", "state of the system when the case was written");
for (const f of DATA.state) {
	const d = add(main, "details"), text = f.text.trimEnd(), s = add(d, "summary", "", f.name.replace(/\.txt$/, ""));
	if (f.trouble)
		s.append(": " + f.trouble);
	else if (text.length < 80 && !text.includes("\n"))
		s.append(": " + text);
	if (f.left)
		add(d, "p", "", `${counted(f.left, "byte")} are left out.`);
	add(d, "pre", "", text);
}
const facts = add(main, "details");
add(facts, "summary", "", "the machine and the watch");
add(facts, "pre", "", [`${C.host.name}: Linux ${C.host.release} ${C.host.version} ${C.host.machine}, ${counted(C.host.cpus, "CPU")}`,
	"command line: " + C.host.cmdline, "boot: " + C.host.boot_id, `chart: ${C.chart.name}, event ${C.chart.event}`, "filter: " + C.chart.filter,
	...["symbol", "file", "build_id"].filter(k => C.chart[k]).map(k => `${k}: ${C.chart[k]}`),
	`group: ${C.group}, case ${C.nth} of it`, `alarms in the window: ${C.nr_alarms}`, `trace clock when the operation began: ${clock(0)} s`].join("\n"));

function paintAll() {
	fillBars();
	fillParts();
}
paintAll();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paintAll);
go();
