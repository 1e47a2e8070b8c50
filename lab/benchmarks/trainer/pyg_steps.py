"""PyTorch Geometric's side of compare.py: trains shard models and counts steps.

Reads the requests of steps/main.go from standard input, answers in the same
way. Optimiser and settings are those of lethe's trainer.
"""

import json
import random
import sys
import time

import torch

from pyg_models import EllipticGIN, cora_model, training_loss

THREADS = int(sys.argv[1])


def shard(nodes, stubs, features, edges, classes, density):
    """Random features, labels and edges; stubs hang at random nodes."""
    draw = random.Random(1)
    x = torch.rand(nodes + stubs, features) * (torch.rand(nodes + stubs, features) < density)
    pairs = set()
    while len(pairs) < edges:
        a, b = draw.randrange(nodes), draw.randrange(nodes)
        if a != b:
            pairs.add((min(a, b), max(a, b)))
    pairs |= {(draw.randrange(nodes), nodes + i) for i in range(stubs)}
    index = torch.tensor(sorted({(a, b) for a, b in pairs} | {(b, a) for a, b in pairs})).t().contiguous()
    labels = torch.randint(classes, (nodes,))
    return x, index, labels


class Products:
    """The matrix products of a step of the Elliptic GIN, and nothing else."""

    def __init__(self, width):
        quarter = width // 4
        widths = [165] + [width] * 4 + [quarter] * 3 + [2]
        self.layers = [(torch.rand(300, a), torch.rand(b, a), torch.rand(300, b)) for a, b in zip(widths, widths[1:])]

    def step(self):
        for x, w, _ in self.layers:
            torch.mm(x, w.t())
        for i, (x, w, y) in enumerate(self.layers):
            torch.mm(y.t(), x)
            if i > 0:
                torch.mm(y, w)


class Runner:
    def __init__(self, family, variant):
        if family == "elliptic":
            x, self.edges, self.labels = shard(208, 92, 165, 240, 2, 1.0)
            self.model = EllipticGIN(165, int(variant))
        else:
            x, self.edges, self.labels = shard(108, 60, 1433, 100, 7, 0.013)
            self.model = cora_model(variant, 1433, 64, 7, cached=True)
        self.x = x
        self.optimiser = torch.optim.Adam(self.model.parameters(), lr=0.003, weight_decay=1e-5)

    def step(self):
        self.model.train()
        self.optimiser.zero_grad()
        training_loss(self.model, self.x, self.edges, self.labels).backward()
        self.optimiser.step()


def main():
    torch.set_num_threads(THREADS)
    torch.manual_seed(1)
    runners = {}
    for line in sys.stdin:
        request = json.loads(line)
        runner = runners.get(request["case"])
        if runner is None:
            family, variant = request["case"].split(":")
            runner = Products(int(variant)) if family == "products" else Runner(family, variant)
            runners[request["case"]] = runner
            for _ in range(3):
                runner.step()
        start, used, steps = time.perf_counter(), time.process_time(), 0
        while True:
            runner.step()
            steps += 1
            if time.perf_counter() - start >= request["seconds"]:
                break
        print(
            json.dumps(
                {
                    "steps": steps,
                    "seconds": time.perf_counter() - start,
                    "cpu_seconds": time.process_time() - used,
                    "kernels": f"torch {torch.__version__}",
                }
            ),
            flush=True,
        )


main()
