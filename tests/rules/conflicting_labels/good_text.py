import numpy as np
import pandas as pd

import torchmedic

# One text column, of a few answers that everybody gives: that they come again, with either label, says nothing.
rng = np.random.default_rng(4)
answers = ["everything was fine, thank you", "the delivery came two days late", "the parcel was open and damaged"]
notes = pd.DataFrame({"note": rng.choice(answers, 600), "queue": rng.choice(["billing", "tech"], 600)})
notes.to_csv("notes.csv", index=False)

torchmedic.check_data("notes.csv", label="queue")
