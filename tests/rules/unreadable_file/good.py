import gzip
from pathlib import Path

import torchmedic

text = "day,load,note\n" + "".join(f'{i * 7 % 4001},{(i * 37) % 101},"up, then\ndown"\n' if i % 9 == 0 else f"{i * 7 % 4001},{(i * 37) % 101},flat\n" for i in range(4000))
Path("load.csv.gz").write_bytes(gzip.compress(text.encode()))

torchmedic.check_data("load.csv.gz")
