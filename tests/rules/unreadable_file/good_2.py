import random

import torchmedic

random.seed(1)
# The first cell with a blank in it comes late: until there, any run of blanks could be what divides the columns.
rows = [[f"{random.gauss(0, 1):.3f}", f"{random.gauss(5, 2):.3f}", f"{random.gauss(9, 2):.3f}"] for _ in range(900)]
with open("series.tsv", "w") as series:
    series.write("a\tb\tnote\n" + "".join("\t".join(row) + "\n" for row in rows[:600]))
    series.write("".join("\t".join(row[:2] + ["calibrated today"]) + "\n" for row in rows[600:]))

torchmedic.check_data("series.tsv")
