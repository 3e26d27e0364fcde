# SPDX-License-Identifier: GPL-2.0
"""test_ioreq.sh: control characters of a host's name do not reach names.txt."""
text = open("names.txt", encoding="utf-8").read()
assert "a?b?[1m? c" in text and "\x1b" not in text
