"""PyTorch Geometric's side of compare.py: trains shard models and counts steps.

Reads the requests of steps/main.go from standard input, answers in the same
way. The models are those of lethe's trainer: same layers, widths and optimiser.
"""

import json
import random
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch_geometric import nn as gnn

THREADS = int(sys.argv[1])


class EllipticGIN(nn.Module):
    """Three GIN convolutions with batch norm and ReLU, then two linear layers."""

    def __init__(self, features, hidden):
        super().__init__()
        quarter = hidden // 4
        widths = [features, hidden, hidden, quarter]
        self.convs = nn.ModuleList(
            gnn.GINConv(nn.Sequential(nn.Linear(a, b), nn.ReLU(), nn.Linear(b, b)), train_eps=True)
            for a, b in zip(widths, widths[1:])
        )
        self.norms = nn.ModuleList(nn.BatchNorm1d(w) for w in widths[1:])
        self.fc1, self.norm, self.fc2 = nn.Linear(quarter, quarter), nn.BatchNorm1d(quarter), nn.Linear(quarter, 2)

    def forward(self, x, edges):
        for conv, norm in zip(self.convs, self.norms):
            x = F.relu(norm(conv(x, edges)))
        return self.fc2(F.relu(self.norm(self.fc1(x))))


class TwoLayers(nn.Module):
    """Two layers with an activation and dropout between them."""

    def __init__(self, first, second, dropout=0.5, activation=F.relu):
        super().__init__()
        self.first, self.second = first, second
        self.dropout, self.activation = dropout, activation

    def forward(self, x, edges):
        x = F.dropout(x, self.dropout, self.training)
        x = self.activation(self.first(x, edges))
        return self.second(F.dropout(x, self.dropout, self.training), edges)


class Plain(nn.Module):
    """A linear layer that ignores the edges."""

    def __init__(self, a, b):
        super().__init__()
        self.linear = nn.Linear(a, b)

    def forward(self, x, edges):
        return self.linear(x)


class APPNP(nn.Module):
    def __init__(self, features, hidden, classes):
        super().__init__()
        self.layers = TwoLayers(Plain(features, hidden), Plain(hidden, classes))
        self.propagation = gnn.APPNP(K=10, alpha=0.1)

    def forward(self, x, edges):
        return self.propagation(self.layers(x, edges), edges)


def perceptron(a, b):
    return nn.Sequential(nn.Linear(a, b), nn.BatchNorm1d(b), nn.ReLU(), nn.Linear(b, b))


def attention(kind, features, classes, out_heads, **more):
    return TwoLayers(
        kind(features, 8, heads=8, dropout=0.6, **more),
        kind(64, classes, heads=out_heads, concat=False, dropout=0.6, **more),
        dropout=0.6,
        activation=F.elu,
    )


def cora_model(name, features, hidden, classes):
    return {
        "sage": lambda: TwoLayers(gnn.SAGEConv(features, hidden), gnn.SAGEConv(hidden, classes)),
        "gin": lambda: TwoLayers(
            gnn.GINConv(perceptron(features, hidden), train_eps=True),
            gnn.GINConv(perceptron(hidden, classes), train_eps=True),
        ),
        "gcn": lambda: TwoLayers(gnn.GCNConv(features, hidden), gnn.GCNConv(hidden, classes)),
        "gat": lambda: attention(gnn.GATConv, features, classes, 1),
        "gatv2": lambda: attention(gnn.GATv2Conv, features, classes, 1),
        "supergat": lambda: attention(
            gnn.SuperGATConv, features, classes, 8, attention_type="MX", edge_sample_ratio=0.8, is_undirected=True
        ),
        "appnp": lambda: APPNP(features, hidden, classes),
        "sgc": lambda: gnn.SGConv(features, classes, K=2, cached=True),
        "mlp": lambda: TwoLayers(Plain(features, hidden), Plain(hidden, classes)),
    }[name]()


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


class Runner:
    def __init__(self, case):
        family, variant = case.split(":")
        if family == "elliptic":
            x, self.edges, self.labels = shard(208, 92, 165, 240, 2, 1.0)
            self.model = EllipticGIN(165, int(variant))
        else:
            x, self.edges, self.labels = shard(108, 60, 1433, 100, 7, 0.013)
            self.model = cora_model(variant, 1433, 64, 7)
        self.x = x
        self.optimiser = torch.optim.Adam(self.model.parameters(), lr=0.003, weight_decay=1e-5)
        self.super = [m for m in self.model.modules() if isinstance(m, gnn.SuperGATConv)]

    def step(self):
        self.model.train()
        self.optimiser.zero_grad()
        out = self.model(self.x, self.edges)
        loss = F.cross_entropy(out[: len(self.labels)], self.labels)
        for layer in self.super:
            loss = loss + 4.0 * layer.get_attention_loss()
        loss.backward()
        self.optimiser.step()


def main():
    torch.set_num_threads(THREADS)
    torch.manual_seed(1)
    runners = {}
    for line in sys.stdin:
        request = json.loads(line)
        runner = runners.get(request["case"])
        if runner is None:
            runner = runners[request["case"]] = Runner(request["case"])
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
