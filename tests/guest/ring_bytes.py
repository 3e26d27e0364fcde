# SPDX-License-Identifier: GPL-2.0
"""ctlchart-ring.sh: measure the bytes of alarms in the pages of the ring buffer."""
import collections, glob, os, struct, sys

# Bits of a page's length that are not part of it
MISSED_EVENTS, MISSED_STORED = 1 << 31, 1 << 30


def records(page):
    """Return: (bytes in the ring buffer, data) of each record; a record that only carries time has no data"""
    size = struct.unpack_from("<Q", page, 8)[0] & ~(MISSED_EVENTS | MISSED_STORED)
    at = 16
    while at < 16 + size:
        head = struct.unpack_from("<I", page, at)[0]
        kind = head & 31
        if kind == 29:
            # The rest of the page, or a record that was discarded
            length = struct.unpack_from("<I", page, at + 4)[0] + 4 if head >> 5 else 16 + size - at
            yield length, None
        elif kind >= 30:
            length = 8
            yield length, None
        elif kind:
            length = 4 + 4 * kind
            yield length, page[at + 4:at + length]
        else:
            # The length is in a word after the header, which counts
            length = 4 + struct.unpack_from("<I", page, at + 4)[0]
            yield length, page[at + 8:at + length]
        at += length


def event_id(tracing, name):
    return int(open(f"{tracing}/events/ctlchart/{name}/id").read())


def main():
    tracing, expected, most = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    alarm, limit = event_id(tracing, "ctlchart_alarm"), event_id(tracing, "ctlchart_limit")
    alarms = collections.Counter()
    limits, limit_bytes = 0, 0
    for path in glob.glob(f"{tracing}/per_cpu/cpu*/trace_pipe_raw"):
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        while True:
            try:
                page = os.read(fd, 4096)
            except BlockingIOError:
                break
            if not page:
                break
            for length, data in records(page):
                event = data and struct.unpack_from("<H", data)[0]
                if event == alarm:
                    alarms[length] += 1
                elif event == limit:
                    limits += 1
                    limit_bytes += length
        os.close(fd)
    count = sum(alarms.values())
    total = sum(length * n for length, n in alarms.items())
    print(f"{count} alarms of {dict(alarms)} bytes, {limits} limit events in {limit_bytes} bytes: "
          f"{(total + limit_bytes) / max(count, 1):.2f} bytes per alarm")
    if count != expected:
        sys.exit(f"{count} alarms in the ring buffer, and {expected} by the chart's own count")
    if not limits:
        sys.exit("no limit event")
    if max(alarms) > most:
        sys.exit(f"an alarm takes more than {most} bytes")


main()
