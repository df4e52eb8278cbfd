import numpy as np
import torch


class SensorCurve(torch.nn.Module):
    """u = a + b * log(t + c), the usual drift law of the probe."""

    def __init__(self):
        super().__init__()
        self.a = torch.nn.Parameter(torch.tensor(0.0, dtype=torch.float64))
        self.b = torch.nn.Parameter(torch.tensor(1.0, dtype=torch.float64))
        self.c = torch.nn.Parameter(torch.tensor(3.0, dtype=torch.float64))

    def forward(self, t):
        return self.a + self.b * torch.log(t + self.c)


def measurements(seed=0):
    rng = np.random.default_rng(seed)
    t = np.linspace(0.0, 50.0, 200)
    u = 1.2 + 2.5 * np.log(t + 0.05) + rng.normal(0, 0.02, t.size)
    return torch.from_numpy(t), torch.from_numpy(u)


def fit(model, t, u, iters=15):
    opt = torch.optim.LBFGS(model.parameters(), lr=1.0, max_iter=2)

    def closure():
        opt.zero_grad()
        loss = (model(t) - u).pow(2).mean()
        loss.backward()
        return loss

    for i in range(iters):
        loss = opt.step(closure)
        with torch.no_grad():
            now = (model(t) - u).pow(2).mean().item()
        print(f"iteration {i:2d} before {loss.item():.6f} after {now:.6f} c {model.c.item():.4f}")


if __name__ == "__main__":
    t, u = measurements()
    fit(SensorCurve(), t, u)
