# SPDX-License-Identifier: GPL-2.0
# Of test_ioreq.sh, in its directory of results.
import csv, json, math
want = {}
for line in open("requests.truth"):
    client, server, *numbers = line.rstrip("\n").split("\t")
    want.setdefault((client, server), []).append([None if n == "-" else int(n) for n in numbers])

def party(host, name):
    return f"{host}:{name}" if host else name

def times(values):
    values = sorted(v for v in values if v is not None)
    if not values:
        return [""] * 4
    return [str(sum(values))] + [str(values[math.ceil(p * len(values) / 100) - 1]) for p in (50, 99, 100)]

STEPS = ["arriving", "own", "files", "sync", "sockets", "pipes", "poll", "others", "rest", "computing", "runnable", "sleeping",
         "ambiguous_rest", "ambiguous_computing"]
rows = list(csv.DictReader(open("requests.csv")))
kinds = len(rows)
for row in rows:
    server = " ".join(filter(None, (party(row["server_host"], row["server"]), row["server_address"])))
    group = want.pop((party(row["client_host"], row["client"]), server))
    answered, clear, wait, service, sent, received, *steps = map(list, zip(*group))
    # No sched_switch was recorded, and each thread has one connection
    steps += [[0] * len(group)] * 5
    assert len(group) > 20
    assert int(row["answered"]) == sum(answered), row
    assert int(row["unanswered"]) == len(group) - sum(answered), row
    assert int(row["unclear"]) == len(group) - sum(clear), row
    assert int(row["sent"]) == sum(sent) and int(row["received"]) == sum(received), row
    assert [row[f"wait{k}"] for k in ("", "_p50", "_p99", "_max")] == times(wait), row
    assert [row[f"service{k}"] for k in ("", "_p50", "_p99", "_max")] == times(service), row
    between = sum(w - s for w, s in zip(wait, service) if w is not None and s is not None)
    assert int(row["between"]) == between, (row, between)
    assert int(row["stepped"]) == sum(s is not None for s in steps[0]), row
    assert [int(row[k]) for k in STEPS] == [sum(s or 0 for s in step) for step in steps], row
# Two clients and two servers with two ports, either alone, and one port of the servers at two addresses
assert not want and kinds == 18, (kinds, want.keys())
assert sum(int(row["unclear"]) for row in rows) > 100 and sum(int(row["unanswered"]) for row in rows) > 100
got = [{"client_host": r["client_host"], "client": r["client"], "server_host": r["server_host"],
        "server": r["server"], **{k: str(r[k]) for k in ("answered", "unclear", "unanswered", "sent", "received", "between", "stepped",
                                               "split", "there", "late", "back")},
        **{w + k: str(r[w][f]) if r[w]["count"] else "" for w in ("wait", "service")
           for k, f in (("", "time"), ("_p50", "p50"), ("_p99", "p99"), ("_max", "max"))},
        **{k: str(r["steps"][k]) for k in STEPS}, "server_address": r["server_address"], "unanswered_time": str(r["unanswered_time"]), "multiplexed": str(r["multiplexed"]),
        "failed_connections": str(r["failed_connections"]), "late_client": str(r["late_client"]), "cut_off": str(r["cut_off"]), "pushed": str(r["pushed"]), "guessed": str(r["guessed"]), "maybe_multiplexed": str(r["maybe_multiplexed"]), "contradicted": str(r["contradicted"])}
       for r in json.load(open("requests.json"))["requests"]]
assert got == rows, (got, rows)
