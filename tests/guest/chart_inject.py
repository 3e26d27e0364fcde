# SPDX-License-Identifier: GPL-2.0
"""usage: chart_inject.py EVENT DIRECTORY...

Inject 300 values of the field delay into EVENT in each tracefs DIRECTORY.
"""
import random, sys

event, *directories = sys.argv[1:]
random.seed(4)
for i in range(300):
    value = int(random.lognormvariate(12, 0.7) * (20 if random.random() < 0.03 else 1))
    for directory in directories:
        with open(directory + "/events/" + event + "/inject", "w") as inject:
            inject.write("delay=%d\n" % value)
