#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# sanitizers: check-full
# timeout: 400
#
# The page of lbrtime --format=html in a browser: its times are those of the program by
# each method, a click shows a sample, the search finds, names that are markup are text,
# and a million samples are drawn quickly.
set -u

lbrtime=$TOOLS/lbrtime
# shellcheck source=tests/unit/cli.bash
. "$(dirname "$0")/cli.bash"

cat >hostile.txt <<'END'
</script><b> 100/101 [001] 10.000000: 401000 main
</script><b> 100/101 [001] 10.000100: 401210 </script><u>  main+0x5/<img>+0x0/P/-/-/0/CALL/- <!--+0x5/main+0x0/P/-/-/0/RET/-
END
"$lbrtime" --format=html hostile.txt >hostile.html 2>err || wrong "hostile: $(cat err)"
"$UNIT/gen_lbr" slow.dat 32 6000 3 alarms count >/dev/null || exit 1
"$lbrtime" --format=html slow.dat >slow.html 2>err || wrong "slow: $(cat err)"
"$UNIT/gen_lbr" lost.dat 8 2000 3 dense count cycles switch >/dev/null || exit 1
"$lbrtime" --format=html --ghz=3 lost.dat >lost.html 2>err || wrong "lost: $(cat err)"
for page in hostile slow lost; do
	# The page's own three script elements, and nothing that is loaded
	[ "$(grep -ciE '</?script' $page.html)" -eq 6 ] || wrong "$page: markup of the trace in the page"
	grep -qE '<(img|u|i)\b' $page.html && wrong "$page: elements of the trace in the page"
	grep -qiE 'https?:|src=|@import|url\(|fetch\(|XMLHttp' $page.html && wrong "$page: loads something"
	sed -n '/id="data">/,/<\/script>/p' $page.html | sed '1d;$d' >data.json
	python3 -c 'import json; json.load(open("data.json"))' || wrong "$page: no JSON"
done

# shellcheck source=tests/unit/browser
. "$TRACERIG_TOP/tests/unit/browser"

shows '[["</script><u>","<!--","<img>","main"],4,0]' hostile.html \
	'return [DATA.names.slice().sort((a, b) => a.length < b.length ? 1 : -1).sort((a, b) => (b[1] === "/") - (a[1] === "/")).slice(0, 4).sort((a, b) => "<m".indexOf(a[0]) - "<m".indexOf(b[0]) || (b[1] === "/") - (a[1] === "/") || (a < b ? -1 : 1)),
		document.scripts.length, document.querySelectorAll("img, u, i, main b b").length]' "names that are markup"

# The columns are explained in the page as in text
"$lbrtime" --format=text slow.dat 2>/dev/null | sed -n '/^Columns, by/,$s/^  \([a-z]*\)  *\([a-z].*\)/\1 \2/p' | head -n 5 >columns
[ "$(wc -l <columns)" -eq 5 ] || wrong "columns of text: $(cat columns)"
shows "$(python3 -c 'import json, sys; print(json.dumps(sys.stdin.read().splitlines(), separators=(",", ":")))' <columns)" slow.html \
	'return [...document.querySelectorAll(".meanings dt")].map(t => t.textContent + " " + t.nextSibling.textContent)' "the columns"

# Each visit's start and time, by every method, as the program prints them
for page in slow lost; do
	for method in sample equal share ratio cycles fit; do
		[ "$method$page" != cyclesslow ] || continue
		"$lbrtime" --ghz=3 --format=csv --visits --method=$method $page.dat >$page.$method 2>err ||
			{ grep -q 'no cycles' err && continue; wrong "$page: $method"; }
		python3 "$TRACERIG_TOP/tests/unit/lbrtime_page_sums.py" "$page.$method" >sums
		read -r n total weighed unsure <sums
		shows '[true,true,true,true]' $page.html \
			"let n = 0, total = 0, weighed = 0;
			for (let i = 0; i < S.n; i++)
				for (const d of durations(i, '$method')) {
					n++;
					total += d;
					weighed += d * (n % 1009);
				}
			return [n === $n, Math.abs(total - $total) <= $total / 1e4 + 1, Math.abs(weighed - $weighed) <= $weighed / 1e3 + 1,
				(S.unreliable['$method'] || []).reduce((a, b) => a + b, 0) === $unsure]" "$page: times by $method"
	done
done

prelude='
	const pointer = (type, px, py) => canvas.dispatchEvent(new PointerEvent(type, {
		pointerId: 1, clientX: canvas.getBoundingClientRect().left + px,
		clientY: canvas.getBoundingClientRect().top + py, bubbles: true }));
	canvas.setPointerCapture = () => {};'
# two lanes; a click on a sample shows its visits in order, the last one where it was sampled
shows '["one-701","three-703",true,true]' slow.html \
	'const i = view.lanes[0].list[1000];
	center(i);
	pointer("pointerdown", x(S.ts[i]) - 1, AXIS + 8);
	pointer("pointerup", x(S.ts[i]) - 1, AXIS + 8);
	const names = [...right.querySelectorAll("tbody td.f")].map(e => e.textContent.trim());
	const want = [...S.function.subarray(S.first[i], S.first[i + 1])].map(f => NAMES[f]);
	return [...view.lanes.map(l => l.name), JSON.stringify(names) === JSON.stringify(want), view.sample === i]' "a click on a sample"
# zoomed in, the picture has the functions'"'"' colours where the times say so
shows '[true,true]' slow.html \
	'const i = view.lanes[0].list[1000];
	center(i);
	const d = durations(i, view.method), at = [...d].map((v, j) => [v, j]).sort((a, b) => b[0] - a[0]).slice(0, 2);
	return at.map(([v, j]) => {
		let from = S.ts[i];
		for (let k = d.length - 1; k > j; k--)
			from -= d[k];
		const p = g.getImageData((x(from) - 3) * devicePixelRatio, (AXIS + LANE - 6) * devicePixelRatio, 1, 1).data;
		const c = document.createElement("canvas").getContext("2d");
		c.fillStyle = colours[S.function[S.first[i] + j]];
		c.fillRect(0, 0, 1, 1);
		const q = c.getImageData(0, 0, 1, 1).data;
		return Math.max(Math.abs(p[0] - q[0]), Math.abs(p[1] - q[1]), Math.abs(p[2] - q[2])) < 3;
	})' "colours"
shows '[true,true,true]' slow.html \
	'search.value = "lt_f11";
	find();
	jump(1);
	const first = view.sample;
	jump(1);
	const has = i => S.function.subarray(S.first[i], S.first[i + 1]).some(f => NAMES[f] === "lt_f11");
	return [/^[0-9,]+ visits of 1 functions$/.test(found.textContent), has(first), view.sample > first && has(view.sample)]' "the search"
shows '[true,true,true]' slow.html \
	'plot.draw(); // in its final width, which it has after the page is laid out
	const t0 = plot.atX(300), t1 = plot.atX(500);
	pointer("pointerdown", 300, 40);
	pointer("pointermove", 400, 40);
	pointer("pointermove", 500, 40);
	pointer("pointerup", 500, 40);
	const near = (a, b) => Math.abs(a - b) < (t1 - t0) / 1e6;
	const ok = [near(plot.view.x0, t0), near(plot.view.x1, t1)];
	canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: -100, cancelable: true,
		clientX: canvas.getBoundingClientRect().left + 600, clientY: canvas.getBoundingClientRect().top + 40 }));
	const wanted = t0 + (600 - LEFT) / plot.width * (t1 - t0);
	return [...ok, near(plot.atX(600), wanted)]' "a drag and the wheel"
shows '[true,"CPU 0","unknown"]' lost.html \
	'const [methods, lanes] = document.querySelectorAll("select");
	lanes.value = "cpu";
	lanes.onchange();
	methods.value = "equal";
	methods.onchange();
	const i = view.lanes[0].list.find(k => S.state[k] === 1);
	center(i);
	pointer("pointermove", x(S.start[i]) + 2, AXIS + 8);
	return [view.lanes.length === 2, view.lanes[0].name, plot.tip.textContent.split("\n")[0]]' "lanes of CPUs, and unknown time"
shows '[true,true]' slow.html \
	'document.querySelector("main .two > div:nth-child(2) tbody tr").click();
	const a = DATA.alarms[0];
	return [DATA.alarms.length > 0, plot.view.x0 < a.start && plot.view.x1 > a.end]' "an alarm"

# a clock with more digits than a number of the page's has; a name that is in the kernel, too
cat >late.txt <<'END'
p 1/1 [000] 1700000000.123456789: 401000 main
p 1/1 [000] 1700000000.123556789: ffffffff81000010 main
END
echo "ffffffff81000000 T main" >symbols
"$lbrtime" --kallsyms=symbols --format=html late.txt >late.html 2>err || wrong "late: $(cat err)"
shows '["1700000000.123456789","sample",2,1,true]' late.html \
	'show(1);
	const main = NAMES.filter(n => n === "main");
	return [clock(0), view.method, main.length, new Set(main.map(n => colours[NAMES.indexOf(n)]).concat(colours)).size,
		/after the one before; no branches were recorded$/.test(right.querySelector("p").textContent)]' "a late clock, and one name twice"

# samples without CPUs have no lanes of CPUs
sed 's/ \[000\]//' late.txt >nocpu.txt
"$lbrtime" --format=html nocpu.txt >nocpu.html 2>err || wrong "without CPUs: $(cat err)"
for page in late nocpu; do
	lanes='["thread","cpu"]'
	[ $page = late ] || lanes='["thread"]'
	shows "$lanes" $page.html 'return [...document.querySelectorAll("select")[1].options].map(o => o.value)' "$page: lanes"
done

# In a narrow window, the names of functions are seen without scrolling, and the axis has times
window=500,900
shows '[true,true]' lost.html \
	'const view = document.querySelector(".scroll"), said = [], write = plot.text;
	plot.text = (s, at, y, align) => { if (y === 12) said.push([s, at]); write.call(plot, s, at, y, align); };
	draw();
	return [[...view.querySelectorAll("tbody tr td.f")].every(td => td.getBoundingClientRect().right <= view.getBoundingClientRect().right),
		said.length > 1 && said.every(([s, at]) => at + plot.g.measureText(s).width <= plot.left + plot.width)]' "500 pixels"
unset window
# a list that is cut says so
for ((i = 1; i <= 1234; i++)); do
	echo "p 1/1 [000] 1.$(printf %06d $i): $(printf %x $((4096 + i))) f$i"
done >functions.txt
"$lbrtime" --format=html functions.txt >functions.html 2>err || wrong "functions: $(cat err)"
shows '[302,"... 934 more"]' functions.html \
	'const rows = left.querySelectorAll("tbody tr");
	return [rows.length, rows[300].textContent]' "many functions"

# --- a million samples: no zoom draws more than there is room for
"$UNIT/gen_lbr" large.dat 8 1000000 1 count >/dev/null || exit 1
"$lbrtime" --format=html large.dat >large.html 2>err || wrong "a large page: $(cat err)"
shows '[1000000,true,true]' large.html \
	'let boxes = 0, most = 0;
	const fill = g.fillRect;
	g.fillRect = function (...box) { boxes++; fill.apply(g, box); };
	for (let span = plot.all.x1; span > 1000; span /= 10) {
		boxes = 0;
		plot.show(plot.all.x1 / 2, plot.all.x1 / 2 + span);
		most = Math.max(most, boxes);
	}
	search.value = NAMES[1];
	find();
	return [S.n, most > 100 && most < shown().length * canvas.clientWidth * 24, /^[0-9,]{4,} visits/.test(found.textContent)]' "a million samples"
exit "$failed"
