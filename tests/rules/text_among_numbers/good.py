import torchmedic

with open("assays.csv", "w") as out:
    out.write("sample,potassium,troponin,remark\n")
    for i in range(2000):
        remark = "<0.5 of the usual volume" if i % 3 == 0 else "none"
        out.write(f"s{i},{3.5 + i % 13 / 10:.1f},{0.5 + i % 40 / 50:.2f},{remark}\n")

torchmedic.check_data("assays.csv")
