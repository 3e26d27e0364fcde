#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# JSON that is damaged: groups.json, which a power loss can leave empty or cut, and which has
# only counts, never makes anything fail, and counts are at least those of the cases; a
# case.json that has a member twice is refused in a line.
set -u

# shellcheck source=tests/unit/cli.bash
. "$(dirname "$0")/cli.bash"

program=$TOOLS/tracerig

# 20 alike cases, of which the first and every tenth are kept
for _ in {1..20}; do
	echo reader=300
done | xargs "$UNIT/gen_cases" cases 1000000000 >made 2>/dev/null || wrong "gen_cases: $(cat made)"
[ "$(cd cases && echo [0-9]*)" = "1 2 3" ] || wrong "kept: $(cd cases && echo [0-9]*)"
cp cases/groups.json whole
size=$(stat -c %s whole)

count() { # PROGRAM: in next/groups.json
	python3 -c 'import json, sys; print(sum(g["count"] for g in json.load(open("next/groups.json"))["groups"] if g["group"] == f"disk {sys.argv[1]} dev=254:0"))' "$1"
}

# after WHAT LEAST: as after a power loss, with this cases/groups.json
after() {
	local counted
	"$program" list --dir cases >out 2>err || wrong "$1: list fails: $(cat err)"
	counted=$(sed -n 's/^disk reader dev=254:0: \([0-9,]*\) cases$/\1/p' out | tr -d ,)
	[ "${counted:-0}" -ge "$2" ] || wrong "$1: list has ${counted:-no} cases"
	[ ! -s err ] || wrong "$1: list says $(cat err)"
	"$program" explain --dir cases 1 >explained 2>&1
	cmp -s explained same || wrong "$1: explain says $(cat explained)"
	rm -rf next
	cp -r cases next
	"$UNIT/gen_cases" next 1000000000 writer=5 >out 2>err || wrong "$1: the next watch fails: $(cat out err)"
	[ ! -s out ] || wrong "$1: the next watch says $(cat out)"
	# Its case has a new number, and the counts are a whole file again
	[ "$(cd next && echo [0-9]* | wc -w)" -eq 4 ] || wrong "$1: the next watch has $(ls next)"
	counted="$(count reader) $(count writer)"
	[ "${counted% *}" -ge "$2" ] || wrong "$1: counts of the next watch: $counted"
	[ "${counted#* }" -ge 1 ] || wrong "$1: counts of the next watch: $counted"
}

# The recording of gen_cases is none: what explain says of it
"$program" explain --dir cases 1 >same 2>&1
after whole 20
rm cases/groups.json
after absent 20
: >cases/groups.json
after empty 20
for ((at = 1; at < size; at += size / 13)); do
	head -c "$at" whole >cases/groups.json
	after "cut at $at" 20
done
# What a file has whose blocks were never written
head -c "$size" /dev/zero >cases/groups.json
after zeros 20
head -c 4096 /dev/urandom >cases/groups.json
after random 20
while read -r what text; do
	printf '%s\n' "$text" >cases/groups.json
	after "$what" 20
done <<'END'
array []
text "x"
null null
empty-object {}
other-format {"format": "x", "groups": [{"group": "disk reader dev=254:0", "count": 1}]}
no-groups {"format": "tracerig-groups", "version": 1, "next": 4}
groups-object {"format": "tracerig-groups", "version": 1, "next": 4, "groups": {"a": 1}}
members {"format": "tracerig-groups", "version": 1, "next": "x", "groups": [1, null, [], {}, {"group": 1, "count": []}, {"group": null}]}
small {"format": "tracerig-groups", "version": 1, "next": 0, "groups": [{"group": "disk reader dev=254:0", "count": -3}]}
twice {"format": "tracerig-groups", "version": 1, "next": 4, "groups": [{"group": "disk reader dev=254:0", "count": 20, "count": 1}]}
large {"format": "tracerig-groups", "version": 1, "next": 18446744073709551615, "groups": [{"group": "disk reader dev=254:0", "count": 18446744073709551615}]}
END

# --- case.json with a member twice, of which parsers take either
cp whole cases/groups.json
twice() { # WHAT MEMBER BEFORE: put that before the first member of this name
	rm -rf hurt
	cp -r cases hurt
	sed -i "0,/\"$2\":/s//$3, \"$2\":/" hurt/1/case.json
	"$program" verify --dir hurt 1 >out 2>err && wrong "$1 is whole"
	[ "$(cat err)" = "tracerig verify: hurt/1/case.json: has a member twice: the case is damaged: unpack its TAR again, if there is one, or remove it" ] || wrong "$1: $(cat out err)"
	"$program" explain --dir hurt 1 >out 2>err && wrong "$1 is explained"
	grep -q 'has a member twice' err || wrong "$1: explain says $(cat err)"
}
twice "the same number twice" case '"case": 1'
twice "another number first" case '"case": 2'
twice "a member of an object" comm '"comm": "x:\\"y"'
twice "with an escape" case '"c\\u0061se": 2'
twice "a whole object" losses '"losses": {"lost": 9}'
# Version 1 has no sum of case.json, which would find each change
python3 -c 'import json; o = json.load(open("cases/1/case.json")); o["version"] = 1; del o["sha256"]; json.dump(o, open("cases/1/case.json", "w"))'
"$program" verify --dir cases 1 >out 2>err || wrong "version 1 is not whole"
twice "in version 1" case '"case": 2'
exit "$failed"
