#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# sanitizers: check-full
# timeout: 240
#
# ioreq for other programs: Chrome's trace events, OpenTelemetry's spans, folded
# stacks, and the page in a browser; against the truth about requests within requests.
set -u

ioreq=$TOOLS/ioreq
# shellcheck source=tests/unit/cli.bash
. "$(dirname "$0")/cli.bash"

"$UNIT/gen_tiers" front.dat app.dat db.dat 400 1 >truth || exit 1
hosts=(front=front.dat app=app.dat db=db.dat)
for format in chrome otlp folded html; do
	"$ioreq" "${hosts[@]}" --format=$format >out.$format 2>err || wrong "$format fails"
	[ ! -s err ] || wrong "$format: messages"
	"$ioreq" "${hosts[@]}" --format=$format --top=3 >top.$format 2>err || wrong "$format --top fails"
done
"$UNIT/gen_requests" web.dat other.dat 300 1 >requests.truth || exit 1
"$ioreq" web=web.dat db=other.dat --format=chrome >requests.chrome || wrong "chrome fails"
"$ioreq" web=web.dat db=other.dat --format=json >requests.json || wrong "json fails"
"$ioreq" web=web.dat db=other.dat --format=otlp --epoch=1700000000 >requests.otlp || wrong "otlp fails"

# Two hosts that have sent each other nothing
"$ioreq" front=front.dat db=db.dat --format=chrome >front.chrome || wrong "chrome of two that have nothing in common fails"
"$ioreq" front=front.dat db=db.dat --format=html >front.html || wrong "html of two that have nothing in common fails"


# --- Chrome's trace events
python3 -B "$TRACERIG_TOP/tests/unit/ioreq_chrome.py" || wrong "chrome is not right"

# --- OpenTelemetry, by the JSON encoding of OTLP
python3 -B "$TRACERIG_TOP/tests/unit/ioreq_otlp.py" || wrong "otlp is not right"

# --- folded stacks
python3 -B "$TRACERIG_TOP/tests/unit/ioreq_folded.py" || wrong "folded is not right"
"$ioreq" "${hosts[@]}" --format=folded --by=comm,call >by.folded || wrong "folded --by fails"
grep -qE '^curl;sendto [0-9]+$' by.folded || wrong "folded --by has other frames"

# --- sums by the client that calls were made for
"$ioreq" "${hosts[@]}" --by=client,host,call --format=csv >clients.csv 2>err || wrong "--by=client fails"
"$ioreq" "${hosts[@]}" --by=client,host,call --format=json >clients.json 2>>err || wrong "--by=client fails"
[ ! -s err ] || wrong "--by=client: messages"
python3 -B "$TRACERIG_TOP/tests/unit/ioreq_by_client.py" || wrong "--by=client is not right"
"$ioreq" "${hosts[@]}" --by=client,call >out 2>err || wrong "--by=client in text fails"
grep -qE '^front:curl +pread64 +[0-9]' out || wrong "--by=client in text has no row for the client"

# --- the page: what needs no browser
for page in out top; do
	# The page's own two script elements, and nothing that is loaded
	[ "$(grep -ciE '</?script' $page.html)" -eq 4 ] || wrong "$page: markup of the trace in the page"
	grep -qE '<b>' $page.html && wrong "$page: elements of the trace in the page"
	grep -qiE 'https?:|src=[^\/]|@import|url\(|fetch\(|XMLHttp' $page.html && wrong "$page: loads something"
	sed -n '/id="data">/,/<\/script>/p' $page.html | sed '1d;$d' >data.json
	python3 -c 'import json; json.load(open("data.json"))' || wrong "$page: no JSON"
done

# --- the page has the stacks of its requests' calls
"$UNIT/gen_tiers" one.dat two.dat three.dat 100 2 /no/such/prog 1234 2345 >stacks.truth || exit 1
"$ioreq" one.dat two.dat three.dat --format=html >stacks.html 2>err || wrong "html with stacks fails"
[ "$(sort err)" = "$(printf 'ioreq: %s.dat: /no/such/prog: No such file or directory; its functions are named by their offsets (--symfs)\n' three two)" ] ||
	wrong "no message names the missing files"
python3 "$TRACERIG_TOP/tests/unit/ioreq_page_stacks.py" || wrong "the stacks of the page are not right"

# shellcheck source=tests/unit/browser
. "$TRACERIG_TOP/tests/unit/browser"

python3 -B "$TRACERIG_TOP/tests/unit/ioreq_waterfall.py" >wanted
# The first row is the longest one, and is open: its calls, and what was asked for it
shows "$(head -n 1 wanted)" out.html \
	'const rows = [...document.querySelectorAll(".fall .row")], first = grids.singles.body.querySelector("tr.picked");
	const cells = [...first.children].map(td => td.textContent);
	return [rows.length, +cells[6], +cells[5], ...text(".fall .w").slice(0, 2)]' "the waterfall of the longest request"
# Bars lie within that of the request, and bars of the same depth do not overlap
shows '[true,true]' out.html \
	'const bars = [...document.querySelectorAll(".fall .bar")].map(b => [parseFloat(b.style.left), parseFloat(b.style.width)]);
	const last = bars.map(b => b[0]);
	return [bars[0][0] === 0 && bars[0][1] === 100, bars.every(b => b[0] >= 0 && b[0] + b[1] <= 100.001)]' "bars"
# The axis: from 0, in equal steps, each below what the longest row lasts
shows '[true,true,true,true]' out.html \
	'const ticks = [...document.querySelectorAll(".axis span")], at = ticks.map(t => parseFloat(t.style.left));
	const units = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };
	const times = ticks.map(t => t.textContent === "0" ? 0 : parseFloat(t.textContent) * units[t.textContent.split(" ")[1]]);
	const row = document.querySelector(".fall .row .t").textContent.split(" "), whole = row[0] * units[row[1]];
	return [ticks.length >= 3, at[0] === 0 && times[0] === 0, at.every((x, i) => Math.abs(x / 100 * whole - times[i]) <= whole / 500),
		times.every((t, i) => !i || Math.abs(t - i * times[1]) <= times[1] / 500)]' "the time axis"
# It is usable from 400 to 2,000 pixels: nothing is cut, and all of the width is used
for width in 400 700 2000; do
	shows '[true,true,true]' out.html \
		"document.body.style.boxSizing = 'border-box';
		document.body.style.width = '${width}px';
		await new Promise(r => requestAnimationFrame(r));
		const main = document.getElementById('main'), fall = document.querySelector('.fall');
		return [main.scrollWidth <= $width && fall.clientWidth > $width - 60, fall.scrollWidth <= fall.clientWidth,
			[...document.querySelectorAll('.row > div, .axis > div')].every(d => d.scrollWidth <= d.clientWidth + 1 && d.clientWidth >= 80)]" "$width pixels"
done
# At 400 pixels the first column to the step of what to fix first are seen without scrolling
shows '[true,true]' out.html \
	"document.body.style.boxSizing = 'border-box';
	document.body.style.width = '400px';
	await new Promise(r => requestAnimationFrame(r));
	const view = document.querySelector('.causes .scroll').getBoundingClientRect(), found = document.querySelector('.causes > span');
	return [[...grids.causes.body.rows].every(r => r.cells[4].getBoundingClientRect().right <= view.right), found.getClientRects().length === 1]" "what to fix first at 400 pixels"
# and rows of paths are not taller than their names
shows '[true,true]' out.html \
	"document.body.style.width = '400px';
	await new Promise(r => requestAnimationFrame(r));
	const names = [...document.querySelectorAll('td.path')];
	return [names.length > 1, names.every(td => td.parentNode.offsetHeight <= 60)]" "paths at 400 pixels"
# At 1,200 pixels, so are the steps of each path, and the response times of each kind of request:
# what did not occur has no column
shows '[true,true,true,true]' out.html \
	"const seen = (row, i) => row.cells[i].getBoundingClientRect().right <= row.closest('.scroll').getBoundingClientRect().right;
	const heads = grids.kinds.heads.map(h => h.textContent), steps = [...document.querySelectorAll('td.steps')];
	return [steps.length > 1, steps.every(td => seen(td.parentNode, td.cellIndex)),
		[...grids.kinds.body.rows].every(r => seen(r, heads.indexOf('response time'))), !heads.includes('multiplexed connections')]" "what is seen at 1,200 pixels"
# Calls for one of several requests do not look like those for another
shows '[true,false]' out.html \
	"return ['maybe', 'other'].map(c => getComputedStyle(document.querySelector('.legend .' + c)).backgroundImage !== 'none')" "the legend"
# What to fix first, and paths, as in the text
"$ioreq" "${hosts[@]}" --paths >paths.txt || wrong "--paths fails"
grep -qE '^ +[0-9.]+ ms +[0-9.]+ % +386  app:app server 10\.0\.0\.1:80  files  +/srv/page <1>$' paths.txt ||
	wrong "names of servers run into the next column"
shows "$(python3 "$TRACERIG_TOP/tests/unit/ioreq_page_paths.py")" out.html \
	'const causes = [...grids.causes.body.rows[0].cells].map(c => c.textContent);
	const row = [...document.querySelectorAll("td.path")][0].parentNode, cell = i => row.cells[i].textContent;
	return [causes.slice(0, 6), cell(0), cell(1), cell(2), cell(4), cell(6), cell(8), cell(9).replace(/[0-9.]+\s%/g, "")]' "what to fix first, and paths"
shows '[true,true]' out.html \
	'const sum = DATA.causes.reduce((t, c) => t + c.time, 0);
	return [grids.causes.body.rows.length === DATA.causes.length, Math.abs(sum - DATA.links.waited) < 1]' "all causes"
# The slowest requests, step by step, as in the text
python3 -B "$TRACERIG_TOP/tests/unit/ioreq_page_slowest.py" <paths.txt >slowest
shows "$(cat slowest)" out.html \
	'return [...document.querySelectorAll(".slowest details")].slice(0, 3).map(d => [d.querySelector("summary").textContent,
		...[...d.querySelectorAll("tbody tr")].map(tr => [...tr.cells].map(td => td.textContent))])' "the slowest requests"
# and what the text says of the times of each kind of request
"$ioreq" "${hosts[@]}" --requests >kinds.txt || wrong "--requests fails"
shows "$(python3 -B "$TRACERIG_TOP/tests/unit/ioreq_page_kinds.py" <kinds.txt)" out.html \
	'const heads = grids.kinds.heads.map(h => h.textContent), first = heads.indexOf("divided");
	return [grids.kinds.heads[grids.kinds.by].textContent, heads.slice(first, first + 7), ...[...grids.kinds.body.rows].slice(0, 2).map(r =>
		[...r.cells].slice(first, first + 7).map(c => c.textContent.replace(/\u00a0/g, " ").replace(/ [0-9.]+ %/g, "")))]' "the steps of each kind of request"
# Requests without a response are first, and in both
"$UNIT/gen_failures" none.dat unanswered || exit 1
"$ioreq" none.dat --format=html >none.html || wrong "html of unanswered requests fails"
shows '[["11.00 s","99.5 %","2","slow 10.0.0.1:8001","unanswered","",""],["8.000 s","3.000 s","50.00 ms"],"2","11.00 s",true]' none.html \
	'const row = document.querySelector("td.path").parentNode;
	return [[...grids.causes.body.rows[0].cells].map(c => c.textContent), [...grids.singles.body.rows].map(r => r.cells[3].textContent),
		row.cells[2].textContent, row.cells[3].textContent, text("p.bad").includes("Unanswered.")]' "unanswered requests"
# In an event loop, calls on the connections of other clients are grey
"$UNIT/gen_loops" loop-web.dat loop-app.dat loop-db.dat 1000 1 loop >/dev/null || exit 1
"$ioreq" web=loop-web.dat app=loop-app.dat db=loop-db.dat --format=html >loop.html || wrong "html of an event loop fails"
shows '[true,0,true,true]' loop.html \
	'let own = 0, wrong = 0, others = 0, grey = 0;
	for (const r of DATA.list)
		for (const [, object, , , , , type, other] of r.to.startsWith("app:") && r.server && r.server.calls || []) {
			const [mine, peer] = object.split("->");
			/* A connection of a client of the proxy */
			if (type !== "socket" || !r.ends[1].endsWith(" " + mine))
				continue;
			if (r.ends[0].endsWith(" " + peer)) {
				own++;
				wrong += other;
			} else {
				others++;
				grey += other === 1;
			}
		}
	const r = DATA.list.find(r => r.server && (r.server.calls || []).some(c => c[7] === 1) && !byId.has(r.parent));
	waterfall(document.getElementById("waterfall"), r);
	const rows = rowsOf(r, 0, 0, []).filter(x => x[4] === "other").length;
	return [own > 100 && others > 1000, wrong, grey >= 0.95 * others, rows > 0 && document.querySelectorAll(".bar.other").length === rows]' "calls for other requests"
# the downstream requests of a server of several threads
"$UNIT/gen_chain" web.dat handed.dat data.dat alone.dat 400 1 >/dev/null || exit 1
"$ioreq" web=web.dat app=handed.dat db=data.dat --format=html >chain.html || wrong "html of several threads fails"
shows '[true,3,6]' chain.html \
	'const r = DATA.list.find(r => r.server && !r.server.alone && (asked.get(r.id) || []).length === 3);
	const fall = document.getElementById("waterfall");
	waterfall(fall, r);
	return [text(".fall .w")[1].includes("in several threads"), text(".fall .w").filter(t => /^app:app \S+ asks /.test(t)).length,
		fall.querySelectorAll(".client, .server").length - 2]' "a server of several threads"
# stacks of calls that are clicked
shows '[0,3,0,true]' stacks.html \
	'const shown = () => [...document.querySelectorAll(".fall pre")].filter(p => p.checkVisibility()).map(p => p.textContent);
	const row = document.querySelector(".fall .row.link"), before = shown().length;
	row.click();
	const lines = shown().join("\n").split("\n").length;
	row.click();
	return [before, lines, shown().length, text("p").join().includes("stack")]' "the stack of a call"
# names that are markup
shows '[true,0,3]' out.html \
	'return [text("td").some(t => t.startsWith("db:<b>db</b> ")), document.querySelectorAll("b").length, document.scripts.length]' "names that are markup"
# filter and sort
shows '[true,true,true,"ascending"]' out.html \
	'const g = grids.singles, all = g.body.children.length, column = i => [...g.body.rows].map(r => r.cells[i].textContent);
	g.filter.value = "APP db";
	g.filter.dispatchEvent(new Event("input"));
	const some = g.body.children.length, right = column(0).every(t => t === "app:app server");
	g.filter.value = "";
	g.filter.dispatchEvent(new Event("input"));
	g.heads[7].click();
	const down = column(7).map(t => +t.replace(/,/g, ""));
	g.heads[7].click();
	const up = column(7).map(t => +t.replace(/,/g, ""));
	return [some > 0 && some < all && right, down.every((v, i) => !i || v <= down[i - 1]), up.every((v, i) => !i || v >= up[i - 1]),
		g.heads[7].getAttribute("aria-sort")]' "filter and sort"
# network or queue, where both sides are known, as in the sums
shows "$("$ioreq" "${hosts[@]}" --format=json | python3 "$TRACERIG_TOP/tests/unit/ioreq_page_between.py")" out.html \
	'const g = grids.kinds, at = g.heads.findIndex(c => c.textContent.startsWith("network or queue"));
	return g.columns[at][0] === "network or queue" && DATA.requests.map(g.columns[at][1])' "the time in the network or a queue"
shows '["front, app, db",6,true]' out.html \
	'return [text("h1")[0], text("section").length, text("p").join().includes("Clocks are aligned")]' "the page"
shows '[true,true]' front.html \
	'return [text("p").join().includes("Clocks are not aligned"), DATA.list.every(r => !r.server || !r.client)]' "a host that is missing"
# a click on another request, and the note on an ambiguous one
shows '[true,true]' out.html \
	'const g = grids.singles, at = DATA.list.find(r => r.ambiguous);
	g.filter.value = "ambiguous";
	g.filter.dispatchEvent(new Event("input"));
	g.body.rows[0].click();
	return [!!at, text("p.bad").join().includes("several requests")]' "an ambiguous one"

exit "$failed"
