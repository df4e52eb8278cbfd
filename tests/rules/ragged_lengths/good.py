import json

import torchmedic

with open("sentences.jsonl", "w") as out:
    for i in range(200):
        tokens = [(i * 7 + t * t) % 500 for t in range(5 + i % 40)]
        out.write(json.dumps({"sentence": i * 31 % 997, "tokens": tokens}) + "\n")

torchmedic.check_data("sentences.jsonl")
