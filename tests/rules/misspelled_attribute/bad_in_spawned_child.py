"""A simulator in a process that is started anew: the script dies of a queue that nobody fills any more."""
import queue

import torch
from torch import multiprocessing, nn


class Pendulum:
    def __init__(self):
        self.angle = torch.tensor([0.1, 0.0])

    def advance(self):
        self.angle = 0.9 * self.angle.roll(1)
        return self.angle


class Simulator(multiprocessing.get_context("spawn").Process):
    def __init__(self, seen):
        super().__init__(daemon=True)
        self.seen = seen

    def run(self):
        pendulum = Pendulum()
        for _ in range(100):
            self.seen.put(pendulum.advanse().tolist())  # expect: ERR043


def main():
    torch.manual_seed(0)
    model = nn.Linear(2, 1)
    seen = multiprocessing.get_context("spawn").Queue()
    simulator = Simulator(seen)
    simulator.start()
    simulator.join()
    try:
        state = seen.get(timeout=1)
    except queue.Empty:
        print("no state was simulated")
        raise
    model(torch.tensor(state)).sum().backward()


if __name__ == "__main__":
    main()
