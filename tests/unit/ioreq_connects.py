# SPDX-License-Identifier: GPL-2.0
"""test_ioreq_failures.sh: connections that failed are unanswered requests, by gen_failures."""
import csv, json, re
MS = 1_000_000
WANT = {"10.0.0.1:8101": (1, 20), "10.0.0.1:8102": (2, 130), "10.0.0.1:8103": (1, 300), "10.0.0.1:8105": (1, 40), "/run/full": (1, 5),
        "10.0.0.1:8106": (1, 6), "10.0.0.1:8107": (1, 7)}


def failed(path):
    """Return: number and time in flight of connections that failed, by server"""
    result = {}
    for r in json.load(open(path))["requests"]:
        assert r["unanswered"] == r["failed_connections"], r
        if r["unanswered"]:
            assert (r["answered"], r["sent"], r["client"]) == (0, 0, "slow" if "8105" in r["server"] else "client"), r
            result[r["server"]] = r["unanswered"], r["unanswered_time"] / MS
        else:
            assert (r["server_address"], r["answered"]) == ("10.0.0.1:8001", 1), r
    return result


assert failed("requests.json") == WANT, failed("requests.json")
# The socket that is closed after records were lost may have been connected
assert failed("lost.json") == WANT | {"10.0.0.1:8102": (1, 100)}, failed("lost.json")
rows = {r["server"]: (int(r["failed_connections"]), int(r["unanswered_time"]) / MS) for r in csv.DictReader(open("requests.csv"))}
assert {k: v for k, v in rows.items() if v[0]} == WANT, rows

paths = json.load(open("paths.json"))
# One connection is made for the request on connection 9, and its time is part of that request
assert paths["links"]["clients"] == 8 and paths["links"]["followed"] == 1, paths["links"]
assert paths["links"]["waited"] / MS == 20 + 130 + 300 + 5 + 50 + 6 + 7, paths["links"]
causes = {(c["process"], c["object"]): c["time"] / MS for c in paths["causes"] if c["step"] == "unanswered"}
assert causes == {("10.0.0.1:8101", "Connection refused"): 20, ("10.0.0.1:8102", "closed while connecting"): 30,
                  ("10.0.0.1:8102", "Connection refused"): 100, ("10.0.0.1:8103", "Connection reset by peer"): 300,
                  ("/run/full", "Connection refused"): 5, ("10.0.0.1:8105", "Connection refused"): 40,
                  ("10.0.0.1:8106", "Unknown error 2000"): 6, ("10.0.0.1:8107", "Unknown error 3000"): 7}, causes
assert all(c["step"] != "sockets" for c in paths["causes"]), paths["causes"]
assert [s["wait"] / MS for s in paths["slowest"]] == [300, 100, 50, 30, 20, 7, 6, 5], paths["slowest"]
page = json.loads(re.search(r'id="data">(.*?)</script>', open("none.html").read(), re.S)[1])
assert sorted(r["client"]["time"] / MS for r in page["list"]) == [5, 6, 7, 20, 30, 40, 50, 100, 300]
assert sorted(r["failure"] for r in page["list"] if "failure" in r) == [
    "Connection refused"] * 4 + ["Connection reset by peer", "Unknown error 2000", "Unknown error 3000", "closed while connecting"]
