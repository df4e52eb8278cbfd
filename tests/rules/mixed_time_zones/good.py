import torchmedic

with open("logins.csv", "w") as out:
    out.write("user,at,seconds\n")
    for i in range(400):
        month = 1 + i % 12
        zone = "+02:00" if 4 <= month <= 10 else "+01:00"
        out.write(f"u{i % 37},2024-{month:02}-{1 + i % 28:02}T{i % 24:02}:{i % 60:02}:00{zone},{(i * 37) % 101}\n")

torchmedic.check_data("logins.csv")
