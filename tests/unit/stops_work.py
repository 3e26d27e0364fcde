# SPDX-License-Identifier: GPL-2.0
"""Work without end for tests that stop Python at random instructions."""
import hashlib
import json
import os
import random
import re
import sqlite3
import zlib

db = sqlite3.connect(":memory:")
db.execute("create table t(a, b)")
while True:
    d = {str(i): [random.random() for _ in range(20)] for i in range(50)}
    s = json.dumps(d)
    json.loads(s)
    re.findall(r"(\d+)\.(\d+)e?-?\d*", s)
    hashlib.sha256(s.encode()).hexdigest()
    zlib.compress(s.encode())
    sorted(d, key=lambda k: d[k][0])
    db.executemany("insert into t values(?, ?)", [(i, str(i)) for i in range(50)])
    db.execute("select sum(a), max(b) from t group by b order by 1").fetchall()
    db.execute("delete from t where a % 3")
    open("/dev/null", "w").write(s)
    os.stat("/")
