// SPDX-License-Identifier: GPL-2.0
const METHODS = Object.keys(DATA.unknown), NAMES = DATA.names;
const STATES = ["", DATA.branches ? "branches were lost before it" : "no branches were recorded", "the thread came to the CPU at an unknown time", "first sample: no interval"];
const KINDS = ["", "call", "return", "jump", "far"];
const CALL = 1, RETURN = 2, FIRST = 3;

/* ---- samples and visits, as arrays of numbers; report_html.c says what is in them */
const S = (() => {
	const text = document.getElementById("numbers").textContent.trim();
	const n = DATA.samples, m = DATA.samples + DATA.branches;
	const s = { n, ts: new Float64Array(n), start: new Float64Array(n), cpu: new Uint32Array(n), thread: new Uint32Array(n),
		state: new Uint8Array(n), switched: new Uint8Array(n), first: new Uint32Array(n + 1), known: new Float64Array(n),
		function: new Uint32Array(m), kind: new Uint8Array(m), times: {}, unreliable: {}, unknown: {} };
	const tables = ["cycles", "fit"].filter(t => METHODS.includes(t));
	for (const t of tables) {
		s.times[t] = new Float32Array(m);
		s.unreliable[t] = new Uint8Array(m);
		s.unknown[t] = new Uint8Array(m);
	}
	/* Decode in pieces: four letters are three bytes */
	let bytes = new Uint8Array(0), at = 0, from = 0;
	function refill() {
		const piece = atob(text.slice(from, from += 1 << 22)), rest = bytes.subarray(at);
		const next = new Uint8Array(rest.length + piece.length);
		next.set(rest);
		for (let i = 0; i < piece.length; i++)
			next[rest.length + i] = piece.charCodeAt(i);
		bytes = next;
		at = 0;
	}
	function number() {
		if (at + 10 > bytes.length && from < text.length)
			refill();
		let v = 0, unit = 1, b;
		do {
			b = bytes[at++];
			v += (b & 127) * unit;
			unit *= 128;
		} while (b > 127);
		return v;
	}
	let ts = 0, visit = 0;
	for (let i = 0; i < n; i++) {
		s.ts[i] = ts += number();
		s.start[i] = ts - number();
		s.cpu[i] = number();
		s.thread[i] = number();
		const state = number();
		s.state[i] = state & 3;
		s.switched[i] = state >> 2;
		const nr = number() + 1;
		s.known[i] = number();
		s.first[i] = visit;
		for (let j = 0; j < nr; j++) {
			const v = number();
			s.function[visit + j] = Math.floor(v / 8);
			s.kind[visit + j] = v % 8;
		}
		for (const t of tables)
			for (let j = 0; j < nr; j++) {
				const v = number();
				s.times[t][visit + j] = Math.floor(v / 4);
				s.unreliable[t][visit + j] = v % 4 ? 1 : 0;
				s.unknown[t][visit + j] = v % 4 > 1 ? 1 : 0;
			}
		visit += nr;
	}
	s.first[n] = visit;
	return s;
})();

/* ---- the time of a sample's visits: what assign.c does */
function durations(i, method) {
	const a = S.first[i], n = S.first[i + 1] - a, t = new Float64Array(n), all = S.ts[i] - S.start[i];
	if (S.times[method])
		return S.times[method].subarray(a, a + n);
	if (method === "sample") {
		t[n - 1] = S.state[i] === FIRST || S.switched[i] ? 0 : all;
		return t;
	}
	const known = S.known[i];
	if (!known)
		return t;
	if (method === "equal")
		return t.fill(known / n);
	const seen = new Map();
	for (let j = 0; j < n; j++)
		seen.set(S.function[a + j], (seen.get(S.function[a + j]) || 0) + 1);
	let sum = 0;
	for (let j = 0; j < n; j++)
		sum += t[j] = DATA.shares[S.function[a + j]] / seen.get(S.function[a + j]);
	if (method === "ratio")
		return sum ? t.map(x => x * known / sum) : t.fill(known / n);
	const rest = known * (1 - (sum - t[n - 1]));
	for (let j = 0; j < n - 1; j++)
		t[j] *= known;
	t[n - 1] = Math.max(rest, 0);
	return t;
}
/* Depth of each visit, counted from the outermost one of its sample */
function depths(i) {
	const a = S.first[i], n = S.first[i + 1] - a, d = [0];
	for (let j = 0; j + 1 < n; j++)
		d.push(d[j] + (S.kind[a + j] === CALL) - (S.kind[a + j] === RETURN));
	const low = Math.min(...d);
	return d.map(x => x - low);
}
/* A colour per name, which several files may have; neighbours in the list get distant hues */
const BY_NAME = new Map(NAMES.map((n, i) => [n, i]));
const colours = NAMES.map(name => {
	const i = BY_NAME.get(name);
	return `hsl(${Math.round(i * 137.508) % 360} ${[62, 45, 78][i % 3]}% ${colour("light")})`;
});

/* ---- lanes: the samples of a thread or of a CPU, in order of time */
function makeLanes(by) {
	const lanes = new Map();
	for (let i = 0; i < S.n; i++) {
		const key = by === "cpu" ? S.cpu[i] : S.thread[i];
		if (!lanes.has(key))
			lanes.set(key, []);
		lanes.get(key).push(i);
	}
	return [...lanes].sort((a, b) => a[0] - b[0]).map(([key, list]) => ({
		name: by === "cpu" ? "CPU " + key : DATA.threads[key].comm + "-" + DATA.threads[key].pid,
		pid: by === "cpu" ? null : DATA.threads[key].pid, list: Uint32Array.from(list) }));
}
/* First sample of a lane at or after a time */
function seek(list, t) { return bisect(list.length, i => S.ts[list[i]] < t); }

const main = page(DATA.file === "-" ? "what ran between two samples" : DATA.file);
const head = add(main, "p");
add(head, "b", "", count(DATA.samples));
head.append(` samples with ${count(DATA.branches)} branches, `);
add(head, "b", "", DATA.resolution.toFixed(1));
head.append(" function visits reconstructed per sample, every visit known in ");
add(head, "b", "", (100 * DATA.covered).toFixed(1) + " %");
head.append(` of ${time(DATA.time)}; unknown time is grey. `);
const sureness = add(head, "span");
function fillSureness() {
	const share = DATA.reliable[view.method];
	sureness.textContent = share === undefined ? `The reliability of times by ${view.method} is unknown.` :
		`Visit times are reliable (right function, within 10 % of the interval or 1 us) for ${(100 * share).toFixed(1)} % of the attributed time, by ${view.method}; other visits are pale.`;
	if (view.method === "cycles" && DATA.unknown_held * 100 >= DATA.time && DATA.unknown_held)
		sureness.textContent += ` ${(100 * DATA.unknown_held / DATA.time).toFixed(1)} % of all time is unknown only because it may have been in the kernel, which was not recorded.`;
}

const tools = add(main, "div", "tools");
function choice(label, values, now, change) {
	const l = add(tools, "label", "", label + " "), s = add(l, "select");
	for (const v of values)
		add(s, "option", "", v).value = v;
	s.value = now;
	s.onchange = () => change(s.value);
}
const view = { method: DATA.method, lanes: makeLanes("thread"), top: 0, hits: null, sample: -1 };
choice("method", METHODS, view.method, m => { view.method = m; draw(); fillSureness(); fillTable(); show(view.sample); });
choice("lanes", DATA.by_thread ? ["thread"] : ["thread", "cpu"], "thread", by => { view.lanes = makeLanes(by); view.top = 0; draw(); });
const search = add(tools, "input");
search.placeholder = "search functions";
search.type = "search";
const previous = add(tools, "button", "", "◀"), next = add(tools, "button", "", "▶");
const found = add(tools, "span");
const whole = add(tools, "button", "", "whole trace");
const PALE = 0.4, LANE = 26, LEFT = 130, AXIS = 20, MAX_LANES = 24;
const plot = new Plot(main, { label: "functions over time", least: 20, margin: [LEFT, AXIS, 0, 4],
	all: { x0: 0, x1: Math.max(S.ts[S.n - 1] || 0, 1000), y0: 0, y1: 1 },
	paint, hover, click: (px, py) => show((hit(px, py) || { i: -1 }).i),
	wheel: (e, factor) => e.ctrlKey ? scroll(Math.sign(e.deltaY)) : plot.zoom(factor, e.offsetX) });
const { canvas, g } = plot;
add(main, "p", "", "Wheel: zoom. Drag: choose a span. Shift and drag: move. Double click: whole trace. Click a sample: its branches. Ctrl and wheel: other lanes.");
const hint = add(main, "p");
const two = add(main, "div", "two"), left = add(two, "div"), right = add(two, "div");

function x(t) { return plot.x(t); }
function shown() { return view.lanes.slice(view.top, view.top + MAX_LANES); }
function scroll(by) {
	view.top = Math.max(0, Math.min(view.top + by, view.lanes.length - MAX_LANES));
	draw();
}

function fill(f, known) {
	if (!known)
		return colour("none");
	return view.hits && !view.hits.has(f) ? colour("line") : colours[f];
}
function box(x0, x1, y, fill, pale) {
	g.globalAlpha = pale ? PALE : 1;
	g.fillStyle = fill;
	g.fillRect(x0, y, Math.max(x1 - x0, 0.5), LANE - 6);
	g.globalAlpha = 1;
}
/* Not reliable: off by more than 10 % of the interval and 1 us, or another function */
function unreliable(v) {
	return view.method in S.unreliable && S.unreliable[view.method][v] > 0;
}
/* Draw the visible visits of one sample */
function drawSample(i, y) {
	const a = S.first[i], d = durations(i, view.method), n = d.length, end = LEFT + plot.width;
	let sum = 0;
	for (let j = 0; j < n; j++)
		sum += d[j];
	let at = S.ts[i] - sum;
	if (S.state[i] !== FIRST && at > S.start[i])
		box(x(S.start[i]), x(at), y, colour("none"));
	for (let j = 0; j < n; j++) {
		const x0 = Math.max(x(at), LEFT), x1 = Math.min(x(at += d[j]), end);
		if (x1 <= LEFT || x0 >= end || x1 - x0 < 0.05)
			continue;
		const f = S.function[a + j];
		const known = !(view.method in S.unknown && S.unknown[view.method][a + j]);
		box(x0, x1, y, fill(f, known), known && unreliable(a + j));
		if (known && x1 - x0 > 30) {
			g.save();
			g.beginPath();
			g.rect(x0, y, x1 - x0 - 2, LANE);
			g.clip();
			g.fillStyle = "#000c";
			g.fillText(NAMES[f], x0 + 3, y + 14);
			g.restore();
		}
	}
	if (x(S.ts[i]) - x(S.start[i]) > 8) {
		g.fillStyle = colour("ink");
		g.fillRect(x(S.ts[i]) - 0.5, y - 2, 1, LANE - 2);
	}
}
/* More samples than pixels: draw the visit at the middle of each pixel, or a hit of the search */
function drawMany(list, from, to, y) {
	for (let px = LEFT, i = from; px < LEFT + plot.width && i <= to; px++) {
		const end = plot.atX(px + 1), begin = i;
		while (i < to && S.ts[list[i]] < end && i - begin < 64)
			i++;
		if (S.ts[list[i]] < end)
			i = Math.max(i, seek(list, end));
		const s = list[Math.min(begin + ((i - begin) >> 1), to)];
		if (S.start[s] > end)
			continue;
		let f = S.function[S.first[s + 1] - 1], known = view.method === "sample" && !S.switched[s] || S.known[s] * 2 >= S.ts[s] - S.start[s];
		for (let k = begin; view.hits && k < i && k <= to; k++)
			for (let v = S.first[list[k]]; v < S.first[list[k] + 1]; v++)
				if (view.hits.has(S.function[v])) {
					f = S.function[v];
					known = true;
				}
		box(px, px + 1, y, fill(f, known));
	}
}
function drawAxis() {
	for (const at of plot.ticksX(Math.max(3, plot.width / 80))) {
		plot.line(x(at) + 0.5, AXIS - 4, x(at) + 0.5, AXIS + plot.height, "faint");
		if (x(at) + 3 + g.measureText(time(at)).width <= plot.left + plot.width)
			plot.text(time(at), x(at) + 3, 12, "left");
	}
}
function drawAlarms(lane, y) {
	g.fillStyle = colour("bad");
	for (const a of DATA.alarms)
		if (a.end > plot.view.x0 && a.start < plot.view.x1 && (lane.pid === null || lane.pid === a.pid))
			g.fillRect(Math.max(x(a.start), LEFT), y + LANE - 6, Math.max(x(Math.min(a.end, plot.view.x1)) - Math.max(x(a.start), LEFT), 1.5), 2);
}
function draw() {
	canvas.style.height = AXIS + shown().length * LANE + 4 + "px";
	plot.draw();
}
function paint() {
	const lanes = shown(), { x0, x1 } = plot.view;
	drawAxis();
	lanes.forEach((lane, k) => {
		const y = AXIS + k * LANE + 2;
		const from = seek(lane.list, x0), to = Math.min(seek(lane.list, x1), lane.list.length - 1);
		if (to - from > plot.width * 2)
			drawMany(lane.list, from, to, y);
		else
			for (let i = from; i <= to; i++)
				drawSample(lane.list[i], y);
		drawAlarms(lane, y);
		g.fillStyle = colour("paper");
		g.fillRect(0, y - 2, LEFT - 1, LANE);
		g.fillStyle = colour("ink");
		g.fillText(lane.name.slice(0, 20), 4, y + 14);
	});
	const more = view.lanes.length - lanes.length;
	hint.textContent = (more > 0 ? `Lanes ${view.top + 1} to ${view.top + lanes.length} of ${view.lanes.length}. ` : "") +
		`From ${clock(x0)} s, ${time(x1 - x0)}.`;
}

/* Find the sample, and its visit, at a point of the canvas */
function hit(px, py) {
	const lane = shown()[Math.floor((py - AXIS) / LANE)];
	if (!lane || px < LEFT)
		return null;
	const at = plot.atX(px), k = seek(lane.list, at);
	if (k >= lane.list.length)
		return null;
	const i = lane.list[k], d = durations(i, view.method);
	if (at < S.start[i])
		return null;
	let from = S.ts[i];
	for (let j = d.length - 1; j >= 0; j--) {
		from -= d[j];
		if (at >= from)
			return { i, j, d: d[j] };
	}
	return { i, j: -1, d: from - S.start[i] };
}
function hover(px, py) {
	const h = px === undefined ? null : hit(px, py);
	plot.point(h ? (h.j < 0 ? "unknown" : NAMES[S.function[S.first[h.i] + h.j]]) + "\n" + time(h.d) +
		" by " + view.method + (h.j >= 0 && unreliable(S.first[h.i] + h.j) ? ", not reliable" : "") + "\nat " + clock(plot.atX(px)) +
		" s" + (STATES[S.state[h.i]] ? "\n" + STATES[S.state[h.i]] : "") : "", px, py);
}
whole.onclick = () => plot.reset();

/* ---- search */
function find() {
	const word = search.value.toLowerCase();
	view.hits = null;
	found.textContent = "";
	if (word) {
		view.hits = new Set();
		NAMES.forEach((n, i) => n.toLowerCase().includes(word) && view.hits.add(i));
		let visits = 0;
		for (let v = 0; v < S.function.length; v++)
			visits += view.hits.has(S.function[v]);
		found.textContent = `${count(visits)} visits of ${count(view.hits.size)} functions`;
	}
	draw();
	fillTable();
}
function jump(by) {
	if (!view.hits)
		return;
	for (let i = view.sample + by; i >= 0 && i < S.n; i += by)
		for (let v = S.first[i]; v < S.first[i + 1]; v++)
			if (view.hits.has(S.function[v]))
				return center(i);
}
function center(i) {
	const span = Math.max(3 * (S.ts[i] - S.start[i]), 2000);
	plot.show(S.start[i] - span / 3, S.start[i] - span / 3 + span);
	show(i);
}
search.oninput = find;
next.onclick = () => jump(1);
previous.onclick = () => jump(-1);
search.onkeydown = e => e.key === "Enter" && jump(e.shiftKey ? -1 : 1);

/* ---- functions, and the sample that was clicked */
function row(parent, cells, f) {
	const tr = add(parent, "tr");
	cells.forEach(c => add(tr, "td", "", c));
	const name = add(tr, "td", "f");
	if (f !== null)
		add(name, "span", "key").style.background = colours[f];
	return [tr, name];
}
/* A row for the entries that are not shown */
function more(body, cells, all, most) {
	if (all > most)
		row(body, Array(cells).fill(""), null)[1].append(`... ${count(all - most)} more`);
}
/* Headings of the methods' columns */
function heads() { return METHODS.map(m => [m, m === view.method ? "at" : ""]); }
const MOST_FUNCTIONS = 300, MOST_ALARMS = 1000;
function fillTable() {
	left.textContent = "";
	add(left, "h2", "", "functions");
	const body = table(left, "scroll", [["samples"], ["visits"], ...heads(), ["function", "f"]]);
	const list = [...DATA.functions].sort((a, b) => b.time[view.method] - a.time[view.method]).slice(0, MOST_FUNCTIONS);
	const percent = v => DATA.time ? (100 * v / DATA.time).toFixed(2) + " %" : "";
	for (const f of list) {
		const i = BY_NAME.get(f.function);
		const [r, name] = row(body, [count(f.samples), count(f.visits), ...METHODS.map(m => percent(f.time[m]))], i);
		name.append(f.function);
		name.title = f.object;
		if (view.hits && view.hits.has(i))
			r.className = "hit";
		r.onclick = () => { search.value = f.function; find(); };
	}
	more(body, 2 + METHODS.length, DATA.functions.length, MOST_FUNCTIONS);
	row(body, ["", "", ...METHODS.map(m => percent(DATA.unknown[m]))], null)[1].append("(unknown)");
	add(left, "p", "", "Columns, by how time is attributed to visits of functions:");
	const meanings = add(left, "dl", "meanings");
	for (const m of METHODS) {
		add(meanings, "dt", m === view.method ? "at" : "", m);
		add(meanings, "dd", "", DATA.meanings[m]);
	}
}
function show(i) {
	view.sample = i;
	right.textContent = "";
	if (DATA.alarms.length && i < 0) {
		add(right, "h2", "", `${count(DATA.alarms.length)} slow operations reported by ctlchart`);
		const body = table(right, "scroll", []);
		DATA.alarms.slice(0, MOST_ALARMS).forEach(a => {
			const [r, name] = row(body, [clock(a.start) + " s", time(a.end - a.start), a.pid], null);
			name.append(a.chart);
			r.onclick = () => plot.show(a.start - (a.end - a.start) / 4, a.end + (a.end - a.start) / 4);
		});
		more(body, 3, DATA.alarms.length, MOST_ALARMS);
	}
	if (i < 0)
		return;
	const thread = DATA.threads[S.thread[i]];
	add(right, "h2", "", `${thread.comm}-${thread.pid}` + (DATA.by_thread ? "" : " on CPU " + S.cpu[i]));
	add(right, "p", "", `sampled at ${clock(S.ts[i])} s, ${time(S.ts[i] - S.start[i])} after the one before` +
		(STATES[S.state[i]] ? "; " + STATES[S.state[i]] : ""));
	const body = table(right, "scroll", [...heads(), ["function", "f"]]);
	const d = METHODS.map(m => durations(i, m)), deep = depths(i), a = S.first[i];
	for (let j = 0; j < deep.length; j++) {
		const f = S.function[a + j], [r, name] = row(body, d.map(t => time(t[j])), f);
		name.append(" ".repeat(2 * deep[j]) + NAMES[f]);
		name.title = j + 1 < deep.length ? KINDS[S.kind[a + j]] : "sampled here";
		r.onclick = () => { search.value = NAMES[f]; find(); };
	}
}
draw();
fillSureness();
fillTable();
show(-1);
