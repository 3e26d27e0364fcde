# SPDX-License-Identifier: GPL-2.0
"""Spans of a file in the JSON encoding of OTLP, for the tests of ioreq."""
import json
import re

def need(value, kind, *where):
    assert isinstance(value, kind) and (kind is not int or not isinstance(value, bool)), (value, kind, where)
    return value

def only(o, required, optional=()):
    need(o, dict)
    assert set(required) <= set(o) <= set(required) | set(optional), o
    return o

def attributes(a):
    found = {}
    for kv in need(a, list):
        only(kv, ["key", "value"])
        (kind, value), = need(kv["value"], dict).items()
        if kind == "intValue":
            assert re.fullmatch(r"-?\d+", need(value, str)), value
            value = int(value)
        elif kind == "boolValue":
            need(value, bool)
        else:
            assert kind == "stringValue", kind
            need(value, str)
        assert kv["key"] not in found, kv
        found[kv["key"]] = value
    return found

def read(name):
    """Return: all spans and resources; asserts that each is as the encoding requires."""
    spans = {}
    resources = []
    for r in only(json.load(open(name)), ["resourceSpans"])["resourceSpans"]:
        only(r, ["resource", "scopeSpans"])
        resource = attributes(only(r["resource"], ["attributes"])["attributes"])
        assert {"service.name", "host.name", "process.pid"} <= set(resource)
        resources.append(resource)
        for scoped in r["scopeSpans"]:
            only(scoped, ["scope", "spans"])
            only(scoped["scope"], ["name", "version"])
            assert scoped["spans"]
            for s in need(scoped["spans"], list):
                only(s, ["traceId", "spanId", "name", "kind", "startTimeUnixNano", "endTimeUnixNano", "attributes"], ["parentSpanId", "status"])
                if "status" in s:
                    assert only(s["status"], ["code", "message"])["code"] == 2 and need(s["status"]["message"], str), s
                assert re.fullmatch("[0-9a-f]{32}", s["traceId"]) and int(s["traceId"], 16), s
                for key in "spanId", "parentSpanId":
                    assert key not in s or re.fullmatch("[0-9a-f]{16}", s[key]) and int(s[key], 16), s
                assert need(s["kind"], int) in (2, 3) and need(s["name"], str), s
                for key in "startTimeUnixNano", "endTimeUnixNano":
                    assert re.fullmatch(r"\d+", need(s[key], str)) and int(s[key]) < 2 ** 64, s
                assert int(s["startTimeUnixNano"]) <= int(s["endTimeUnixNano"]), s
                assert s["spanId"] not in spans, "not its own"
                spans[s["spanId"]] = s | {"resource": resource, "attributes": attributes(s["attributes"])}
    for s in spans.values():
        if "parentSpanId" in s:
            assert spans[s["parentSpanId"]]["traceId"] == s["traceId"], s
    return spans, resources

def spans(name):
    """Return: each span of a file as (resource's attributes, span, attributes), unchecked."""
    def plain(a):
        return {x["key"]: next(iter(x["value"].values())) for x in a}
    for r in json.load(open(name))["resourceSpans"]:
        resource = plain(r["resource"]["attributes"])
        for scope in r["scopeSpans"]:
            for s in scope["spans"]:
                yield resource, s, plain(s["attributes"])

def call(a):
    """Return: the thread and the time, by its clock, of the call that began a span."""
    return int(a["thread.id"]), int(a["ioreq.monotonic"])
