import torchmedic

with open("river.csv", "w") as out:
    out.write("station,flow,rain,turbidity,remark\n")
    for day in range(300):
        remark = "flood" if day == 77 else ""
        out.write(f"{'north' if day % 2 else 'south'},{10 + day % 17},{day % 5},{2 + day % 5 / 10},{remark}\n")

torchmedic.check_data("river.csv")
