// SPDX-License-Identifier: GPL-2.0
"use strict";
/*
 * What the pages of all tools have in common; the tool's own page.js follows it.
 * Everything in DATA comes from a trace: it is shown with textContent only.
 */
const DATA = JSON.parse(document.getElementById("data").textContent);

function el(name, cls, text) {
	const e = document.createElement(name);
	if (cls)
		e.className = cls;
	if (text !== undefined)
		e.textContent = text;
	return e;
}

function add(parent, ...rest) { return parent.appendChild(el(...rest)); }

/* The page's element for what the tool adds, after a heading */
function page(heading) {
	const main = document.getElementById("main");
	document.title = DATA.tool.split(" ")[0] + ": " + heading;
	document.getElementById("made").textContent = "Made by " + DATA.tool + ".";
	add(main, "h1", "", heading);
	return main;
}

/* A table's body, below headings [text, class], if there are any */
function table(parent, cls, heads) {
	const t = add(add(parent, "div", cls), "table");
	if (heads.length)
		add(add(t, "thead"), "tr").append(...heads.map(([text, cls]) => el("th", cls, text)));
	return add(t, "tbody");
}

/* A button that shows a row below another one, which fill(cell) fills, and removes it */
function unfolds(button, row, fill) {
	let below = null;
	button.setAttribute("aria-expanded", "false");
	button.addEventListener("click", () => {
		if (below) {
			below.remove();
			below = null;
		} else {
			below = el("tr", "detail");
			const cell = add(below, "td");
			cell.colSpan = row.children.length;
			fill(cell);
			row.after(below);
		}
		row.classList.toggle("open", !!below);
		button.setAttribute("aria-expanded", String(!!below));
	});
}

/* A line of entries [class of the mark, text] */
function legend(parent, entries) {
	const p = add(parent, "p", "legend");
	for (const [cls, text] of entries) {
		const entry = add(p, "span");
		add(entry, "span", "key " + cls);
		entry.append(text);
	}
	return p;
}

function count(n) { return n.toLocaleString("en-US"); }

/* "1 execution", "1,554 executions" */
function counted(n, what) { return count(n) + " " + what + (n === 1 ? "" : "s"); }

/* Four significant digits, as in the text reports */
function time(v) {
	if (v === null || v === undefined)
		return "";
	for (const [unit, ns] of [["s", 1e9], ["ms", 1e6], ["us", 1e3]]) {
		const x = v / ns;
		if (x >= 1)
			return x.toFixed(x < 10 ? 3 : x < 100 ? 2 : 1) + " " + unit;
	}
	return Math.round(v) + " ns";
}

/* Trace clock in seconds; it has more digits than a number, so DATA.first is a string */
function clock(t, digits = 9) {
	const ns = BigInt(DATA.first) + BigInt(Math.round(t)), abs = ns < 0n ? -ns : ns;
	const frac = String(abs % 1000000000n).padStart(9, "0").slice(0, digits);
	return (ns < 0n ? "-" : "") + abs / 1000000000n + (digits ? "." + frac : "");
}

function colour(name) {
	return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

/* The first of n indices that is not below */
function bisect(n, below) {
	let lo = 0, hi = n;
	while (lo < hi) {
		const mid = lo + hi >> 1;
		if (below(mid))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* 1, 2 or 5 times a power of ten, so that about n fit */
function step(span, n) {
	const raw = span / n, p = 10 ** Math.floor(Math.log10(raw)), m = raw / p;
	return p * (m <= 1 ? 1 : m <= 2 ? 2 : m <= 5 ? 5 : 10);
}

/* Round numbers from lo to hi, about n of them; log: both are logarithms */
function ticks(lo, hi, n, log) {
	const out = [], factors = n >= 3 * (hi - lo) ? [1, 2, 5] : [1];
	if (log && hi - lo >= 1) {
		for (let e = Math.floor(lo); e <= hi; e++)
			out.push(...factors.map(f => f * 10 ** e));
		return out.filter(v => Math.log10(v) >= lo && Math.log10(v) <= hi);
	}
	if (log)
		[lo, hi] = [10 ** lo, 10 ** hi];
	const s = Math.max(step(hi - lo, n), 1); /* all values are integers */
	for (let v = Math.ceil(lo / s) * s; v <= hi; v += s)
		out.push(v);
	return out;
}

/*
 * A picture that is drawn again when its size or the colours change. A tool's class has
 * paint(), or gives it among the options, all of which become members:
 *
 * @log:	the axes that are logarithmic, of "x" and "y"
 * @all:	x0 to x1 and y0 to y1 of the axes, in logarithms if they are so
 * @margin:	from the canvas to the area of the axes: left, top, right, bottom
 * @label:	description, if the picture can be zoomed
 * @least:	the shortest span of x to zoom to
 * @boxes:	a drag can choose a span of y, too
 *
 * hover(x, y) gets where the pointer is, in CSS pixels, or nothing when it leaves; click(x, y)
 * where a click was. A drag shows what it spans, with shift it moves the view.
 */
class Plot {
	constructor(parent, options) {
		Object.assign(this, { log: "", all: { x0: 0, x1: 1, y0: 0, y1: 1 }, margin: [0, 0, 0, 0] }, options);
		this.view = { ...this.all };
		this.box = add(parent, "div", "plot");
		this.canvas = add(this.box, "canvas", this.cls);
		this.tip = add(this.box, "div", "tip");
		this.g = this.canvas.getContext("2d");
		if (this.label)
			this.listen();
		new ResizeObserver(() => this.draw()).observe(this.canvas);
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
	}

	scale(axis, v) { return this.log.includes(axis) ? Math.log10(Math.max(v, 1)) : v; }
	x(v) { return this.left + (this.scale("x", v) - this.view.x0) / (this.view.x1 - this.view.x0) * this.width; }
	y(v) { return this.top + (this.view.y1 - this.scale("y", v)) / (this.view.y1 - this.view.y0) * this.height; }
	/* What is at a pixel, in logarithms if the axis is so */
	atX(px) { return this.view.x0 + (px - this.left) / this.width * (this.view.x1 - this.view.x0); }
	atY(px) { return this.view.y1 - (px - this.top) / this.height * (this.view.y1 - this.view.y0); }
	ticksX(n) { return ticks(this.view.x0, this.view.x1, n, this.log.includes("x")); }
	ticksY(n) { return ticks(this.view.y0, this.view.y1, n, this.log.includes("y")); }

	draw() {
		const ratio = devicePixelRatio || 1, w = this.canvas.clientWidth, h = this.canvas.clientHeight, g = this.g;
		if (!w)
			return;
		this.canvas.width = Math.round(w * ratio);
		this.canvas.height = Math.round(h * ratio);
		[this.left, this.top] = this.margin;
		this.width = w - this.left - this.margin[2];
		this.height = h - this.top - this.margin[3];
		g.setTransform(ratio, 0, 0, ratio, 0, 0);
		g.font = "11px Helvetica, Arial, 'Liberation Sans', sans-serif";
		this.paint(this);
		const d = this.drag;
		if (d && d.moved && !d.shift) {
			const [y0, y1] = this.isBox(d) ? [d.y, d.y1] : [this.top, this.top + this.height];
			g.fillStyle = colour("select");
			g.fillRect(d.x, y0, d.x1 - d.x, y1 - y0);
		}
	}

	line(x0, y0, x1, y1, name, dash = []) {
		const g = this.g;
		g.strokeStyle = colour(name);
		g.setLineDash(dash);
		g.beginPath();
		g.moveTo(x0, y0);
		g.lineTo(x1, y1);
		g.stroke();
		g.setLineDash([]);
	}

	text(s, x, y, align, name = "faint") {
		this.g.fillStyle = colour(name);
		this.g.textAlign = align;
		this.g.fillText(s, x, y);
	}

	dot(x, y, name, size = 3) {
		this.g.fillStyle = colour(name);
		this.g.fillRect(x - size / 2, y - size / 2, size, size);
	}

	/* A line of the grid at a height, or at an x, in the middle of a pixel, and its label */
	gridY(y, label) {
		y = Math.round(y) + 0.5;
		this.line(this.left, y, this.left + this.width, y, "grid");
		this.text(label, this.left - 6, y + 4, "right");
	}

	gridX(x, label) {
		x = Math.round(x) + 0.5;
		this.line(x, this.top, x, this.top + this.height, "grid");
		if (x < this.left + this.width - 24)
			this.text(label, x, this.top + this.height + 14, "center");
	}

	show(x0, x1) {
		const all = this.all, span = Math.min(Math.max(x1 - x0, this.least), all.x1 - all.x0);
		this.view.x0 = Math.min(Math.max((x0 + x1 - span) / 2, all.x0), all.x1 - span);
		this.view.x1 = this.view.x0 + span;
		this.draw();
	}

	zoom(factor, px) {
		const at = this.atX(Math.max(px, this.left));
		this.show(at - (at - this.view.x0) * factor, at + (this.view.x1 - at) * factor);
	}

	zoomY(factor, py) {
		const at = this.atY(py), v = this.view;
		[v.y0, v.y1] = [at - (at - v.y0) * factor, at + (v.y1 - at) * factor];
		this.draw();
	}

	reset() {
		Object.assign(this.view, this.all);
		this.draw();
	}

	listen() {
		const c = this.canvas;
		c.tabIndex = 0;
		c.setAttribute("role", "img");
		c.setAttribute("aria-label", this.label + ": drag or turn the wheel to zoom, double-click or press 0 to reset, arrows move");
		c.addEventListener("pointerdown", e => {
			if (e.button)
				return;
			this.drag = { x: e.offsetX, y: e.offsetY, moved: false, shift: e.shiftKey, from: this.view.x0, to: this.view.x1 };
			c.setPointerCapture(e.pointerId);
		});
		c.addEventListener("pointermove", e => this.move(e.offsetX, e.offsetY));
		c.addEventListener("pointerup", e => this.drop(e.offsetX, e.offsetY));
		c.addEventListener("pointercancel", () => { this.drag = null; this.draw(); });
		c.addEventListener("pointerleave", () => this.hover());
		c.addEventListener("dblclick", () => this.reset());
		c.addEventListener("wheel", e => { e.preventDefault(); this.wheel(e, Math.exp(Math.sign(e.deltaY || e.deltaX) * 0.25)); }, { passive: false });
		c.addEventListener("keydown", e => this.press(e));
	}

	isBox(d) { return this.boxes && Math.abs(d.y1 - d.y) > 24; }

	move(x, y) {
		const d = this.drag;
		if (!d) {
			this.hover(x, y);
			return;
		}
		const by = (d.x - x) / this.width * (d.to - d.from);
		d.x1 = Math.min(Math.max(x, this.left), this.left + this.width);
		d.y1 = Math.min(Math.max(y, this.top), this.top + this.height);
		if (!d.moved && Math.hypot(x - d.x, y - d.y) < 5)
			return;
		d.moved = true;
		this.hover();
		if (d.shift)
			this.show(d.from + by, d.to + by);
		else
			this.draw();
	}

	drop(x, y) {
		const d = this.drag, v = this.view;
		this.drag = null;
		if (!d || !d.moved) {
			if (d)
				this.click(x, y);
			return;
		}
		if (d.shift)
			return;
		if (this.isBox(d))
			[v.y0, v.y1] = [this.atY(Math.max(d.y, d.y1)), this.atY(Math.min(d.y, d.y1))];
		this.show(this.atX(Math.min(d.x, d.x1)), this.atX(Math.max(d.x, d.x1)));
	}

	wheel(e, factor) {
		if (e.shiftKey && this.boxes)
			this.zoomY(factor, e.offsetY);
		else
			this.zoom(factor, e.offsetX);
	}

	press(e) {
		const middle = this.left + this.width / 2, pan = (this.view.x1 - this.view.x0) * 0.2;
		if (e.key === "+" || e.key === "=")
			this.zoom(0.7, middle);
		else if (e.key === "-")
			this.zoom(1.4, middle);
		else if (e.key === "0" || e.key === "Escape")
			this.reset();
		else if (e.key === "ArrowLeft")
			this.show(this.view.x0 - pan, this.view.x1 - pan);
		else if (e.key === "ArrowRight")
			this.show(this.view.x0 + pan, this.view.x1 + pan);
		else
			return;
		e.preventDefault();
	}

	/* Show a text beside a point, or nothing */
	point(text, x, y) {
		const tip = this.tip.style, w = this.canvas.clientWidth, right = x > w / 2;
		this.tip.textContent = text;
		tip.display = text ? "block" : "none";
		tip.left = right ? "" : x + 14 + "px";
		tip.right = right ? w - x + 14 + "px" : "";
		tip.top = y + 12 + "px";
	}

	hover() { }
	click() { }
}
