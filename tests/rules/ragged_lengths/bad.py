import json

import torchmedic

with open("ecg.jsonl", "w") as out:
    for i in range(200):
        signal = [round((i * 7 + t * t) % 13 / 10, 1) for t in range(97 if i == 150 else 100)]
        out.write(json.dumps({"beat": i * 31 % 997, "signal": signal}) + "\n")

torchmedic.check_data("ecg.jsonl")  # expect: DAT123
