# SPDX-License-Identifier: GPL-2.0
"""test_ioreq_paths.sh: print the offsets in the file of the returns of the program's functions."""
loads = [[int(x, 16) for x in line.split()] for line in open("loads")]
for line in open("returns"):
    at = int(line.split()[1], 16)
    off, vaddr = next((off, vaddr) for off, vaddr, size in loads if vaddr <= at < vaddr + size)
    print(line.split()[0], f"{at - vaddr + off:x}")
