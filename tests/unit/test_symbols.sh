#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# sanitizers: check-full
# timeout: 300
#
# Symbols: what tools/lib/elffile.c finds in C and C++ programs, against addr2line, nm and
# c++filt of binutils; demangled names of Rust, against those of its specification; and
# what ioreq and lbrtime make of these, also of files that a debuginfod has.
set -u

# shellcheck source=tests/unit/cli.bash
. "$(dirname "$0")/cli.bash"
# shellcheck source=tests/lib.bash
. "$TRACERIG_TOP/tests/lib.bash"
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
python3 "$here/symbols_endless.py" >endless || exit 1
[ "$("$UNIT/peer_elffile" --names <endless | tr '\n' ' ')" = "- - - " ] || wrong "endless names are demangled"
# --- in ioreq: a stack with calls from inlined functions
python3 "$here/symbols_stack.py" >stack.lines && "$UNIT/gen_stacks" stack.dat <stack.lines || exit 1
# same ARGUMENTS...: ioreq prints the frames of truth.json
same() {
	"$TOOLS/ioreq" --stacks --format=json "$@" stack.dat >out 2>err || wrong "ioreq $*"
	[ ! -s err ] || wrong "ioreq $*: messages"
	python3 "$here/symbols_frames.py" out truth.json || wrong "ioreq $*: frames"
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
python3 -u "$here/symbols_server.py" served >port 2>served.log &
server=$!
trap 'kill $server' EXIT
while_alive $server test -s port || { cat served.log; exit 1; }
export DEBUGINFOD_URLS DEBUGINFOD_CACHE_PATH=$PWD/cache no_proxy=127.0.0.1
DEBUGINFOD_URLS=http://127.0.0.1:$(cat port) same --symfs=root
grep -q "GET /buildid/$id/executable .* 200 " served.log || wrong "the program is not from the server: $(cat served.log)"
grep -q "GET /buildid/$id/debuginfo .* 200 " served.log || wrong "debug information is not from the server: $(cat served.log)"
unset DEBUGINFOD_URLS
"$TOOLS/ioreq" --stacks --symfs=root stack.dat >out 2>err || wrong "no file"
grep -q 'root/usr/bin/cpp: No such file or directory; its functions are named by their offsets (--symfs)$' err || wrong "no file is not reported"
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
python3 "$here/symbols_lbrtime.py" chain "$PWD/c5" >chain.txt || exit 1
"$TOOLS/lbrtime" --format=csv --visits --method=equal chain.txt >out 2>err || wrong "lbrtime"
python3 "$here/symbols_lbrtime.py" inlined out one "put_two (inlined)" "put (inlined)" || wrong "no inlined functions in call chains"
cat >kernel.cpp <<'EOF'
extern "C" __attribute__((noinline)) void callee(void) { asm volatile(""); }
namespace ns {
template <typename T> inline __attribute__((always_inline)) void put(T n)
{
	for (T i = 0; i < n; i++)
		callee();
}
}
extern "C" __attribute__((noinline)) void one(int n) { ns::put(n); }
extern "C" void _start(void) { one(1); }
EOF
g++ -O2 -g -ffreestanding -nostdlib -static -fno-pic -no-pie -mcmodel=kernel \
	-Wl,-Ttext-segment=0xffffffff81000000 -o kernel kernel.cpp || exit 1
python3 "$here/symbols_lbrtime.py" kernel kernel >kernel.txt || exit 1
for way in "" --no-demangle; do
	# shellcheck disable=SC2086 # an option or nothing
	"$TOOLS/lbrtime" --format=csv --visits --method=equal --vmlinux=kernel $way kernel.txt >out 2>err ||
		wrong "--vmlinux $way"
	name='ns::put<int>'
	[ -z "$way" ] || name=_ZN2ns3putIiEEvT_
	python3 "$here/symbols_lbrtime.py" inlined out "$name (inlined)" || wrong "--vmlinux $way: inlined functions"
done
sed -n '/MMAP2/p' chain.txt | sed "s|$PWD/c5|$PWD/cpp5|" >plain.txt
python3 "$here/symbols_lbrtime.py" plain "$PWD/cpp5" >>plain.txt || exit 1
for way in "" --no-demangle; do
	# shellcheck disable=SC2086 # an option or nothing
	"$TOOLS/lbrtime" --format=csv --method=sample $way plain.txt >out 2>err || wrong "lbrtime $way"
	nm cpp5 | awk '/Shape/ { print $3 }' | if [ "$way" ]; then cat; else c++filt -p; fi | sort -u >wanted
	python3 "$here/symbols_lbrtime.py" names out wanted || wrong "lbrtime $way: names"
	"$TOOLS/lbrtime" --request=_ZN5outer5inner5ShapeIiE4areaEi --method=sample $way plain.txt >out 2>err || wrong "--request"
	grep -q 'is in no sample' out && wrong "--request by the name in the file"
done
exit $failed
