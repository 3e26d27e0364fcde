// SPDX-License-Identifier: GPL-2.0

function factor(v) {
	return v >= 1e6 ? "new" : v >= 100 ? Math.round(v) + " x" : v.toPrecision(3) + " x";
}

/* The axis of times, which is logarithmic, with some room */
function axis(values, room) {
	const low = values.reduce((a, b) => Math.min(a, b), Infinity), high = values.reduce((a, b) => Math.max(a, b), 1);
	const from = Math.log10(Math.max(Math.min(low, high) / room, 1));
	return [from, Math.max(Math.log10(high * room), from + 0.1)];
}

function durations(parent) {
	const all = DATA.points, span = all.reduce((a, p) => Math.max(a, p[0]), 1);
	const [y0, y1] = axis([DATA.limit.limit, ...all.map(p => p[1])], 1.3);
	legend(parent, [["n", "normal"], ["s", "slow"], ["l", "limit " + time(DATA.limit.limit)]]);
	return new Plot(parent, { log: "y", all: { x0: 0, x1: span, y0, y1 }, margin: [60, 4, 4, 18], paint: p => {
		for (const v of p.ticksY(6))
			p.gridY(p.y(v), time(v));
		for (const [t, d, slow] of all)
			p.dot(p.x(t), p.y(d), slow ? "bad" : "normal");
		const y = p.y(DATA.limit.limit);
		p.line(p.left, y, p.left + p.width, y, "limit", [5, 4]);
		p.text("0 s", p.left, p.top + p.height + 14, "left");
		p.text((span / 1e9).toFixed(3) + " s", p.left + p.width, p.top + p.height + 14, "right");
	} });
}

/* Figure 6 */
function distribution(parent) {
	const lines = [[DATA.baseline_cdf, "normal"], [DATA.cdf, "bad"]].filter(l => l[0] && l[0].length);
	const [x0, x1] = axis(lines.flatMap(l => l[0]), 1.2);
	return new Plot(parent, { log: "x", all: { x0, x1, y0: 0, y1: 100 }, margin: [60, 8, 20, 18], paint: p => {
		for (const share of [0, 50, 100])
			p.gridY(p.y(share), share + " %");
		for (const v of p.ticksX(p.width / 80))
			p.text(time(v), p.x(v), p.top + p.height + 14, "center");
		const x = p.x(DATA.limit.limit);
		p.line(x, p.top, x, p.top + p.height, "limit", [5, 4]);
		p.g.lineWidth = 2;
		for (const [cdf, name] of lines) {
			p.g.strokeStyle = colour(name);
			p.g.beginPath();
			cdf.forEach((v, i) => p.g.lineTo(p.x(v), p.y(i)));
			p.g.stroke();
		}
		p.g.lineWidth = 1;
	} });
}

/* Figure 8 */
function across(cause, parent) {
	/* a logarithmic axis has no zero: it stands left of it */
	const both = [...cause.self_slow, ...cause.self_normal], zero = both.includes(0);
	const [x0, x1] = axis(both.filter(v => v > 0), 1.3);
	return new Plot(parent, { cls: "low", log: "x", all: { x0, x1, y0: 0, y1: 1 }, margin: [zero ? 100 : 60, 0, 20, 18], paint: p => {
		if (zero)
			p.text("0", 68, p.height + 14, "center");
		for (const [v, name, label, y] of [[cause.self_slow, "bad", "all slow", p.y(0.7)], [cause.self_normal, "normal", "normal", p.y(0.25)]]) {
			p.text(label, 54, y + 4, "right");
			v.forEach((x, i) => p.dot(x ? p.x(x) : 68, y + (i % 13 - 6) * 2.5, name));
		}
		for (const v of p.ticksX(p.width / 80))
			p.text(time(v), p.x(v), p.height + 14, "center");
	} });
}

/* Figure 7 */
function functions(cause, parent) {
	const body = table(parent, "scroll whole", [["self time per execution of", ""], ["slow", "n"], ["normal", "n"], ["factor", "n"], ["", ""]]);
	/* an interrupt is not a function of the path, but it is the slower part */
	const rows = cause.kind === "interrupt" ? [{ ...cause, extra: false }, ...cause.functions] : cause.functions;
	const most = Math.max(...rows.map(f => f.self), 1);
	for (const f of rows) {
		const row = add(body, "tr", f === rows[0] && cause.kind === "interrupt" ? "cause" : f.extra ? "extra" : "");
		row.append(el("td", "f", f.function), el("td", "n", time(f.self)), el("td", "n", f.extra ? "-" : time(f.normal_self)), el("td", "n", factor(f.factor)));
		const bar = add(row, "td").appendChild(el("span", "bar"));
		bar.style.width = Math.max(1, f.self / most * 200) + "px";
	}
}

function waitText(w) {
	let s = "at " + time(w.at) + " " + w.kind + " for " + time(w.time);
	if (w.lock)
		s += ", lock " + w.lock;
	if (w.device)
		s += ", " + w.device;
	if (w.who)
		s += (w.kind === "blocked" ? ", woken by " : ", by ") + w.who;
	if (w.queued)
		s += ", then " + time(w.queued) + " for a CPU" + (w.other ? ", which ran " + w.other : "");
	if (w.stack)
		s += "; there: " + w.stack.join(" < ");
	return s;
}

/* The slow path and the nearest normal one side by side */
function paths(cause, parent) {
	const open = add(parent, "button", "plain", "all functions");
	const body = table(parent, "scroll", [["slow", ""], ["called at", "n"], ["self", "n"], ["usually", "n"], ["normal", ""], ["waits", ""]]);
	let pos = -1, all = false;
	const rows = cause.rows.map(r => ({ r, pos: r[2] === null ? -1 : ++pos }));
	const fill = () => {
		body.replaceChildren();
		for (const { r, pos: p } of rows) {
			const [name, depth, at, self, usual, waits] = r;
			const slow = self !== null && self - (usual || 0) > DATA.limit.limit / 100;
			if (!all && at !== null && usual !== null && !slow && !waits && depth > 1)
				continue;
			const row = add(body, "tr", p === cause.worst_pos ? "cause" : at === null ? "gone" : usual === null ? "extra" : "");
			const indent = " ".repeat(2 * depth);
			row.append(el("td", "f", at === null ? "" : indent + name), el("td", "n", time(at)), el("td", "n", time(self)),
				el("td", "n", time(usual)), el("td", "f", usual === null ? "" : indent + name));
			const cell = add(row, "td");
			if (waits)
				unfolds(add(cell, "button", "waits", counted(waits.length, "wait")), row,
					td => waits.forEach(w => add(td, "p", "", waitText(w))));
		}
	};
	open.addEventListener("click", () => {
		all = !all;
		open.textContent = all ? "only what differs" : "all functions";
		fill();
	});
	fill();
}

function summary(c, label, main) {
	const section = add(main, "section", "cause");
	add(section, "h2", "", label + c.headline);
	const p = add(section, "p");
	p.append(el("b", "", time(c.self) + " instead of " + time(c.normal_self) + " (" + factor(c.factor) + ")"),
		", " + (100 * c.share).toFixed(1) + " % of the time of " + counted(c.executions, "slow execution") + " in " +
		counted(c.patterns, "pattern") + ", " + (100 * c.delay_share).toFixed(0) + " % of all delay; explains " +
		(100 * c.explained).toFixed(0) + " % of the delay of " + (c.executions === 1 ? "this execution" : "these executions"));
	if (c.waits)
		add(section, "p", "waits", "waits: " + c.waits);
	if (c.preempted)
		add(section, "p", "waits", "preempted meanwhile: " + time(c.preempted) + ", not counted");
	if (c.overhead)
		add(section, "p", "bad", "overhead of recording: record fewer functions or events, or keep its program (trace-cmd, perf) on other CPUs (taskset)");
	add(section, "p", "", c.worst.path);
	return section;
}

function causeSection(c, i, main) {
	const section = summary(c, i + 1 + ". ", main);
	const two = add(section, "div", "two");
	const left = add(two, "div"), right = add(two, "div");
	add(left, "h3", "", "Functions that are slower");
	functions(c, left);
	add(right, "h3", "", c.function + " in all slow executions and in those of the nearest pattern");
	window.plots.push(across(c, right));
	add(section, "h3", "", "The worst execution (" + time(c.worst.duration) + ", " + (c.worst.comm || "?") + (c.worst.pid === undefined ? "" : "-" + c.worst.pid) +
		") and the nearest normal path (" + time(c.worst.nearest_duration) + ", " + counted(c.worst.nearest_executions, "execution") + "), " +
		count(c.worst.common) + " of " + count(c.worst.length) + " functions in common");
	paths(c, section);
}

function similarity(main) {
	add(main, "h2", "", "Similarity of patterns");
	add(main, "p", "", counted(DATA.patterns.normal, "pattern") + " of normal executions, " + count(DATA.patterns.slow) + " of slow ones");
	const body = table(main, "scroll whole", [["to the nearest", ""], ["normal to normal", "n"], ["slow to normal", "n"]]);
	DATA.patterns.normal_to_normal.forEach((n, i) => {
		const row = add(body, "tr");
		row.append(el("td", "", 100 - 10 * i + "-" + (90 - 10 * i) + " %"), el("td", "n", count(n)), el("td", "n", count(DATA.patterns.slow_to_normal[i])));
	});
}

const main = page(DATA.trace.file);
const l = DATA.limit, t = DATA.trace;
add(main, "p", "", counted(t.executions, "execution") + " of " + DATA.entry + " in " + ((t.last - t.first) / 1e9).toFixed(3) + " s, " +
	count(l.slow) + " of them slow, the longest " + time(l.longest) + "; limit " + time(l.limit) +
	(l.given ? " (fixed)" : (l.floored ? " (the floor)" : "") + ", learnt from " +
		(DATA.baseline ? counted(l.learnt, "execution") + " of " + DATA.baseline.file +
			(l.set_aside ? ", without " + counted(l.set_aside, "outlier") : "") : counted(l.learnt, "calm execution"))) +
	"; sleep-time " + t.sleep_time);
if (t.broken || t.gaps || t.cuts)
	add(main, "p", "bad", counted(t.broken, "execution") + " skipped" + (t.gaps ? "; records lost in " + counted(t.gaps, "gap") : "") +
		(t.cuts ? "; lines missing or cut in " + counted(t.cuts, "place") : "") + ".");
if (l.far)
	add(main, "p", "bad", "The limit is " + count(Math.floor(l.limit / Math.max(l.center, 1))) +
		" times the centre line: slow executions may be missed; give --limit" + (DATA.baseline ? ", or another baseline." : "."));
const named = DATA.causes.filter(c => c.named);
if (!named.length)
	add(main, "p", "none", DATA.verdict || "No cause was found.");
const two = add(main, "div", "two");
const left = add(two, "div"), right = add(two, "div");
add(left, "h3", "", "Durations");
window.plots = [durations(left)];
add(right, "h3", "", "Distribution" + (DATA.baseline ? " (blue: " + DATA.baseline.file + ")" : ""));
window.plots.push(distribution(right));
named.forEach((c, i) => causeSection(c, i, main));
if (!named.length && (DATA.undecided || DATA.spread))
	summary(DATA.causes[0], "The largest part: ", main);
similarity(main);
