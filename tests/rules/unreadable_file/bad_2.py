import random

import torchmedic

random.seed(1)
lines = [f"{random.gauss(0, 1):.3f},{random.gauss(5, 2):.3f},{random.randrange(3)}" for _ in range(800)]
lines[40] = "0.512,4.2"  # the logger lost power in the middle of a line
lines[41] = lines[41] + ",9"
with open("log.csv", "w") as log:
    log.write("current,voltage,label\n" + "\n".join(lines) + "\n")

torchmedic.check_data("log.csv")  # expect: DAT137
