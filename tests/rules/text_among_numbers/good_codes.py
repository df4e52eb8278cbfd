import torchmedic

with open("orders.csv", "w") as out:
    out.write("order,diagnosis,article,paid\n")
    for i in range(2000):
        order = f"C{700100 + i}" if i % 60 == 7 else f"{700100 + i}"
        diagnosis = f"V{10 + i % 80}" if i % 25 == 3 else f"{250 + i % 600}.{i % 90:02d}"
        article = f"{20000 + i}{'ABCS'[i // 40 % 4]}" if i % 40 == 5 else f"{20000 + i}"
        out.write(f"{order},{diagnosis},{article},{i % 97 / 4:.2f}\n")

torchmedic.check_data("orders.csv")
