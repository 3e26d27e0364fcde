# SPDX-License-Identifier: GPL-2.0
"""For the script browser: print the title of the page in dom.html, which the page's script sets."""
import html
import re

title = re.search(r"<title>(.*?)</title>", open("dom.html", errors="replace").read(), re.S)
print(html.unescape(title.group(1)) if title else "no page")
