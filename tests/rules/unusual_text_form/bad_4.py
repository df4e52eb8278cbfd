from pathlib import Path

import torchmedic

old = "".join(f"Müller {i},Köln,{i * 37 % 900}\n" for i in range(120))
new = "".join(f"Jürgen {i},Düren,{i * 53 % 900}\n" for i in range(60))
Path("customers.csv").write_bytes(("name,town,sales\n" + old).encode() + new.encode("cp1252"))

torchmedic.check_data("customers.csv")  # expect: DAT140
