# SPDX-License-Identifier: GPL-2.0
"""usage: tracerig_stacks.py

An iosys_stacks that is larger than what a case has room for.
"""
for i in range(10):
    print(f"stack {i + 1} end=complete guessed=0 frames=" + ",".join(f"{250 * i + j}+{j:#x}" for j in range(1, 251)))
for i in range(1, 2501):
    print(f"map {i} dev=8:1 ino={i} build_id= rows=0 bytes=0 path=/{'x' * 4000}")
