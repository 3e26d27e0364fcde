# SPDX-License-Identifier: GPL-2.0
"""Read the file mnt/whole from its beginning to its end."""
import os
open("/proc/self/comm", "w").write("whole")
fd = os.open("mnt/whole", os.O_RDONLY)
while os.read(fd, 65536):
    pass
