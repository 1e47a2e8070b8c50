"""Trains one PyTorch Geometric model per shard on shards that lethe made, and
measures the mean of their answers on the graph of all nodes.

Beside lethe's own figure for the same split this shows whether layers, start and
optimiser do the same. Needs torch and torch_geometric. Example:

  lethe-lab partition --dataset cora.npz --shards 20 --train-fraction .8 --seed 0 \\
      --method random --assign plain --assignments random.csv
  python pyg_shards.py --data cora.npz --assignments random.csv --model gat --repair none
  lethe-lab train --dataset cora.npz --shards 20 --seed 0 --method random --assign plain \\
      --model gat --repair none
"""

import argparse
import csv

import numpy as np
import torch

from pyg_models import cora_model, training_loss

MODELS = "sage gin gcn gat gatv2 supergat appnp sgc mlp".split()


def load(path):
    """Row-normalised features, labels and the neighbours of every node."""
    z = np.load(path, allow_pickle=True)
    x = np.zeros(tuple(z["attr_shape"]), np.float32)
    neighbours = [set() for _ in range(len(x))]
    for i in range(len(x)):
        row = slice(z["attr_indptr"][i], z["attr_indptr"][i + 1])
        x[i, z["attr_indices"][row]] = z["attr_data"][row]
        for j in z["adj_indices"][z["adj_indptr"][i] : z["adj_indptr"][i + 1]]:
            if i != j:
                neighbours[i].add(int(j))
                neighbours[int(j)].add(i)
    x /= np.maximum(x.sum(1, keepdims=True), 1)
    return torch.tensor(x), torch.tensor(z["labels"].astype(np.int64)), neighbours


def shard_graph(nodes, shard_of, x, neighbours, mixup, draw):
    """The shard's nodes, then a stub of degree one per cut edge."""
    position = {v: i for i, v in enumerate(nodes)}
    rows, sources, targets = [x[nodes]], [], []
    count = len(nodes)
    for v in nodes:
        for w in sorted(neighbours[v]):
            if w in position:
                sources.append(position[v])
                targets.append(position[w])
            elif w in shard_of and mixup:
                rows.append(x[v : v + 1] * draw.random())
                sources += [count, position[v]]
                targets += [position[v], count]
                count += 1
    return torch.cat(rows).float(), torch.tensor([sources, targets], dtype=torch.long)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", required=True)
    options.add_argument("--assignments", required=True)
    options.add_argument("--model", choices=MODELS, required=True)
    options.add_argument("--hidden", type=int, default=64)
    options.add_argument("--attention-loss", type=float, default=4, help="weight of SuperGAT's")
    options.add_argument("--repair", choices=["mixup", "none"], default="mixup")
    options.add_argument("--seed", type=int, default=0)
    args = options.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    draw = np.random.default_rng(args.seed)
    x, labels, neighbours = load(args.data)
    classes = int(labels.max()) + 1
    with open(args.assignments) as f:
        shard_of = {int(row["id"]): int(row["shard"]) for row in csv.DictReader(f)}
    full = torch.tensor([[i, j] for i, around in enumerate(neighbours) for j in sorted(around)]).T
    total = torch.zeros(len(x), classes)
    for shard in range(max(shard_of.values()) + 1):
        nodes = sorted(v for v, s in shard_of.items() if s == shard)
        rows, edges = shard_graph(nodes, shard_of, x, neighbours, args.repair == "mixup", draw)
        model = cora_model(args.model, x.shape[1], args.hidden, classes)
        adam = torch.optim.Adam(model.parameters(), lr=0.1 if args.model == "sgc" else 0.01, weight_decay=5e-4)
        model.train()
        for _ in range(200):
            adam.zero_grad()
            training_loss(model, rows, edges, labels[nodes], args.attention_loss).backward()
            adam.step()
        model.eval()
        with torch.no_grad():
            total += model(x, full).softmax(1)
    right = (total.argmax(1) == labels).numpy()
    test = np.array([v not in shard_of for v in range(len(x))])
    print(f"test nodes {100 * right[test].mean():.1f}, all nodes {100 * right.mean():.1f}")


if __name__ == "__main__":
    main()
