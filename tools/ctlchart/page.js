// SPDX-License-Identifier: GPL-2.0

/* Four significant digits, as in the text report */
function value(v, isTime) {
	return v === null ? "none" : isTime ? time(v) : count(v);
}

/* Times are stored as differences */
function unpack(p) {
	let t = 0;
	p.t = Float64Array.from(p.t, d => t += d);
	return p;
}

/* The first point at or after a time: ends come about in order */
function find(p, t) { return bisect(p.t.length, i => p.t[i] < t); }

class Chart extends Plot {
	constructor(chart, parent) {
		super(parent, { label: "values of " + chart.name + " over time", margin: [76, 10, 12, 36], least: 1000, boxes: true,
			log: DATA.linear ? "" : "y", c: chart, normal: unpack(chart.points), alarms: unpack(chart.alarmPoints) });
		this.extent();
		this.reset();
		this.legend(parent);
	}

	/* Everything there is to see */
	extent() {
		let x0 = Infinity, x1 = -Infinity, v0 = Infinity, v1 = 0;
		for (const p of [this.normal, this.alarms]) {
			for (let i = 0; i < p.t.length; i++) {
				x0 = Math.min(x0, p.t[i]);
				x1 = Math.max(x1, p.t[i]);
				v0 = Math.min(v0, p.v[i]);
				v1 = Math.max(v1, p.v[i]);
			}
		}
		for (const [, limit, centre] of this.c.steps) {
			if (limit !== null)
				v1 = Math.max(v1, limit);
			if (centre)
				v0 = Math.min(v0, centre);
		}
		if (x0 > x1)
			[x0, x1, v0] = [0, 1e9, 1];
		if (x0 === x1)
			[x0, x1] = [x0 - 5e5, x1 + 5e5];
		const margin = (x1 - x0) * 0.01;
		const y0 = this.scale("y", v0), y1 = this.scale("y", v1), room = (y1 - y0 || 1) * 0.06;
		this.all = { x0: x0 - margin, x1: x1 + margin,
			y0: this.log ? Math.max(0, y0 - room) : 0, y1: y1 + room };
	}

	paint() {
		const g = this.g;
		this.drawAxes();
		g.save();
		g.beginPath();
		g.rect(this.left, this.top, this.width, this.height);
		g.clip();
		if (this.c.phase1End !== null) {
			g.fillStyle = colour("phase1");
			g.fillRect(this.left, this.top, this.x(this.c.phase1End) - this.left, this.height);
		}
		this.drawPoints();
		this.drawLine("centre", 2, []);
		this.drawLine("limit", 1, [7, 4]);
		this.drawAlarms();
		this.drawMarks();
		g.restore();
	}

	drawAxes() {
		const v = this.view;
		for (const level of this.ticksY(6))
			this.gridY(this.y(level), value(level, this.c.isTime).replace(/\.?0+(?= )/, ""));
		const s = step(v.x1 - v.x0, Math.max(2, this.width / 120));
		const digits = Math.min(9, Math.max(0, 9 - Math.floor(Math.log10(s) + 1e-9)));
		/* round times of the trace clock */
		const rest = Number(BigInt(DATA.first) % BigInt(Math.max(1, Math.round(s))));
		for (let t = Math.ceil((v.x0 + rest) / s) * s - rest; t <= v.x1; t += s)
			this.gridX(this.x(t), clock(t, digits));
		this.text("trace clock, s", this.left + this.width / 2, this.top + this.height + 30, "center");
		this.g.strokeStyle = colour("line");
		this.g.strokeRect(this.left + 0.5, this.top + 0.5, this.width - 1, this.height - 1);
	}

	drawPoints() {
		const g = this.g, p = this.normal, to = find(p, this.view.x1);
		const from = find(p, this.view.x0), size = to - from > 5000 ? 2 : 4;
		g.fillStyle = colour("normal");
		g.globalAlpha = to - from > 5000 ? 0.5 : 0.75;
		for (let i = from; i < to; i++)
			g.fillRect(this.x(p.t[i]) - size / 2, this.y(p.v[i]) - size / 2, size, size);
		g.globalAlpha = 1;
	}

	drawAlarms() {
		const g = this.g, p = this.alarms, to = find(p, this.view.x1);
		g.fillStyle = colour("bad");
		g.strokeStyle = colour("alarm-edge");
		g.lineWidth = 0.5;
		for (let i = find(p, this.view.x0); i < to; i++)
			this.triangle(this.x(p.t[i]), this.y(p.v[i]), 4);
		g.lineWidth = 1;
	}

	triangle(x, y, r) {
		this.g.beginPath();
		this.g.moveTo(x, y - r);
		this.g.lineTo(x + r, y + r * 0.75);
		this.g.lineTo(x - r, y + r * 0.75);
		this.g.closePath();
		this.g.fill();
		this.g.stroke();
	}

	/* Lines over time: [from, limit, centre] */
	drawLine(name, which, dash) {
		const g = this.g, steps = this.c.steps;
		g.strokeStyle = colour(name);
		g.lineWidth = 2;
		g.setLineDash(dash);
		g.beginPath();
		steps.forEach((s, i) => {
			const v = s[which], end = i + 1 < steps.length ? steps[i + 1][0] : this.view.x1;
			if (v === null)
				return;
			g.moveTo(this.x(s[0]), this.y(v));
			g.lineTo(this.x(Math.max(end, s[0])), this.y(v));
		});
		g.stroke();
		g.setLineDash([]);
		g.lineWidth = 1;
	}

	drawMarks() {
		const g = this.g;
		if (this.mark) {
			g.strokeStyle = colour("ink");
			g.lineWidth = 1.5;
			g.beginPath();
			g.arc(this.x(this.mark.t), this.y(this.mark.v), 9, 0, 7);
			g.stroke();
			g.lineWidth = 1;
		}
		if (this.hot) {
			g.strokeStyle = colour("ink");
			g.strokeRect(this.x(this.hot.t) - 5, this.y(this.hot.v) - 5, 10, 10);
		}
	}

	reset() {
		this.mark = null;
		super.reset();
	}

	nearest(x, y) {
		const reach = 12;
		let best = null, least = reach * reach;
		for (const [p, alarm] of [[this.alarms, true], [this.normal, false]]) {
			const to = find(p, this.atX(x + reach));
			for (let i = find(p, this.atX(x - reach)); i < to; i++) {
				const dx = this.x(p.t[i]) - x, dy = this.y(p.v[i]) - y, d = dx * dx + dy * dy;
				/* of equals the alarm, which is drawn above */
				if (d < least) {
					least = d;
					best = { t: p.t[i], v: p.v[i], who: this.c.who[p.p[i]], keys: p.k[i], alarm };
				}
			}
		}
		return best;
	}

	hover(x, y) {
		const hot = x === undefined ? null : this.nearest(x, y), changed = hot !== this.hot;
		this.hot = hot;
		this.point(hot ? value(hot.v, this.c.isTime) + (hot.alarm ? " (out of control)" : "") +
			"\n" + hot.who + (hot.keys ? "\n" + hot.keys : "") + "\nat " + clock(hot.t) + " s" : "", x, y);
		if (changed)
			this.draw();
	}

	/* An alarm of the table in the middle */
	jump(a) {
		const half = Math.max((this.all.x1 - this.all.x0) / 200, 1e4);
		[this.view.y0, this.view.y1] = [this.all.y0, this.all.y1];
		this.mark = { t: a.t, v: a.v };
		this.show(a.t - half, a.t + half);
		this.canvas.scrollIntoView({ block: "nearest" });
	}

	legend(parent) {
		const c = this.c, limit = c.limit !== null;
		const bar = legend(parent, [
			...this.normal.t.length ? [["dot", limit ? "in control" : "not judged"]] : [],
			...this.alarms.t.length ? [["tri", "out of control"]] : [],
			...limit ? [["limit", "limit " + value(c.limit, c.isTime)]] : [],
			...c.center !== null ? [["centre", "centre " + value(c.center, c.isTime)]] : [],
			...c.phase1End !== null ? [["area", "the limit is learnt"]] : [],
		]);
		const other = () => (this.log ? "linear" : "log") + " scale";
		const scale = add(bar, "button", "", other());
		scale.addEventListener("click", () => {
			this.log = this.log ? "" : "y";
			scale.textContent = other();
			this.extent();
			[this.view.y0, this.view.y1] = [this.all.y0, this.all.y1];
			this.draw();
		});
		add(bar, "button", "", "reset zoom").addEventListener("click", () => this.reset());
		bar.append("drag or wheel: zoom; shift + drag: move; shift + wheel: zoom the values; double-click: all");
	}
}

function summary(c, parent) {
	const p = parent.appendChild(el("p")), out = c.alarms + c.overdue;
	p.append(el("b", "", count(out)), c.limit === null ? " alarms" : " of " + count(c.values) + " values out of control");
	if (c.values && c.limit !== null)
		p.append(" (" + (100 * c.alarms / c.values).toPrecision(3) + " %)");
	if (c.overdue)
		p.append(", " + count(c.overdue) + " of them overdue starts");
	if (c.learnt)
		p.append("; " + count(c.learnt) + " before there was a limit");
	add(parent, "p", "", (c.start ? "from " + c.start + " to " : "") + c.event +
		(c.field ? ", field " + c.field : "") + (c.filter ? ": " + c.filter : ""));
	if (c.pointStep > 1)
		add(parent, "p", "", "Of the values in control one in " + count(c.pointStep) + " is drawn.");
	if (c.alarmPoints.t.length < out)
		add(parent, "p", "", "Of the alarms " + count(c.alarmPoints.t.length) + " are drawn, the larger ones of neighbours.");
}

/* The events around an alarm */
function around(a, cell) {
	if (a.start !== null)
		add(cell, "p", "", "Started at " + clock(a.start, 6) + ", " + time(a.t - a.start) +
			" before; the events up to the judged one, and after it:");
	const body = table(cell, "around", []);
	a.around.forEach((e, i) => {
		add(body, "tr", i === a.before - 1 ? "judged" : "").append(
			el("td", "n", (e[0] < a.t ? "-" : "+") + time(Math.abs(e[0] - a.t))),
			el("td", "n", "CPU " + e[1]), el("td", "", e[2]), el("td", "", e[3]), el("td", "w", e[4]));
	});
}

function alarmRow(a, c, plot, body) {
	const row = add(body, "tr", "alarm"), first = add(row, "td"), when = add(row, "td", "n");
	const show = add(when, "button", "go", clock(a.t, 6));
	show.title = "show it in the chart";
	show.addEventListener("click", () => plot.jump(a));
	row.append(el("td", "n v", value(a.v, c.isTime)), el("td", "", a.who), el("td", "", a.rules),
		el("td", "n", a.limit === null ? "" : value(a.limit, c.isTime)), el("td", "w", a.keys),
		el("td", "", a.kept ? "kept" : "not kept"));
	if (!a.around)
		return;
	const more = add(first, "button", "more");
	more.title = "the events around it";
	unfolds(more, row, cell => around(a, cell));
}

function alarms(c, plot, parent) {
	if (!c.worst.length) {
		add(parent, "p", "", "No alarms.");
		return;
	}
	if (c.worst.length < c.alarms + c.overdue)
		add(parent, "p", "", "The worst " + count(c.worst.length) + " alarms:");
	const body = table(parent, "scroll whole", [["", ""], ["", "n"], ["", "n"], ["process", ""], ["rules", ""],
		["limit", "n"], ["keys", ""], ["", ""]]);
	const heads = body.previousSibling.firstChild.children;
	const fill = order => {
		body.replaceChildren();
		for (const a of [...c.worst].sort(order))
			alarmRow(a, c, plot, body);
	};
	const sorted = (column, text, order) => {
		const b = add(heads[column], "button", "", text + " ↕");
		b.title = "sort by it";
		b.addEventListener("click", () => fill(order));
	};
	const worst = (a, b) => b.v - a.v || a.t - b.t;
	sorted(1, "time", (a, b) => a.t - b.t);
	sorted(2, c.isTime ? "duration" : "value", worst);
	fill(worst);
}

const main = page(DATA.file);
const log = DATA.log;
add(main, "p", "", count(DATA.events) + " events in " + DATA.seconds.toFixed(3) + " s" +
	(DATA.instance ? " of instance " + DATA.instance : ""));
if (DATA.gaps)
	add(main, "p", "bad", "Events were lost " + count(DATA.gaps) +
		" times: alarms may be missing, and pairs across a gap wrong.");
if (log)
	add(main, "p", "", "The filter keeps " + count(log.kept_events) + " of " + count(log.events) + " events, and adds " +
		count(log.alarm_events) + " alarms: " + count(log.kept_bytes) + " instead of " + count(log.bytes) +
		" bytes in the ring buffer" + (log.kept_bytes ? " (" + (log.bytes / log.kept_bytes).toPrecision(3) + " times smaller)" : "") + ".");
if (!DATA.charts.length)
	add(main, "p", "", "No alarms.");
if (DATA.leftOut)
	add(main, "p", "bad", count(DATA.leftOut) + " more charts are left out: --chart chooses one.");
window.plots = DATA.charts.map(c => {
	const section = main.appendChild(el("section"));
	section.append(el("h2", "", c.name));
	summary(c, section);
	const plot = new Chart(c, section);
	alarms(c, plot, section);
	return plot;
});
