"""torch.compile (aot_eager) inside a profiler schedule: step 1 takes far longer than the others, the profiler wakes up twice."""
import torch
from torch import nn
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile, schedule

torch.manual_seed(0)
x = torch.rand(2000, 8) * 2 - 1
y = (x.square().sum(1, keepdim=True) - 8 / 3) + 0.3 * x[:, :1] * x[:, 1:2]
model = nn.Sequential(nn.Linear(8, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 1))
fast = torch.compile(model, backend="aot_eager")
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
traces = []


def ready(p):
    traces.append(len(p.key_averages()))


run = []
with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=20, warmup=2, active=3, repeat=2),
             on_trace_ready=ready, acc_events=True) as prof:
    for step in range(1, 401):
        b = torch.randint(0, 1600, (64,))
        loss = F.mse_loss(fast(x[b]), y[b])
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        prof.step()
        run.append(loss.item())
        if step % 80 == 0:
            print(f"step {step} loss {sum(run[-80:]) / 80:.5f}")

model.eval()
with torch.no_grad():
    test = F.mse_loss(model(x[1600:]), y[1600:]).item()
print(f"final test mse {test:.5f} (variance {y[1600:].var():.3f}), {len(traces)} profiler traces")
