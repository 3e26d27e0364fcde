#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# Symbols: what tools/lib/elffile.c finds in C and C++ programs, against addr2line, nm and
# c++filt of binutils; demangled names of Rust, against those of its specification; and
# what ioreq and lbrtime make of these, also of files that a debuginfod has.
set -u

# shellcheck source=tests/unit/cli.bash
. "$(dirname "$0")/cli.bash"
here=$(dirname "$0")
unset DEBUGINFOD_URLS

# Without lambdas and anonymous namespaces: addr2line gives an inlined function without a
# linkage name that of its caller
cat >shapes.cpp <<'EOF'
#include <string>
#include <unistd.h>
#include <vector>
namespace outer::inner {
template <typename T> class Shape {
public:
	Shape(T a);
	~Shape();
	static inline __attribute__((always_inline)) long put(const char *s, T n)
	{
		long sum = 0;
		for (T i = 0; i < n; i++)
			sum += write(1, s, 1);
		return sum;
	}
	__attribute__((noinline)) long area(int n) { return put("x", n) + put("y", side); }
	__attribute__((noinline)) long area(long n) { return put("z", n); }
	Shape operator<<(int n) const;
	T side;
};
template <typename T> __attribute__((noinline)) Shape<T>::Shape(T a) : side(a) { put("c", a); }
template <typename T> __attribute__((noinline)) Shape<T>::~Shape() { put("d", side); }
template <typename T> __attribute__((noinline)) Shape<T> Shape<T>::operator<<(int n) const
{
	return Shape(side << n);
}
}
int main(int argc, char **argv)
{
	outer::inner::Shape<int> a(argc);
	outer::inner::Shape<long> b(argc);
	std::vector<std::string> v(argv, argv + argc);

	v.push_back("more");
	if (argc > 100)
		throw argc;
	return a.area(argc) + a.area(1l) + (b << 1).area(2);
}
EOF
cat >shapes.c <<'EOF'
#include <unistd.h>
static int n;
static inline __attribute__((always_inline)) void put(const char *s)
{
	n += write(1, s, 1);
}
static inline __attribute__((always_inline)) void put_two(const char *s)
{
	put(s);
	put("2");
}
__attribute__((noinline)) void one(const char *s)
{
	put_two(s);
	n++;
}
int main(int argc, char **argv)
{
	int i;

	for (i = 0; i < argc; i++) {
		one(argv[i]);
		if (i > 3)
			put_two("more");
		if (argc > 50)
			n += i * write(2, argv[0], 3) + write(2, argv[1], 3) * argv[i][0];
	}
	return n;
}
EOF

mkdir -p root/usr/bin root/usr/lib/debug/.build-id
# --- every instruction, as compiled, with other debug information, and stripped of it
for dwarf in 4 5; do
	g++ -O2 -g -gdwarf-$dwarf -std=c++17 -Wl,--build-id=sha1 -o cpp$dwarf shapes.cpp || exit 1
	gcc -O2 -g -gdwarf-$dwarf -Wl,--build-id=sha1 -o c$dwarf shapes.c || exit 1
done
gcc -O1 -g -static -o static shapes.c || exit 1
# As Clang and rustc make it
objcopy --remove-section=.debug_aranges cpp5 noaranges || exit 1
objcopy --only-keep-debug cpp5 separate.debug && strip -o separate cpp5 &&
	objcopy --add-gnu-debuglink=separate.debug separate || exit 1
for file in cpp4 cpp5 c4 c5 noaranges; do
	python3 "$here/symbols_sources.py" $file $file "$UNIT/peer_elffile" || wrong "$file: not what binutils find"
done
python3 "$here/symbols_sources.py" separate cpp5 "$UNIT/peer_elffile" || wrong "a separate debug file"
nm c5 | awk '$3 == "one" { print $1 }' >address
"$UNIT/peer_elffile" static <address >out 2>err || wrong "a static program"
[ "$(sed -n 2p out)" = "$("$UNIT/peer_elffile" static <address | sed -n 2p)" ] || wrong "a static program"

# --- names of Rust: RFC 2603 (https://rust-lang.github.io/rfcs/2603-rust-symbol-name-mangling-v0.html),
# its examples, and the table of its section on Punycode with _ for -, which is all that
# rustc changes; generic functions and closures as rustc-demangle writes them. Then names of
# the scheme before it, of C++, and what is no such name.
while IFS=' ' read -r name wanted; do
	got=$(printf '%s\n' "$name" | "$UNIT/peer_elffile" --names)
	[ "$got" = "$wanted" ] || wrong "$name is $got, not $wanted"
done <<'EOF'
_RNvNtNtCs1234_7mycrate3foo3bar3baz mycrate::foo::bar::baz
_RNvNtCs1234_7mycrate3foo3bar mycrate::foo::bar
_RNvNvCs1234_7mycrate4QUUX3FOO mycrate::QUUX::FOO
_RNvNvMCs1234_7mycrateINtCs1234_7mycrate3FoopE3bar4QUUX <mycrate::Foo<_>>::bar::QUUX
_RNvNvXCs1234_7mycrateINtCs1234_7mycrate3FoopENtNtC3std5clone5Clone5clone4QUUX <mycrate::Foo<_> as std::clone::Clone>::clone::QUUX
_RINvNtC3std3mem8align_ofdE std::mem::align_of::<f64>
_RINvNtC3std3mem8align_ofjE std::mem::align_of::<usize>
_RINvNtC3std3mem8align_ofRcE std::mem::align_of::<&char>
_RINvNtC3std3mem8align_ofNtNtC3std3mem12DiscriminantE std::mem::align_of::<std::mem::Discriminant>
_RINvNtC3std3mem8align_ofQTReuEE std::mem::align_of::<&mut (&str, ())>
_RINvNtC3std3mem8align_ofjEC3foo std::mem::align_of::<usize>
_RNCNvNtC7mycrate3foo3bar0 mycrate::foo::bar::{closure#0}
_RNCNvNtC7mycrate3foo3bars_0 mycrate::foo::bar::{closure#1}
_RNvC7mycrateu6f_5gaa mycrate::føø
_RNvC7mycrateu7___ylb7e mycrate::α_ω
_RNvC7mycrateu6n84amf mycrate::铁锈
_ZN7mycrate3foo3bar17h0123456789abcdefE mycrate::foo::bar
_ZN51_$LT$mycrate..Foo$u20$as$u20$core..clone..Clone$GT$5clone17h05af221e174051e9E <mycrate::Foo as core::clone::Clone>::clone
_ZNSt6vectorIiSaIiEE9push_backERKi std::vector<int, std::allocator<int> >::push_back
_Z -
_ZN -
_Rust -
main -
EOF
# Names that stand for one of 2^16 parts, and of more parts than any program has
python3 - >endless <<'EOF'
seq = "0123456789ABCDEFG"
print("_Z1fISt4pairIiiES0_IS1_S1_E" + "".join(f"S0_IS{seq[i]}_S{seq[i]}_E" for i in range(2, 16)) + "Evv")
print("_Z1f" + "P" * 60000 + "i")
print("_RNv" + "N" * 30000)
EOF
[ "$("$UNIT/peer_elffile" --names <endless | tr '\n' ' ')" = "- - - " ] || wrong "endless names are demangled"
# --- in ioreq: a stack with calls from inlined functions
cat >stack.py <<'EOF'
"""Lines for gen_stacks, and what ioreq is to print, by binutils"""
import json, re, subprocess, sys


def run(*command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


load = [[int(x, 16) for x in line.split()[1:6]] for line in run("readelf", "-lW", "cpp5").splitlines()
        if line.strip().startswith("LOAD")]
build_id = re.search(r"Build ID: (\w+)", run("readelf", "-n", "cpp5"))[1]
code = run("objdump", "-d", "--no-show-raw-insn", "cpp5").splitlines()
returns = [int(b.split(":")[0], 16) for a, b in zip(code, code[1:]) if re.search(r"\tcall .*<write@plt>", a)]
frames, truth = [], []
for address in returns:
    out = run("addr2line", "-fi", "-e", "cpp5", hex(address - 1)).splitlines()
    names = run("c++filt", "-p", text="".join(n + "\n" for n in out[::2])).splitlines()
    at = [p.split(" ")[0].rsplit(":", 1) for p in out[1::2]]
    sources = [{"function": n, "file": f, "line": int(l)} for n, (f, l) in zip(names, at)]
    offset = next(address - v + o for o, v, _, s, _ in load if v <= address < v + s)
    frames.append(offset)
    truth.append({"object": "/usr/bin/cpp", "offset": offset, **sources[-1]} |
                 ({"inlined": sources[:-1]} if sources[1:] else {}))
assert sum("inlined" in t for t in truth) > 3 and any("Shape<int>::area" in t["function"] for t in truth)
# The innermost frame is not after a call
frames.insert(0, 0x10)
json.dump(truth, open("truth.json", "w"))
open("id", "w").write(build_id)
print(f"map 1 1 1 {build_id} /usr/bin/cpp")
print("stack 1 0 0 " + ",".join(f"{1 << 48 | x:x}" for x in frames))
print("call 1 write /a 1 5000 1")
EOF
python3 stack.py >stack.lines && "$UNIT/gen_stacks" stack.dat <stack.lines || exit 1
# same ARGUMENTS...: ioreq prints the frames of truth.json
same() {
	"$TOOLS/ioreq" --stacks --format=json "$@" stack.dat >out 2>err || wrong "ioreq $*"
	[ ! -s err ] || wrong "ioreq $*: messages"
	python3 -c '
import json
frames = json.load(open("out"))["stacks"][0]["stacks"][0]["frames"]
want = json.load(open("truth.json"))
assert frames[1:] == want, (frames[1:], want)' || wrong "ioreq $*: frames"
}
cp cpp5 root/usr/bin/cpp && same --symfs=root
"$TOOLS/ioreq" --stacks --symfs=root stack.dat >out 2>err || wrong "ioreq's text"
grep -qE '^  cpp\+0x[0-9a-f]+ +outer::inner::Shape<int>::put \(inlined\) at .*/shapes.cpp:13$' out || wrong "no inlined function in text"
grep -qE '^  cpp\+0x[0-9a-f]+ +outer::inner::Shape<int>::area at .*/shapes.cpp:1[67]$' out || wrong "nor where it is"
"$TOOLS/ioreq" --stacks --format=folded --symfs=root stack.dat >out 2>err || wrong "folded"
grep -q ';outer::inner::Shape<int>::area;outer::inner::Shape<int>::put_(inlined);' out || wrong "no inlined function in folded stacks"
"$TOOLS/ioreq" --stacks --format=csv --symfs=root --no-demangle stack.dat >out 2>err || wrong "csv"
grep -qE ' _ZN5outer5inner5ShapeIiE3putEPKci \(inlined\) at [^;]*/shapes.cpp:13, _ZN5outer5inner5ShapeIiE4areaE[^ ]* at [^;]*:1[67];' out ||
	wrong "--no-demangle"

# --- a stripped file, with its debug file below --symfs, and from a debuginfod
id=$(cat id)
strip -o root/usr/bin/cpp cpp5
mkdir -p "root/usr/lib/debug/.build-id/${id:0:2}" "served/buildid/$id" cache
cp separate.debug "root/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" && same --symfs="$PWD/root"
rm -r root/usr/lib/debug
mv separate.debug "served/buildid/$id/debuginfo"
mv root/usr/bin/cpp "served/buildid/$id/executable"
python3 -u - >port 2>served.log <<'EOF' &
import functools, http.server
server = http.server.ThreadingHTTPServer(
    ("127.0.0.1", 0), functools.partial(http.server.SimpleHTTPRequestHandler, directory="served"))
print(server.server_port)
server.serve_forever()
EOF
server=$!
trap 'kill $server' EXIT
until [ -s port ]; do
	kill -0 $server 2>/dev/null || { cat served.log; exit 1; }
	sleep 0.1
done
export DEBUGINFOD_URLS DEBUGINFOD_CACHE_PATH=$PWD/cache no_proxy=127.0.0.1
DEBUGINFOD_URLS=http://127.0.0.1:$(cat port) same --symfs=root
grep -q "GET /buildid/$id/executable .* 200 " served.log || wrong "the program is not from the server: $(cat served.log)"
grep -q "GET /buildid/$id/debuginfo .* 200 " served.log || wrong "debug information is not from the server: $(cat served.log)"
unset DEBUGINFOD_URLS
"$TOOLS/ioreq" --stacks --symfs=root stack.dat >out 2>err || wrong "no file"
grep -q 'root/usr/bin/cpp: No such file or directory; its frames are shown as offsets$' err || wrong "no file is not reported"
grep -q shapes.cpp out && wrong "a server is asked without DEBUGINFOD_URLS"

# --- damaged programs: a result, or one line that says what is wrong
printf 'leak:libtraceevent\nleak:libtracecmd\n' >leaks
for ((i = 0; i < ${DAMAGED:-40}; i++)); do
	"$UNIT/gen_damage" cpp5 root/usr/bin/cpp "$i" || exit 1
	LSAN_OPTIONS=suppressions=$PWD/leaks:print_suppressions=0 \
		"$TOOLS/ioreq" --stacks --format=json --symfs=root stack.dat >out 2>err
	code=$?
	case $code in
	0) [ -s out ] || wrong "damage $i: no result" ;;
	1) [ "$(grep -c '^ioreq: ' err)" -eq 1 ] || wrong "damage $i: not one message" ;;
	*) wrong "damage $i: status $code" ;;
	esac
done

# --- in lbrtime: call chains through inlined functions
cat >chain.py <<'EOF'
import re, subprocess, sys
run = lambda *c: subprocess.run(c, capture_output=True, text=True, check=True).stdout
file = sys.argv[1]
place = next(l.split() for l in run("readelf", "-lW", file).splitlines() if " R E " in l and "LOAD" in l)
offset, addr, size = (int(place[i], 16) for i in (1, 2, 4))
code = run("objdump", "-d", "--no-show-raw-insn", file)
here = lambda a: 0x400000 + a - addr
one = int(re.search(r"^([0-9a-f]+) <one>:", code, re.M)[1], 16)
called = int(re.search(r"^([0-9a-f]+) <write@plt>:", code, re.M)[1], 16)
call = int(re.search(r"<one>:.*?^ +([0-9a-f]+):\tcall[^\n]*<write@plt>", code, re.M | re.S)[1], 16)
print(f"p 7/7 [000] 1.000000000: PERF_RECORD_MMAP2 7/7: [{0x400000:#x}({(size + 4095) & ~4095:#x}) @ {offset:#x} 08:01 12 0]: r-xp {file}")
for i in range(1, 5):
    print("# lbrtime: 4 1")
    print(f"p 7/7 [000] 1.{i:09}: {here(called):x} [unknown]  {here(call):#x}/{here(called):#x}/P/-/-/5/CALL/-")
EOF
python3 chain.py "$PWD/c5" >chain.txt || exit 1
"$TOOLS/lbrtime" --format=csv --visits --method=equal chain.txt >out 2>err || wrong "lbrtime"
python3 -c '
import csv
chains = [r["chain"].split(";") for r in csv.DictReader(open("out"))]
assert any(c[-4:-1] == ["one", "put_two (inlined)", "put (inlined)"] for c in chains), chains' || wrong "no inlined functions in call chains"
sed -n '/MMAP2/p' chain.txt | sed "s|$PWD/c5|$PWD/cpp5|" >plain.txt
python3 - "$PWD/cpp5" >>plain.txt <<'EOF'
import subprocess, sys
run = lambda *c: subprocess.run(c, capture_output=True, text=True, check=True).stdout
place = next(l.split() for l in run("readelf", "-lW", sys.argv[1]).splitlines() if " R E " in l and "LOAD" in l)
for i, line in enumerate(l for l in run("nm", sys.argv[1]).splitlines() if "Shape" in l):
    print(f"p 7/7 [000] 1.{i + 1:09}: {0x400000 + int(line.split()[0], 16) - int(place[2], 16):x} [unknown]")
EOF
for way in "" --no-demangle; do
	# shellcheck disable=SC2086 # an option or nothing
	"$TOOLS/lbrtime" --format=csv --method=sample $way plain.txt >out 2>err || wrong "lbrtime $way"
	nm cpp5 | awk '/Shape/ { print $3 }' | if [ "$way" ]; then cat; else c++filt -p; fi | sort -u >wanted
	python3 -c '
import csv
names = {r["function"] for r in csv.DictReader(open("out"))}
wanted = set(open("wanted").read().splitlines())
assert names and names <= wanted and len(names) > 3, (names, wanted)' || wrong "lbrtime $way: names"
	"$TOOLS/lbrtime" --request=_ZN5outer5inner5ShapeIiE4areaEi --method=sample $way plain.txt >out 2>err || wrong "--request"
	grep -q 'is in no sample' out && wrong "--request by the name in the file"
done
exit $failed
