# SPDX-License-Identifier: GPL-2.0
"""I/O without end: directories, files, a database and other programs."""
import json, os, sqlite3
db = sqlite3.connect("work.db")
db.execute("create table if not exists t(a, b)")
while True:
    with open("work.json", "w") as f:
        json.dump([sorted(os.listdir("/etc"))[:20]], f)
    with open("work.json") as f:
        json.load(f)
    db.executemany("insert into t values(?, ?)", [(i, str(i)) for i in range(50)])
    db.commit()
    os.system("true")
