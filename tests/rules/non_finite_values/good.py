import csv

import torchmedic

with open("turbines.csv", "w", newline="") as out:
    rows = csv.writer(out)
    rows.writerow(["turbine", "wind", "power", "ratio"])
    for hour in range(400):
        wind = 3 + hour % 11
        power = 0.4 * wind**3 + hour % 7
        rows.writerow([hour % 8, wind, round(power, 2), round(wind / power, 4)])

torchmedic.check_data("turbines.csv")
