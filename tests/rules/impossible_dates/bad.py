import torchmedic

with open("visits.csv", "w") as out:
    out.write("patient,day,weight\n")
    for i in range(500):
        day = "2023-02-30" if i == 321 else f"2023-{1 + i % 12:02}-{1 + i % 28:02}"
        out.write(f"p{i % 90},{day},{60 + i % 31}\n")

torchmedic.check_data("visits.csv")  # expect: DAT122
