import torchmedic

with open("assays.csv", "w") as out:
    out.write("sample,potassium,troponin\n")
    for i in range(2000):
        troponin = "<0.5" if i in (700, 1500) else "１２" if i == 1801 else f"{0.5 + i % 40 / 50:.2f}"
        out.write(f"s{i},{3.5 + i % 13 / 10:.1f},{troponin}\n")

torchmedic.check_data("assays.csv")  # expect: DAT104
