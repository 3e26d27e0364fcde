// SPDX-License-Identifier: GPL-2.0

/*
 * A table that is sorted by the column that is clicked, and shows the rows with all
 * words of its filter. Columns are [heading, value of a row, text of a value]; columns
 * of numbers, which have the latter, are aligned to the right.
 */
class Grid {
	constructor(parent, columns, rows, sorted, pick) {
		this.columns = columns;
		this.rows = rows.map(r => ({ r, v: columns.map(c => c[1](r)) }));
		for (const x of this.rows)
			x.text = x.v.map((v, i) => this.show(i, v)).join(" ").toLowerCase();
		this.filter = add(parent, "input");
		this.filter.type = "search";
		this.filter.placeholder = "filter rows by words";
		this.filter.addEventListener("input", () => this.fill());
		this.found = add(parent, "span");
		this.body = table(parent, "scroll", columns.map(c => [c[0], c[2] ? "n" : ""]));
		this.heads = [...this.body.previousSibling.firstChild.children];
		this.pick = pick;
		this.by = sorted;
		this.down = true;
		this.heads.forEach((th, i) => th.addEventListener("click", () => this.sort(i)));
		this.fill();
	}
	show(i, v) { return this.columns[i][2] ? this.columns[i][2](v) || "-" : v; }
	sort(i) {
		this.down = this.by === i ? !this.down : !!this.columns[i][2];
		this.by = i;
		this.fill();
	}
	fill() {
		const words = this.filter.value.toLowerCase().split(/\s+/).filter(w => w);
		const rows = this.rows.filter(x => words.every(w => x.text.includes(w)));
		const key = x => x.v[this.by] === undefined || x.v[this.by] === null ? -1 : x.v[this.by], sign = this.down ? -1 : 1;
		rows.sort((a, b) => sign * (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
		this.heads.forEach((th, i) =>
			th.setAttribute("aria-sort", i !== this.by ? "none" : this.down ? "descending" : "ascending"));
		this.body.replaceChildren(...rows.map(x => this.row(x)));
		this.found.textContent = count(rows.length) + " of " + count(this.rows.length);
	}
	row(x) {
		const tr = el("tr", this.pick ? "link" : "");
		x.v.forEach((v, i) => tr.append(el("td", this.columns[i][2] ? "n" : "", this.show(i, v))));
		if (this.pick)
			tr.addEventListener("click", () => {
				for (const other of this.body.querySelectorAll(".picked"))
					other.classList.remove("picked");
				tr.classList.add("picked");
				this.pick(x.r);
			});
		return tr;
	}
}

const byId = new Map(DATA.list.map(r => [r.id, r])), asked = new Map();
for (const r of DATA.list) {
	const key = r.parent;
	asked.set(key, (asked.get(key) || []).concat(r));
}

/* @other: 1: a call for another request, 2: for one of several */
function kind(op, type, other) {
	if (other === 1)
		return "other";
	const what = type === "socket" ? "own" : ["file", "dir", "blk"].includes(type) || op.includes("sync") ? "file" : "";
	return other ? what + " maybe" : what;
}

/*
 * The rows of a request: [depth, text, from, to, class, details, stack]. Times of one host
 * are as measured; a server's span is placed by aligned clocks, or in the middle of its
 * client's.
 */
function rowsOf(r, at, depth, rows) {
	const c = r.client, s = r.server;
	let begin = at;
	if (c)
		rows.push([depth, r.ends[0] + " asks " + r.ends[1], at, at + c.time, "client"]);
	if (c && s)
		begin += c.aligned && s.aligned ? s.at - c.at : (c.time - s.time) / 2;
	if (s)
		rows.push([depth + (c ? 1 : 0), r.ends[1] + " answers " + r.ends[0] + (s.alone ? " in thread " + s.pid : " in several threads"), begin, begin + s.time, "server"]);
	const who = s || c, inner = [];
	/* If there are several threads, only their downstream requests are known */
	for (const [op, object, from, took, bytes, result, type, other, stack] of who.calls || [])
		inner.push([from, x => rows.push([x, op + " " + object, begin + from, begin + from + took, kind(op, type, other),
			(result < 0 ? "failed: " + result : counted(bytes, "byte")) + ["", ", for another request", ", for one of several requests"][other], stack])]);
	for (const child of s && asked.get(r.id) || [])
		inner.push([child.client.at - s.at, x => rowsOf(child, begin + child.client.at - s.at, x, rows)]);
	inner.sort((a, b) => a[0] - b[0]);
	for (const [, add] of inner)
		add(depth + (c && s ? 2 : 1));
	if (who.more)
		rows.push([depth + 2, counted(who.more, "more call"), begin + who.time, begin + who.time, ""]);
	return rows;
}

function rootOf(r) {
	while (byId.has(r.parent))
		r = byId.get(r.parent);
	return r;
}

/* The time axis: a label for each 90 pixels or more, at 1, 2 or 5 times a power of ten */
function axis(fall, span) {
	const bar = add(add(fall, "div", "axis"), "div", "b");
	const apart = step(span, Math.max(1, bar.clientWidth / 90));
	fall.style.setProperty("--step", 100 * apart / span + "%");
	for (let t = 0; t <= span * (1 - 70 / Math.max(140, bar.clientWidth)); t += apart)
		add(bar, "span", "", t ? time(t) : "0").style.left = 100 * t / span + "%";
}

function waterfall(parent, r) {
	const root = rootOf(r), rows = rowsOf(root, 0, 0, []);
	const span = Math.max(1, ...rows.map(x => x[3]));
	parent.replaceChildren();
	const head = add(parent, "p");
	head.append(root.ends[0] + " asks " + root.ends[1] + ": " + count(root.sent) + " bytes sent, " + count(root.received) + " bytes received.");
	if (root.unanswered)
		add(parent, "p", "bad", root.cut_off ? "The request was " + root.failure + "." : root.failure ? "Connection failed: " + root.failure + "." : "Unanswered.");
	if (root.multiplexed)
		add(parent, "p", "bad", "Its connection " + (root.maybe_multiplexed ? "may be" : "is") + " multiplexed (HTTP/2, gRPC or pipelining): the bytes may be of several requests.");
	else if (root.unclear)
		add(parent, "p", "bad", "Unclear: both ends did not see it alike, and the server's side is not shown.");
	if (root.ambiguous)
		add(parent, "p", "bad", "Ambiguous: the client was handling several requests, " +
			(root.queued ? "which seem to wait for one another, such as for a connection of a pool, " : "") + "and its parent is unknown.");
	if (root.client && root.server && !(root.client.aligned && root.server.aligned))
		add(parent, "p", "", "The clocks of server and client are not aligned: the server's span is drawn in the middle of the client's.");
	const fall = add(parent, "div", "fall");
	axis(fall, span);
	for (const [depth, text, from, to, cls, more, stack] of rows) {
		const row = add(fall, "div", "row");
		const name = add(row, "div", cls === "other" ? "w other" : "w", text);
		name.style.paddingLeft = 6 + 14 * depth + "px";
		name.title = text;
		row.append(el("div", "t", time(to - from)));
		const bar = add(row, "div", "b").appendChild(el("div", "bar " + cls));
		bar.style.left = 100 * from / span + "%";
		bar.style.width = 100 * (to - from) / span + "%";
		bar.title = text + "\nafter " + time(from) + " for " + time(to - from) + (more ? "\n" + more : "");
		if (!DATA.stacks[stack])
			continue;
		const frames = fall.appendChild(el("pre", "", DATA.stacks[stack].join("\n")));
		frames.hidden = true;
		row.classList.add("link");
		row.addEventListener("click", () => frames.hidden = !frames.hidden);
	}
}

function section(main, title, note) {
	const s = add(main, "section");
	add(s, "h2", "", title);
	if (note)
		add(s, "p", "", note);
	return s;
}

function endpoint(host, name) {
	return host && DATA.hosts.length > 1 ? host + ":" + name : name;
}

/* Clocks that run at different rates do not show a time that is negative */
function signed(v) { return v < 0 ? "-" : time(v); }

function percent(part, of) { return of && part >= 0 ? (100 * part / of).toFixed(1) + " %" : "-"; }

/* Steps of at least one percent of a time */
function stepsText(steps, of) {
	return Object.entries(steps).filter(([, t]) => t && t * 100 >= of)
		.map(([name, t]) => DATA.steps[name] + " " + percent(t, of).replace(" ", "\u00a0")).join(", ");
}

function contradicted(requests) {
	return requests ? counted(requests, "request") + " longer by the server's clock than by the client's; time in the network is unknown: the clocks' rates differ, or the server's last call ended late" : "";
}

function causes(main) {
	if (!DATA.causes.length && !DATA.links.multiplexed)
		return;
	const s = section(main, "What to fix first", "What clients waited for: of the " + time(DATA.links.waited) + " of response times of " +
		counted(DATA.links.clients, "request") + ", along the critical path" +
		(DATA.links.ambiguous ? "; " + counted(DATA.links.ambiguous, "ambiguous request") + ", with " + time(DATA.links.ambiguous_time) + ", are only in the paths below" +
			(DATA.links.queued ? " (" + count(DATA.links.queued) + " of threads whose requests seem to wait for one another, such as for a connection of a pool)" : "") : "") +
		(DATA.links.multiplexed ? "; " + counted(DATA.links.multiplexed, "request") + " on multiplexed connections (HTTP/2, gRPC or pipelining), with " + time(DATA.links.multiplexed_time) + ", cannot be separated and are in no row" : "") +
		(DATA.links.maybe_multiplexed ? "; " + counted(DATA.links.maybe_multiplexed, "request") + " on connections that may be multiplexed" : "") +
		(DATA.links.contradicted ? "; " + contradicted(DATA.links.contradicted) : "") + ".");
	s.className = "causes";
	if (!DATA.causes.length)
		return;
	window.grids.causes = new Grid(s, [
		["time", c => c.time, signed], ["share", c => c.time, v => percent(v, DATA.links.waited)], ["requests", c => c.requests, count],
		["where", c => endpoint(c.host, c.process) + (c.address && " " + c.address)], ["step", c => DATA.steps[c.step]], ["object", c => c.object],
		["most of it from", c => c.code && c.code + " (" + percent(c.code_time, c.time) + ")"],
	], DATA.causes, 0);
}

function paths(main) {
	if (!DATA.paths.length)
		return;
	const s = section(main, "Paths of requests", "Downstream requests are below the requests that they were made for.");
	s.className = "paths";
	const body = table(s, "scroll", [["path"], ["answered", "n"], ["unanswered", "n"], ["in flight", "n"], ["response time", "n"], ["p50", "n"], ["p99", "n"],
		["max", "n"], ["critical", "n"], ["steps of the critical path"]]);
	for (const p of DATA.paths) {
		const tr = add(body, "tr");
		const server = endpoint(p.server_host, p.server) + (p.server_address && " " + p.server_address);
		const client = (p.ambiguous ? "ambiguous: " : "") + endpoint(p.client_host, p.client);
		add(tr, "td", "path", p.depth ? "  ".repeat(p.depth) + "\u2192 " + server : client + " \u2192 " + server);
		for (const text of [count(p.requests), count(p.unanswered), p.unanswered ? time(p.unanswered_time) : "-", time(p.wait), time(p.wait_p50), time(p.wait_p99),
			time(p.wait_max), signed(p.critical)])
			add(tr, "td", "n", text);
		add(tr, "td", "steps", stepsText(p.wait_for, p.critical));
	}
}

/* As in the text: the steps of each of the slowest requests, of at least one percent, in order */
function slowest(main) {
	if (!DATA.slowest.length)
		return;
	const s = section(main, "The slowest requests, step by step");
	s.className = "causes slowest";
	DATA.slowest.forEach((r, i) => {
		const one = add(s, "details");
		one.open = !i;
		add(one, "summary", "", time(r.wait) + " of " + endpoint(r.client_host, r.client));
		const steps = r.waited_for.filter(x => x.time * 100 >= r.wait), code = steps.some(x => x.code);
		const body = table(one, "scroll", [["time", "n"], ["where"], ["step"], ["object"], ...code ? [["from"]] : []]);
		for (const x of steps) {
			const tr = add(body, "tr");
			add(tr, "td", "n", time(x.time));
			add(tr, "td", "", endpoint(x.host, x.process) + (x.address && " " + x.address)).style.paddingLeft = 6 + 12 * x.depth + "px";
			for (const text of [x.text, (x.call + " " + x.object).trim(), ...code ? [x.code] : []])
				add(tr, "td", "", text);
		}
	});
}

const some = f => o => o.count ? o[f] : null;

function kinds(main) {
	if (!DATA.requests.length)
		return;
	const s = section(main, "Requests by client and server");
	/* Columns of what is rare, which are there if it occurs */
	const rare = (name, value, show) => DATA.requests.some(value) ? [[name, value, show]] : [];
	const columns = [
		["client", r => endpoint(r.client_host, r.client)], ["server", r => endpoint(r.server_host, r.server) + (r.server_address && " " + r.server_address)],
		["answered", r => r.answered, count], ...rare("unclear", r => r.unclear, count), ...rare("multiplexed connections", r => r.multiplexed, count),
		...rare("may be multiplexed", r => r.maybe_multiplexed, count), ...rare("server guessed", r => r.guessed, count), ...rare("unanswered", r => r.unanswered, count),
		...rare("in flight", r => r.unanswered ? r.unanswered_time : null, time), ...rare("failed connections", r => r.failed_connections, count),
		...rare("cut off in the response", r => r.cut_off, count), ...rare("messages without a request", r => r.pushed, count), ["sent", r => r.sent, count], ["received", r => r.received, count],
		["response time", r => some("time")(r.wait), time], ["p50", r => some("p50")(r.wait), time], ["p99", r => some("p99")(r.wait), time], ["max", r => some("max")(r.wait), time],
		["service time", r => some("time")(r.service), time], ["p50", r => some("p50")(r.service), time], ["p99", r => some("p99")(r.service), time], ["max", r => some("max")(r.service), time],
		["network or queue", r => r.wait.count && r.service.count ? r.between : null, signed],
		...rare("contradicting clocks", r => r.contradicted, count),
		["divided", r => r.split, count], ...[["to server", "there"], ["before server waited", "late"], ["to client", "back"], ["before client waited", "late_client"]]
			.map(([name, f]) => [name, r => r.split ? r[f] : null, time]),
		["by one thread", r => r.stepped, count],
		["steps of these", r => stepsText(r.steps, Object.values(r.steps).reduce((a, b) => a + b, 0))],
		["time in all", r => (r.wait.count ? r.wait.time : r.service.count ? r.service.time : 0) + r.unanswered_time, time],
	];
	window.grids.kinds = new Grid(s, columns, DATA.requests, columns.length - 1);
}

function singles(main) {
	if (!DATA.list.length)
		return;
	const s = section(main, "Single requests", DATA.list.length < DATA.singles ?
		"The longest ones with their parent and downstream requests: " + count(DATA.list.length) + " of " + count(DATA.singles) + " (--top)." : "");
	const list = add(s, "div");
	legend(s, [["client", "client: response time"], ["server", "server: service time"], ["file", "calls on files"], ["own", "calls on connections"], ["call", "other calls"], ["maybe", "calls for one of several requests"], ["other", "calls for other requests"]]);
	if (Object.keys(DATA.stacks).length)
		add(s, "p", "", "Click a call to see its stack.");
	const fall = add(s, "div");
	fall.id = "waterfall";
	const at = r => (r.client || r.server).at;
	window.grids.singles = new Grid(list, [
		["client", r => r.from], ["server", r => r.to], ["at", at, time],
		["response time", r => r.client ? r.client.time : null, time], ["service time", r => r.server ? r.server.time : null, time],
		["calls", r => r.server && r.server.calls ? r.server.calls.length + r.server.more : null, v => v === null ? "-" : count(v)],
		["downstream", r => (asked.get(r.id) || []).length, count],
		["sent", r => r.sent, count], ["received", r => r.received, count],
		["addresses", r => r.addresses], ["", r => r.failure || (r.unanswered ? "unanswered" : r.maybe_multiplexed ? "may be multiplexed" : r.multiplexed ? "multiplexed" : r.unclear ? "unclear" : r.ambiguous ? "ambiguous" : "")],
	], DATA.list, DATA.list.some(r => r.client) ? 3 : 4, r => waterfall(fall, r));
	const first = window.grids.singles.body.querySelector("tr");
	if (first)
		first.click();
}

function calls(main) {
	const s = section(main, "Calls", DATA.calls.length < DATA.sums ?
		"The longest ones: " + count(DATA.calls.length) + " of " + count(DATA.sums) + " sums (--top)." : "");
	const by = DATA.calls[0] || {};
	window.grids.calls = new Grid(s, [
		...by.client === undefined ? [] : [["client", c => c.client]],
		["host", c => c.host || ""], ["process", c => (c.comm || "") + (c.tgid === undefined ? "" : "-" + c.tgid)],
		["call", c => c.call || ""], ["count", c => c.count, count], ["failed", c => c.failed, count], ["bytes", c => c.bytes, count],
		...by.size === undefined ? [] : [["size from", c => c.size, count]],
		["time", c => c.time, time], ["p50", c => c.p50, time], ["p99", c => c.p99, time], ["max", c => c.max, time],
		["object", c => c.object || ""],
	], DATA.calls, 6 + (by.client !== undefined) + (by.size !== undefined));
}

function hangs(main) {
	if (!DATA.pending.length)
		return;
	const s = section(main, "Pending calls");
	window.grids.pending = new Grid(s, [
		["host", p => p.host], ["process", p => p.comm + "-" + p.pid], ["call", p => p.call], ["in flight for", p => p.time, time], ["object", p => p.name],
	], DATA.pending, 3);
}

window.grids = {};
const main = page(DATA.hosts.map(h => h.name).join(", "));
for (const h of DATA.hosts)
	add(main, "p", h.gaps || h.trouble ? "bad" : "", h.file + ": " + counted(h.calls, "call") +
		(h.stock ? " (kernel without iosys: byte ranges of streams are unknown, so no requests)" : "") +
		(h.gaps ? ", records lost in " + counted(h.gaps, "gap") : "") +
		(h.udp_calls ? ", " + counted(h.udp_calls, "call") + " on UDP sockets: requests over UDP are not followed, since the peers of unconnected ones are not recorded" : "") +
		(h.trouble ? (h.calls ? "; not read to its end: " : "; skipped: ") + h.trouble : ""));
if (DATA.hosts.length > 1)
	add(main, "p", "", "Clocks are " + DATA.clocks + ".");
causes(main);
paths(main);
slowest(main);
singles(main);
kinds(main);
calls(main);
hangs(main);
