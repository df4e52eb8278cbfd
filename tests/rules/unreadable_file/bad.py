import gzip
from pathlib import Path

import torchmedic

text = "day,load\n" + "".join(f"{i},{(i * 37) % 101}\n" for i in range(40000))
packed = gzip.compress(text.encode())
# The copy was interrupted.
Path("load.csv.gz").write_bytes(packed[: len(packed) // 2])

torchmedic.check_data("load.csv.gz")  # expect: DAT137
