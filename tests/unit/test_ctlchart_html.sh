#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# sanitizers: check-full
# timeout: 240
#
# The page of ctlchart --format=html in a browser: what it shows, zoom, hover,
# and names that are markup.
set -u

ctlchart=$TOOLS/ctlchart
# shellcheck source=tests/unit/cli.bash
. "$(dirname "$0")/cli.bash"
block=(-e block:block_rq_complete -f 'ctlchart(block_bio_queue, dev, sector)')

# --- checks without a browser
"$UNIT/gen_tracedat" hostile hostile.dat >truth || exit 1
"$ctlchart" --format=html hostile.dat >alarms.html 2>err || wrong "$(cat err)"
"$ctlchart" --format=html -e block:block_rq_complete \
	-f 'ctlchart(block_bio_queue, dev, sector, ucl=10ms)' hostile.dat >reads.html 2>err || wrong "$(cat err)"
for page in alarms reads; do
	# The page's own two script elements, and nothing that is loaded
	[ "$(grep -ciE '</?script' $page.html)" -eq 4 ] || wrong "$page: markup of the trace in the page"
	grep -qE '<(img|u|i)\b' $page.html && wrong "$page: elements of the trace in the page"
	grep -qiE 'https?:|src=[^x]|@import|url\(|fetch\(|XMLHttp' $page.html && wrong "$page: loads something"
	# The data are JSON by another reader's account
	sed -n '/id="data">/,/<\/script>/p' $page.html | sed '1d;$d' >data.json
	python3 -c 'import json; json.load(open("data.json"))' || wrong "$page: no JSON"
done

# shellcheck source=tests/unit/browser
. "$TRACERIG_TOP/tests/unit/browser"
# the parts of the page that the scripts below use
prelude='
	const plot = plots[0], canvas = plot && plot.canvas;
	const pointer = (type, x, y) => canvas.dispatchEvent(new PointerEvent(type, {
		pointerId: 1, clientX: canvas.getBoundingClientRect().left + x,
		clientY: canvas.getBoundingClientRect().top + y, bubbles: true }));
	canvas && (canvas.setPointerCapture = () => {});
	plots.forEach(p => p.draw());'

shows '["block:block_rq_complete","</script><u>-1000"]' reads.html \
	'return [DATA.charts[0].event, text("tr.alarm td")[3]]' "a process whose name is markup"
shows '[1,0,0,3]' reads.html \
	'return [text("tr.alarm").length, document.querySelectorAll("img, u, i").length,
		document.querySelectorAll("main script").length, document.scripts.length]' "elements"
# bytes that are not UTF-8 are replaced; the line separator stays
shows '["\"<img src=x onerror=document.title='"'owned'"'>&amp;","k=</script><script>document.title='"'owned'"'</script><!--\\u003c'$'\xe2\x80\xa8''?"]' \
	alarms.html 'return [text("h2")[0], text("tr.alarm td.w")[0]]' "a chart and keys that are markup"

# --- against the truth about a trace
"$UNIT/gen_tracedat" block block.dat 12000 3000 >truth || exit 1
alarms=$(sed -n 's/^alarms=//p' truth) learnt=$(sed -n 's/^learnt=//p' truth)
worst=$(awk -F = '/^worst=/ { printf "%.3f s", $2 / 1e9 }' truth)
"$ctlchart" --format=html "${block[@]}" block.dat >page.html || wrong "page"
"$ctlchart" --format=csv "${block[@]}" block.dat | sort -t , -k 5,5nr | head -n 1 >worst.csv
IFS=, read -r _ _ time _ _ _ _ _ _ pid comm keys <worst.csv
shows "[\"$alarms\",$alarms,$((15000 - alarms)),100,\"$worst\",\"$comm-$pid\",\"$keys\"]" page.html \
	'return [text("b")[0], plot.alarms.t.length, plot.normal.t.length, text("tr.alarm").length,
		text("td.v")[0], text("tr.alarm td")[3], text("tr.alarm td.w")[0]]' "the alarms"
grep -q "learnt=$learnt" truth || wrong "truth"
shows "\"$learnt before there was a limit\"" page.html \
	'return text("p").join().match(/[0-9,]+ before there was a limit/)[0].replace(",", "")' "values learnt from"
# hover: at the place where the worst alarm is drawn
shows "[\"block\",\"$worst (out of control)\\n$comm-$pid\\n$keys\\nat ${time:0:4}.${time:4} s\"]" page.html \
	'const a = DATA.charts[0].worst[0];
	pointer("pointermove", plot.x(a.t), plot.y(a.v));
	return [plot.tip.style.display, plot.tip.textContent]' "hover"
shows '"none"' page.html \
	'const a = DATA.charts[0].worst[0];
	pointer("pointermove", plot.x(a.t), plot.y(a.v));
	pointer("pointermove", plot.x(a.t), 1);
	return plot.tip.style.display' "hover over nothing"
# zoom: the wheel keeps the time under the pointer, a drag shows the time that it spans
shows '[true,true,true]' page.html \
	'plot.draw();
	const t = plot.atX(400), span = plot.view.x1 - plot.view.x0;
	canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: -100, cancelable: true,
		clientX: canvas.getBoundingClientRect().left + 400, clientY: canvas.getBoundingClientRect().top + 100 }));
	const zoomed = plot.view.x1 - plot.view.x0;
	const near = Math.abs(plot.atX(400) - t) < span / 1e6;
	canvas.dispatchEvent(new MouseEvent("dblclick"));
	return [zoomed < span * 0.8, near, plot.view.x1 - plot.view.x0 === span]' "wheel"
shows '[true,true,true]' page.html \
	'plot.draw();
	const t0 = plot.atX(300), t1 = plot.atX(500), y1 = plot.view.y1;
	pointer("pointerdown", 500, 100);
	pointer("pointermove", 400, 105);
	pointer("pointermove", 300, 110);
	pointer("pointerup", 300, 110);
	const close = (a, b) => Math.abs(a - b) < (t1 - t0) / 1e6;
	return [close(plot.view.x0, t0), close(plot.view.x1, t1), plot.view.y1 === y1]' "drag"
# something is drawn: pixels of the alarms colour, where the worst alarm is
shows 'true' page.html \
	'const a = DATA.charts[0].worst[0], d = plot.g.getImageData(plot.x(a.t), plot.y(a.v), 1, 1).data;
	return d[0] > 150 && d[1] < 90 && d[2] < 110' "the alarm in the picture"
# the events around the worst one: before it, the alarm itself, after it
trace-cmd report -N -t block.dat 2>/dev/null >all
seconds=${time:0:4}.${time:4}
line=$(grep -n " $seconds: block_rq_complete" all | head -n 1 | cut -d : -f 1)
sed -n "$((line - 19)),$((line + 20))p" all | sed -E 's/^.* ([0-9]+\.[0-9]+): ([a-z_]+): .*/\2/' | tr '\n' ' ' >wanted
shows "[40,\"$(sed 's/ $//' wanted)\",[\"+0 ns\",\"CPU $(sed -nE "${line}s/^[^[]*\[0*([0-9]+)\].*/\1/p" all)\",\"block_rq_complete\"]]" page.html \
	'document.querySelector("tr.alarm button").click();
	const rows = [...document.querySelectorAll(".around tr")];
	const judged = [...document.querySelector("tr.judged").children].map(e => e.textContent);
	return [rows.length, rows.map(r => r.children[3].textContent).join(" "), [judged[0], judged[1], judged[3]]]' "the events around an alarm"
# a jump to an alarm shows it
shows 'true' page.html \
	'document.querySelectorAll("tr.alarm .go")[5].click();
	const a = DATA.charts[0].worst[5];
	return plot.view.x0 < a.t && a.t < plot.view.x1 && plot.view.x1 - plot.view.x0 < (plot.all.x1 - plot.all.x0) / 50' "jump"

# --- more values than are drawn: the file stays small, and says so
"$UNIT/gen_large" large.dat 1000000 >truth || exit 1
"$ctlchart" --format=html --around=2 -e block:block_rq_complete \
	-f 'ctlchart(block_bio_queue, dev, sector, learn=100ms)' large.dat >large.html || wrong "a large page"
[ "$(stat -c %s large.html)" -lt 10000000 ] || wrong "a page of $(stat -c %s large.html) bytes"
shows '[true,true,"Of the values in control one in 8 is drawn."]' large.html \
	'const n = plot.normal.t.length, start = performance.now();
	plot.draw();
	return [n > 50000, n <= 100000, text("p").find(t => t.includes("is drawn"))]' "a large page"

# The events around its alarms, most of the trace in between being passed over
trace-cmd report -N -t large.dat 2>/dev/null | sed -nE 's/^.*\[0*([0-9]+)\] +([0-9]+)\.([0-9]{9}): ([a-z_]+): .*/\2\3 \1 \4/p' >all
sed -n '/id="data">/,/<\/script>/p' large.html | sed '1d;$d' >data.json
python3 "$TRACERIG_TOP/tests/unit/ctlchart_page_around.py" || wrong "the events around the alarms of a large trace"

exit "$failed"
