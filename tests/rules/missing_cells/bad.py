import torchmedic

with open("river.csv", "w") as out:
    out.write("station,flow,rain,turbidity\n")
    for day in range(300):
        turbidity = "" if day in (30, 51) else "NA" if day == 200 else 2 + day % 5 / 10
        out.write(f"{'north' if day % 2 else 'south'},{10 + day % 17},{day % 5},{turbidity}\n")

torchmedic.check_data("river.csv")  # expect: DAT101
