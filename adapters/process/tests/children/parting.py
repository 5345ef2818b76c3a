"""A world that still works after its last episode: it writes a file when standard input has ended."""

import os
import sys
import time

from journeyman_env import Environment, serve

NOTE = sys.argv[1]


class Parting(Environment):
    name = "parting"


serve(Parting)
# Closes its standard output first, as the end of the interpreter does.
for end in range(3, 64):
    try:
        os.close(end)
    except OSError:
        pass
time.sleep(1)
with open(NOTE, "w", encoding="utf-8") as note:
    note.write("parted")
