from pathlib import Path

import torchmedic

lines = [f"{i},{i * 37 % 61},fine {i}" for i in range(500)]
lines[217] = '217,5,"12 inch'
Path("answers.csv").write_text("id,size,note\n" + "\n".join(lines) + "\n")

torchmedic.check_data("answers.csv")  # expect: DAT137
