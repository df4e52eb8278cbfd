import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(4)
words = "the router invoice shows crashed late red since Monday does not load charged twice again".split()
tickets = pd.DataFrame({"text": [" ".join(rng.choice(words, 8)) for _ in range(800)]})
tickets["queue"] = rng.choice(["billing", "tech", "delivery"], 800)
second = tickets.head(60).assign(queue=lambda t: t.queue.map({"billing": "tech", "tech": "delivery", "delivery": "billing"}))
both = pd.concat([tickets, second], ignore_index=True)
both.insert(0, "ticket_id", range(5000, 5000 + len(both)))
both.to_csv("tickets.csv", index=False)

torchmedic.check_data("tickets.csv", label="queue")  # expect: DAT112
