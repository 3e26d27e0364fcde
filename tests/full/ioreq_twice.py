# SPDX-License-Identifier: GPL-2.0
"""usage: ioreq_twice.py RESULT

One request of three reads, and leaves one line in the log; two write, and leave two lines.
"""
import json, sys
with open(sys.argv[1]) as f:
    causes = json.load(f)["causes"]
first, chunks = causes[0], [c for c in causes if c["host"] == "app" and c["object"].endswith("/store-app/chunks")]
print(f"# {first['pieces']} times in {first['requests']} requests; chunks: {chunks}")
sys.exit(not (first["pieces"] * 3 == first["requests"] * 5 and chunks and chunks[0]["step"] == "files"))
