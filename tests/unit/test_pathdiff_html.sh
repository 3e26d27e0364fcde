#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# sanitizers: check-full
# timeout: 240
#
# The page of pathdiff --format=html in a browser: what it shows, the paths side by
# side, the waits, and names that are markup.
set -u

pathdiff=$TOOLS/pathdiff
# shellcheck source=tests/unit/cli.bash
. "$(dirname "$0")/cli.bash"

for kind in hostile extra task healthy busy hard; do
	"$UNIT/gen_paths" $kind $kind.dat 1000 >truth || exit 1
	"$pathdiff" --format=html $kind.dat >$kind.html 2>err || wrong "$kind: $(cat err)"
	# The page's own two script elements, and nothing that is loaded
	[ "$(grep -ciE '</?script' $kind.html)" -eq 4 ] || wrong "$kind: markup of the trace in the page"
	grep -qE '<(img|u|i)\b' $kind.html && wrong "$kind: elements of the trace in the page"
	grep -qiE 'https?:|src=[^\/]|@import|url\(|fetch\(|XMLHttp' $kind.html && wrong "$kind: loads something"
	sed -n '/id="data">/,/<\/script>/p' $kind.html | sed '1d;$d' >data.json
	python3 -c 'import json; json.load(open("data.json"))' || wrong "$kind: no JSON"
done

# shellcheck source=tests/unit/browser
. "$TRACERIG_TOP/tests/unit/browser"

shows '["1. </script><script>document.title=2</script>() takes longer",0,3]' hostile.html \
	'return [text("h2")[0], document.querySelectorAll("img, u, i").length, document.scripts.length]' "names that are markup"
shows '["1. f9(), which usually is not called",1,50]' extra.html \
	'return [text("h2")[0], text("section.cause").length, DATA.causes[0].executions]' "the cause"
# the extra function stands alone, the others beside their like, after a click all of them
shows '[["f9",""],6,["ksys_read","f1","f2","f3","f4","f9"],true]' extra.html \
	'const row = [...document.querySelector("tr.cause").children].map(e => e.textContent.trim());
	document.querySelector("button.plain").click();
	const table = [...document.querySelectorAll(".scroll:not(.whole) tbody tr")];
	const left = table.map(tr => tr.children[0].textContent.trim());
	return [[row[0], row[4]], table.length, left,
		table.filter(tr => !tr.classList.contains("cause")).every(tr => tr.children[4].textContent.trim() === tr.children[0].textContent.trim())]' "two paths"
shows '["1. io_wait waits in schedule()",true,"1 wait",true,0]' task.html \
	'const b = document.querySelector("button.waits"), label = b.textContent;
	b.click();
	const t = text("tr.detail p").join();
	b.click();
	return [text("h2")[0], text("p.waits")[0].includes("woken by waker (100 %)"), label,
		/blocked for 5\.00\d ms, woken by waker.*there: wake_it < ksys_read/.test(t), text("tr.detail").length]' "the waits"
shows '["Looks healthy: no execution is above the limit.",0,2]' healthy.html \
	'return [text("p.none")[0], text("section.cause").length, plots.length]' "a healthy one"
shows '["Nothing stands out: the delay is spread over 50 functions, as on a busy host.",0]' busy.html \
	'return [text("p.none")[0], text("h2").filter(t => /^\d/.test(t)).length]' "a busy host"
# the largest part is no cause, but is there
python3 "$(dirname "$0")/graph_cases.py" most >most.txt
"$pathdiff" --format=html most.txt >most.html 2>err || wrong "most: $(cat err)"
shows '["Not decided","The largest part: f3() takes longer",0,2]' most.html \
	'return [text("p.none")[0].split(":")[0], text("h2")[0], text("section h3").length, plots.length]' "the largest part"
# an interrupt is among what is slower; no time at all is drawn left of the axis
shows '["hard interrupt, __sysvec_apic_timer_interrupt(), most of it in hrtimer_interrupt()",["waits"],true]' hard.html \
	'const c = DATA.causes[0], p = plots[2];
	return [document.querySelector(".two tr.cause td").textContent,
		[...document.querySelectorAll(".scroll:not(.whole) th")].slice(-1).map(e => e.textContent),
		c.self_normal.every(v => v === 0) && p.view.x0 > 6]' "an interrupt"
# something is drawn: the slow executions far above the limit
shows 'true' extra.html \
	'const p = plots[0];
	p.draw();
	const [t, d] = DATA.points.find(x => x[2]);
	const c = p.g.getImageData(p.x(t), p.y(d), 1, 1).data;
	return c[0] > 150 && c[1] < 90 && c[2] < 110' "a slow execution in the picture"

# In a narrow window, the times of functions are seen beside long names
window=500,900
shows '[true,true]' hard.html \
	'const view = document.querySelector(".whole"), rows = [...view.querySelectorAll("tbody tr")];
	return [rows[0].cells[0].textContent.length > 60, rows.every(r => r.cells[3].getBoundingClientRect().right <= view.getBoundingClientRect().right)]' "500 pixels"
exit "$failed"
