#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# sanitizers: check-full
# timeout: 300
#
# tracerig open: the page is complete or absent, the case is not changed, the page shows what
# gen_open and explain print, and 100,000 events need less than 5 MB. In a browser: lanes,
# search, links, touch, names that are markup.
set -u

# shellcheck source=tests/unit/cli.bash
. "$TRACERIG_TOP/tests/unit/cli.bash"
program=$TOOLS/tracerig
unset DISPLAY WAYLAND_DISPLAY
export ARGP_HELP_FMT=rmargin=200

# a case of gen_open EVENTS [MODE], with sums: generated NAME EVENTS...
generated() {
	mkdir -p "$1"
	"$UNIT/gen_open" "$2" "$1" ${3+"$3"} >"$1.truth" || wrong "gen_open"
	printf 'load 1\nline </script>\tend\001\n' >"$1/loadavg.txt"
	printf ' 254 0 vda 1 2 3\n' >"$1/diskstats.txt"
	seq -f 'line %.0f' 1 20000 >"$1/dmesg.txt"
	files=$(cd "$1" && for file in trace.dat loadavg.txt diskstats.txt dmesg.txt; do
		printf '{"name":"%s","bytes":%s,"sha256":"%s"},' "$file" "$(stat -c %s "$file")" "$(sha256sum <"$file" | cut -c 1-64)"
	done)
	sed -i "s|\"files\":\[\]|\"files\":[${files%,}]|" "$1/case.json"
}
opened() { # PAGE DIR: without a message
	"$program" open "./$2" -o "$1" 2>err || wrong "open $2"
	[ ! -s err ] || wrong "open $2: $(cat err)"
}

# --- the command
expect 2 'missing CASE operand' open
expect 2 'x: must be the number of a case' open x
expect 1 '/nosuch/3/case.json: No such file' open --dir /nosuch 3
generated 7 3000
"$program" verify ./7 >/dev/null || wrong "the made-up case is not whole"
"$program" open --dir . 7 >out 2>err || wrong "open fails"
[ "$(cat out err)" = case-7.html ] || wrong "no path: $(cat out err)"
"$program" open ./7 -o - >stdout.html || wrong "no page on standard output"
cmp case-7.html stdout.html || wrong "another page on standard output"
"$program" verify ./7 >/dev/null || wrong "the page has spoiled the case"
expect 1 'page.html: would be a file of the case' open ./7 -o 7/page.html
(cd 7 && "$program" open ./ >../out 2>&1) && wrong "a page in the case"
grep -q 'would be a file of the case' out || wrong "no reason: $(cat out)"
ln -s 7/case.json link.html
expect 1 'link.html: would be a file of the case' open ./7 -o link.html
ln -s "$PWD/7" also
expect 1 'also/page.html: would be a file of the case' open ./7 -o also/page.html
mkdir 7/symbols
expect 1 'page.html: would be a file of the case' open ./7 -o 7/symbols/page.html
rmdir 7/symbols
ln -s 7/new.html nothing.html
expect 1 'nothing.html: would be a file of the case' open ./7 -o nothing.html
"$program" verify ./7 >/dev/null || wrong "the case is spoiled"

expect 2 '--timeout=fast' open --timeout=fast ./7

# --- it is shown where there is a display, by a program that may stay
mkdir bin
printf '#!/bin/sh\necho "$@" >%s/shown.new\nmv shown.new shown\n' "$PWD" >bin/xdg-open
chmod +x bin/xdg-open
PATH=$PWD/bin:$PATH DISPLAY=:9 "$program" open ./7 >out || wrong "open with a display"
for ((i = 0; i < 600; i++)); do
	[ ! -e shown ] || break
	sleep 0.1
done
[ "$(cat shown)" = case-7.html ] || wrong "xdg-open has not got the page"
PATH=$PWD/bin:$PATH DISPLAY=:9 "$program" open ./7 -o other.html >out || wrong "open -o with a display"
[ ! -s out ] || wrong "-o prints: $(cat out)"

# --- damage: a reason is printed, and the previous page stays
cp -r 7 damaged
echo good >page.html
for at in 100 20000 60000; do
	head -c $at 7/trace.dat >damaged/trace.dat
	expect 1 'damaged/trace.dat:[0-9]+: ' open ./damaged -o page.html
done
cp 7/trace.dat damaged/trace.dat
printf '\377\377\377\377\377\377\377\377' | dd of=damaged/trace.dat bs=1 seek=20 conv=notrunc 2>/dev/null
expect 1 'damaged/trace.dat:[0-9]+: ' open ./damaged -o page.html
rm damaged/trace.dat
expect 1 'damaged/trace.dat: .*No such file' open ./damaged -o page.html
expect 1 '^tracerig open: /dev/full: cannot write the result: No space left' open ./7 -o /dev/full
(
	ulimit -f 16 # blocks of 1024 bytes
	"$program" open ./7 -o page.html 2>err
) && wrong "no error on a file that cannot grow"
grep -q 'cannot write the result' err || wrong "no reason: $(cat err)"
[ "$(cat page.html*)" = good ] || wrong "half a page: $(ls page.html*)"
cp 7/trace.dat damaged/
echo more >>damaged/loadavg.txt
opened damaged.html damaged
grep -q '"damage":"[^"]*damaged[^"]*loadavg.txt: has ' damaged.html || wrong "a changed file is not reported"
# What the cause is found in is changed: a page, but no success, as of explain
sed -i 's/"sha256":"[0-9a-f]*/"sha256":"'"$(printf '0%.0s' {1..64})"'/' damaged/case.json
for command in explain "open -o damaged.html"; do
	rm -f damaged.html
	# shellcheck disable=SC2086 # its words
	expect 1 '^tracerig (explain: not explained|open): \./damaged/trace.dat: its SHA-256 is not that in case.json: the case is damaged: ' $command ./damaged
done
grep -q '"damage":"[^"]*damaged[^"]*trace.dat: its SHA-256 ' damaged.html || wrong "no page that shows the damage"

# --- of a hostile case, no file is shown that a link to a directory leads to
cp -r 7 hostile
mkdir victim hostile/symbols
echo secret >victim/secret.txt
ln -s "$PWD/victim" hostile/symbols/x
sed -i 's|"files":\[|&{"name":"symbols/x/secret.txt","bytes":7,"sha256":"'"$(sha256sum <victim/secret.txt | cut -c 1-64)"'"},|' hostile/case.json
opened hostile.html hostile
! grep -q 'secret\\n' hostile.html || wrong "a file from elsewhere is on the page"
grep -q '"name":"loadavg.txt"' hostile.html || wrong "no files on the page of a hostile case"

# --- values that are not times, and values of unknown keys
for change in 's/"unit":"ns"/"unit":""/' 's/common_pid=1000/x=1/' 's/"start":[0-9]*/"start":0/'; do
	cp -r 7 other
	sed -i "$change" other/case.json
	opened "other${#change}.html" other
	grep -q '"why_none":"its ' "other${#change}.html" || wrong "$change: no reason"
	[[ $change = *common_pid* ]] || grep -q '^"operation":null' "other${#change}.html" || wrong "$change: an operation"
	rm -r other
done

# --- nothing of the case is markup, and nothing is loaded
opened page.html 7
generated lost 6000 lost
opened lost.html lost
generated blind 1000 blind
opened blind.html blind
generated large 99999
opened large.html large
generated larger 150000
opened larger.html larger
# the most requests and stretches that are remembered, with the largest files
generated many 200000 many
for file in pressure vmstat meminfo interrupts softirqs cpufreq throttle thermal cgroup chart build-ids; do
	cp many/dmesg.txt many/$file.txt
	sed -i 's|"files":\[|&{"name":"'$file.txt'","bytes":1,"sha256":"'"$(printf '%064d' 0)"'"},|' many/case.json
done
opened many.html many
# names, texts and files that need six times the room; more events are left out, and counted
generated strangers 120000 strangers
head -c 300000 /dev/zero | tr '\0' '<' >strangers/more
for file in pressure vmstat meminfo interrupts softirqs cpufreq throttle thermal cgroup chart build-ids; do
	cp strangers/more strangers/$file.txt
	sed -i 's|"files":\[|&{"name":"'$file.txt'","bytes":1,"sha256":"'"$(printf '%064d' 0)"'"},|' strangers/case.json
done
{
	printf 's|"filter":"[^"]*"|"filter":"%s"|\n' "$(head -c 100000 strangers/more)"
	printf 's|"missing":\[|&%s|\n' "$(yes "\"$(head -c 1000 strangers/more)\"," | head -n 1000 | tr -d '\n')"
} >longer.sed
sed -i -f longer.sed strangers/case.json
opened strangers.html strangers
generated some 60000 some
opened some.html some
generated late 3000 late
opened late.html late
generated renamed 3000 renamed
opened renamed.html renamed
for page in page lost large larger many strangers; do
	[ "$(grep -ciE '</?script' $page.html)" -eq 4 ] || wrong "$page: markup of the case in the page"
	grep -qE '<(img|u|i|q)\b' $page.html && wrong "$page: elements of the case in the page"
	grep -qiE 'https?:|src=|@import|url\(|fetch\(|XMLHttp' $page.html && wrong "$page: loads something"
	size=$(stat -c %s $page.html)
	[ "$size" -le 5000000 ] || wrong "$page: $size bytes"
done
# --- the analyzers' findings: for recordings whose truth is known, and from a program in the
# place of one that prints arbitrary text
found() { # CASE WHAT [LATER]
	mkdir "$1"
	"$UNIT/gen_findings" "$2" "$1/trace.dat" ${3+"$3"} >truth || wrong "gen_findings $2"
	read -r start end _ <truth
	python3 "$TRACERIG_TOP/tests/unit/tracerig_case.py" "$start" "$end" 30000 60000 1000 >"$1/case.json"
}
found slow sleep
opened slow.html slow
found request pread
opened request.html request
# times of the clock that JavaScript has not exactly
found request-late pread $((1 << 60))
opened request-late.html request-late
mkdir branches
"$UNIT/gen_lbr" branches/trace.dat 16 2000 3 cycles to count period >truth || wrong "gen_lbr"
read -r start end < <(python3 "$TRACERIG_TOP/tests/unit/tracerig_branches.py" window truth)
python3 "$TRACERIG_TOP/tests/unit/tracerig_case.py" "$start" "$end" 1000 2000 701 >branches/case.json
opened branches.html branches
mkdir liar
cp "$program" liar
start=$(python3 -c 'import json; print(json.load(open("slow/case.json"))["alarm"]["start"])')
cat >liar/pathdiff <<END
#!/bin/sh
echo '{"slow":[{"start":$start,"duration":4000000,"pid":1000,"cause":0,"self":1,"normal_self":1,"excess":3900000},
{"start":$start,"duration":4000000,"pid":77,"cause":2,"self":1,"normal_self":1,"excess":3900000},
{"start":7,"duration":4000000,"pid":1000,"cause":3,"self":1,"normal_self":1,"excess":3900000}],
"causes":[{"headline":["x"],"function":"</script><img src=x>","worst":7,"functions":[1,"x",{"function":"</script><u>","self":"9","normal_self":-3},{"self":1e300}]},3,
{"headline":"another thread"},{"headline":"another time"}]}'
END
chmod +x liar/pathdiff
liar/tracerig open --timeout=10m ./slow -o liar.html 2>err || wrong "a program that lies: $(cat err)"
[ "$(grep -ciE '</?script' liar.html)" -eq 4 ] || wrong "markup of an analyzer in the page"
python3 "$TRACERIG_TOP/tests/unit/tracerig_open.py" 7 page.html lost lost.html large large.html late late.html renamed renamed.html || wrong "the page's data"

# shellcheck source=tests/unit/browser
. "$TRACERIG_TOP/tests/unit/browser"

# --- lanes: the generator's sums, of all CPUs, the thread and the devices
truth='
	const cpus = CPUS.map(c => [c.number, c.runs.sum(), c.hard.sum(), c.soft.sum()]);
	const s = timeline.lane("thread") ? follow(MAIN) : new Spans(), spent = { sleep: 0, wait: 0, run: 0, blocked: 0 };
	s.what.forEach(([state], i) => spent[state] += s.to[i] - s.from[i]);
	const devices = QUEUES.map(q => [DATA.devices[q.dev], q.t.reduce((most, t, k) => Math.max(most, q.queued[k] + q.issued[k]), 0), q.t.reduce((sum, t, k) =>
		sum + (q.queued[k] + q.issued[k]) * ((k + 1 < q.t.length ? q.t[k + 1] : TO) - t), 0)]).sort();
	return { events: DATA.total, notes: DATA.kinds.reduce((n, k, i) => k.name === "test:note" ? n + E.kind.filter(e => e === i).length : n, 0), cpus, main: spent, devices };'
for page in 7:page lost:lost large:large late:late renamed:renamed; do
	shows "$(cat "${page%:*}.truth")" "${page#*:}.html" "$truth" "lanes of ${page%:*}"
done
shows '[true,"CPU 2: not recorded, 5 records lost"]' lost.html \
	'const c = CPUS[2], from = c.unknown.from[0];
	timeline.show(from - 1000, c.unknown.to[0] + 1000);
	return [c.unknown.n === 1, timeline.whatIs(timeline.x(from + 500), timeline.lanes.find(l => l.c === c).y + 15).text.split("\n")[0]]' "lost records"
shows '[0,0,"CPU 0: what ran is not recorded"]' blind.html \
	'const l = timeline.lanes.find(l => l.kind === "cpu");
	return [CPUS.reduce((sum, c) => sum + c.runs.n, 0), follow(0).n, timeline.whatIs(timeline.left + 500, l.y + l.h - 5).text.split("\n")[0]]' "no switches"
shows '["renamed-1000","</script><b>-1001"]' renamed.html \
	'return [THREADS[MAIN], THREADS.find(t => t.endsWith("1001"))]' "a thread with another name later"
# the operation's stretches are the parts; names that are markup are text
shows '[true,true,"</script><b>-1001","<img onerror=1>-1002",0,3,"load 1\nline </script>\tend?",true,true]' page.html \
	'const sums = X.parts.map(() => 0);
	STRETCHES.what.forEach((k, i) => sums[k] += STRETCHES.to[i] - STRETCHES.from[i]);
	const pre = [...document.querySelectorAll("details")].map(d => [d.firstChild.textContent, d.querySelector("pre")]).filter(d => d[1]);
	const log = pre.find(p => p[0] === "dmesg")[1].textContent.split("\n");
	return [X.parts.every((p, k) => p.ns === sums[k]), X.parts.reduce((sum, p) => sum + p.ns, X.unseen) === OP.end - OP.start,
		THREADS.find(t => t.endsWith("1001")), THREADS.find(t => t.endsWith("1002")),
		document.querySelectorAll("main img, main i, main u, main q, main script").length, document.scripts.length,
		pre.find(p => p[0].startsWith("loadavg"))[1].textContent, log[log.length - 1] === "line 20000", /^line [0-9]+$/.test(log[0]) && log.length < 6000]' "stretches, names and files"

# --- the analyzers
shows '[true,[["4.970 ms","0 ns","schedule"]],true]' slow.html \
	'const f = X.findings[0], heads = text("h2");
	return [f.by === "pathdiff" && text(".part b").includes("pathdiff: " + f.name), [...document.querySelectorAll(".beside")].map(c => [...c.parentNode.children].slice(0, 3).map(e => e.textContent)),
		heads.includes("slow path beside the normal one: " + DATA.analyzers[0].paths[0].headline)]' "pathdiff"
for page in request request-late; do
	shows '[true,"server: pread64 /data/x","4.970 ms",true]' $page.html \
	'const r = DATA.analyzers[0].request, steps = [...document.querySelectorAll(".step")], k = r.steps.findIndex(s => s[2] === "pread64");
	return [Math.abs(r.steps.reduce((sum, s) => sum + s[4], 0) - r.wait) <= r.wait / 100, steps[k].firstChild.textContent, steps[k].lastChild.textContent,
		!!steps[k].querySelector(".own") && text(".headline")[0].startsWith("cause: ioreq: server: pread64")]' "ioreq, $page"
done
shows '[true,true]' branches.html \
	'const r = DATA.analyzers[0], rows = [...document.querySelectorAll("h2 ~ .scroll tbody tr")].map(tr => tr.children[2] && tr.children[2].textContent);
	return [text("h2").includes("branches: what ran between two samples"), r.functions.length > 5 && r.functions.every(f => rows.includes(f[0]))]' "lbrtime"
shows '[1,"</script><u>",0]' liar.html \
	'const p = DATA.analyzers[0].paths;
	return [p.length, p[0].functions.find(f => f[0])[0], document.querySelectorAll("main img, main u").length]' "a program that lies"

# --- what is left out
shows '[100000,true,true,true]' larger.html \
	'const left = DATA.left.map(l => l ? l[2] : 0);
	return [E.n, left.reduce((a, b) => a + b) === DATA.total - E.n, FROM < 0 && TO > OP.end && left[0] > 0 && !left[1],
		text("main p").some(t => t.includes(`This page leaves out ${count(left[0])} events before what it shows`))]' "what is left out"

shows '[true,true,true,true,200,true,true]' strangers.html \
	'const left = DATA.left.map(l => l ? l[2] : 0);
	const drawn = STRETCHES.from.reduce((sum, from, i) => sum + STRETCHES.to[i] - from, 0), all = X.parts.reduce((sum, p) => sum + p.ns, 0);
	return [E.n >= 10000 && E.n < 100000, left.reduce((a, b) => a + b) === DATA.total - E.n, DATA.total === 120001,
		text("main p").some(t => t.includes(`This page leaves out ${count(left[0])} events before what it shows`)),
		X.parts.length, /^[0-9]+ other parts$/.test(X.parts[199].name), drawn + DATA.stretchesLeft[1] === all && all + X.unseen === OP.end - OP.start]' "what is left out of a hostile case"

# Of the requests, first those of the operation's time; of its stretches, the longest
shows '[16384,true,true,true]' some.html \
	'const within = ts => ts.filter(t => t >= OP.start && t <= OP.end).length, all = [...E.t].filter((t, i) => role(i) === "bio"), made = within(all);
	return [REQUESTS.length, REQUESTS.length + DATA.requestsLeft === all.length, made > 5000, within(REQUESTS.map(r => r.begin)) === made]' "requests of the operation's time"
shows '[16384,true,8192,true,true,true]' many.html \
	'const drawn = STRETCHES.from.reduce((sum, from, i) => sum + STRETCHES.to[i] - from, 0), [n, ns] = DATA.stretchesLeft;
	const least = Math.min(...STRETCHES.from.map((from, i) => STRETCHES.to[i] - from)), said = text("main p").join(" ");
	return [REQUESTS.length, REQUESTS.length + DATA.requestsLeft === 65536, STRETCHES.n, drawn + ns === X.parts.reduce((sum, p) => sum + p.ns, 0) && ns <= n * least,
		STRETCHES.from.every((from, i) => !i || from >= STRETCHES.to[i - 1]),
		said.includes(`no room for ${count(DATA.requestsLeft)} requests`) && said.includes(`the ${count(n)} shortest pieces`)]' "requests and stretches that are left out"

# --- the first view, its link, links of evidence, and zoom
shows '[true,true,true]' page.html \
	'await new Promise(done => setTimeout(done, 500));
	const v = timeline.view, near = (a, b) => Math.abs(a - b) <= 1;
	const first = v.x0 < OP.start && v.x1 > OP.end && near(...location.hash.slice(3).split(",").slice(0, 1).map(Number).concat(v.x0));
	document.querySelector(".part a").click();
	await new Promise(done => setTimeout(done, 500));
	const p = X.parts[0], there = v.x0 < p.at && v.x1 > p.at + p.longest && v.x1 - v.x0 < 2 * p.longest;
	timeline.zoom(0.5, timeline.left + timeline.width / 2);
	await new Promise(done => setTimeout(done, 500));
	const saved = location.hash, span = [v.x0, v.x1];
	timeline.reset();
	await new Promise(done => setTimeout(done, 500));
	location.hash = saved;
	await new Promise(done => setTimeout(done, 500));
	return [first, there, near(v.x0, span[0]) && near(v.x1, span[1])]' "links"
{
	sed 's|<head>|<head><script>location.hash = "#t=1000,9000\&find=hog"</script>|' page.html
} >linked.html
shows '[1000,9000,"hog",true]' linked.html \
	'return [timeline.view.x0, timeline.view.x1, search.value, view.list.length > 0]' "a page with a link"
shows '[true,true]' page.html \
	'const v = timeline.view, c = timeline.canvas;
	c.setPointerCapture = () => {};
	const at = (type, id, x) => c.dispatchEvent(new PointerEvent(type, { pointerId: id, pointerType: "touch", bubbles: true,
		clientX: c.getBoundingClientRect().left + x, clientY: c.getBoundingClientRect().top + 40 }));
	const t = [timeline.atX(300), timeline.atX(500)];
	at("pointerdown", 1, 300);
	at("pointerdown", 2, 500);
	at("pointermove", 1, 200);
	at("pointermove", 2, 700);
	const near = (a, b) => Math.abs(a - b) < (v.x1 - v.x0) / 100;
	const pinched = near(timeline.atX(200), t[0]) && near(timeline.atX(700), t[1]);
	at("pointerup", 1, 200);
	at("pointerup", 2, 700);
	const there = timeline.atX(400);
	at("pointerdown", 3, 400);
	at("pointermove", 3, 440);
	at("pointermove", 3, 450);
	at("pointerup", 3, 450);
	return [pinched, near(timeline.atX(450), there)]' "two fingers, and one"

# --- the search finds threads, events, texts and devices; the hits can be walked through
shows '[true,true,true,true,true]' page.html \
	'const by = word => { search.value = word; find(); return view.list; };
	const named = k => E.kind.reduce((n, kind) => n + (DATA.kinds[kind].name === k), 0);
	const waking = by("sched_waking").length === named("sched:sched_waking");
	const device = by("vda (254:0)").every(i => DEVICES[E.a[i]] === "vda (254:0)") && view.list.length > 0;
	const hog = by("hog-1011").every(i => THREADS[E.thread[i]] === "hog-1011" || THREADS[E.a[i]] === "hog-1011") && view.list.length > 0;
	search.value = "note 1";
	find();
	const notes = view.list.every(i => /^note 1/.test(eventText(i))) && view.list.length > 0;
	view.event = -1;
	timeline.reset();
	jump(1);
	const first = view.event;
	jump(1);
	const second = view.event;
	jump(-1);
	const walk = view.list.indexOf(second) > view.list.indexOf(first) && view.event === first && E.t[first] >= timeline.view.x0 && E.t[first] <= timeline.view.x1;
	return [waking, device, hog, notes, walk]' "the search"
shows '[300,true,true]' page.html \
	'timeline.reset();
	listing.open = true;
	await new Promise(done => setTimeout(done, 500));
	const n = rows.children.length;
	rows.children[9].click();
	return [n, view.event === 9, /^3,[0-9]+ events in view; the first 300/.test(listed.textContent)]' "the list of events"
# a click says what is there, and follows that thread
shows '[true,true]' page.html \
	'const l = timeline.lanes.find(l => l.kind === "cpu"), c = l.c, i = c.runs.what.findIndex(w => w !== MAIN), who = c.runs.what[i];
	timeline.show(c.runs.from[i], c.runs.to[i]);
	timeline.click(timeline.x((c.runs.from[i] + c.runs.to[i]) / 2), l.y + l.h - 5);
	const said = picked.textContent.includes(THREADS[who]);
	picked.querySelector("button").click();
	return [said, timeline.lane("thread").name === THREADS[who]]' "a click"
# at all zooms, no more is drawn than there is room for
shows '[true]' large.html \
	'let boxes = 0, most = 0;
	const fill = timeline.g.fillRect;
	timeline.g.fillRect = function (...box) { boxes++; fill.apply(timeline.g, box); };
	for (let span = TO - FROM; span > 1000; span /= 10) {
		boxes = 0;
		timeline.show(FROM, FROM + span);
		most = Math.max(most, boxes);
	}
	return [most > 100 && most < timeline.lanes.length * timeline.canvas.clientWidth * 4]' "100,000 events"
exit "$failed"
