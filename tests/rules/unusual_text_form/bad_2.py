import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(5)
ward = pd.DataFrame({"科室": rng.choice(["心内科", "呼吸科"], 300), "血糖": rng.normal(5.5, 1, 300).round(2)})
ward.to_csv("ward.csv", index=False, encoding="gbk")

torchmedic.check_data("ward.csv")  # expect: DAT140
