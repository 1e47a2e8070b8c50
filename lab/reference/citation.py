"""reference.csv: the paper's shard models on Cora and CiteSeer by PyTorch Geometric.

    venv/bin/python citation.py planetoid --out ../paper/reference.csv

reads cora.npz and citeseer.npz from a folder and writes a row for every model and
method: accuracy in percent over test nodes, its standard deviation over splits, and
accuracy over all nodes. Protocol: 80 % of the nodes train, on the graph among
themselves; 20 shards; the unweighted mean of the shards' probabilities is asked on
the graph of all nodes; Adam, step .01 (SGC .1), weight decay 5e-4, 200 epochs, last
epoch, row-normalised features. MixUp repair for GUIDE alone, as in the paper.
"""

import argparse
import csv
import pathlib

import numpy as np
import scipy.sparse as sp
import torch
from torch import nn
from torch_geometric.nn import APPNP, GATConv, GATv2Conv, GCNConv, GINConv, SAGEConv, SGConv

from models import Net, mlp, two_layers
from shards import balanced_labels, dealt, repaired, spectral

SHARDS, EPOCHS, TRAIN = 20, 200, 0.8
METHODS = ["Scratch", "Random", "Eraser-BLPA", "GUIDE-Fast", "GUIDE-SR"]
HEADER = ["dataset", "model", "hidden", "method", "test", "test_spread", "all"]
# Model and width; 8 stands for eight heads of eight, 0 for none.
ROWS = {
    "Cora": [("SAGE", 16), ("SAGE", 64), ("GIN", 64), ("GAT", 8), ("GATv2", 8), ("GCN", 64), ("APPNP", 64),
             ("MLP", 64), ("SGC", 0)],
    "CiteSeer": [("SAGE", 16), ("SAGE", 64), ("GIN", 64), ("GAT", 8), ("APPNP", 16), ("MLP", 16), ("SGC", 0)],
}


def load(path: pathlib.Path):
    """Feature rows that sum to 1, undirected edges and classes of a NumPy archive."""
    a = np.load(path)
    data = a["attr_data"] if "attr_data" in a else np.ones(len(a["attr_indices"]))
    x = sp.csr_matrix((data, a["attr_indices"], a["attr_indptr"]), shape=a["attr_shape"]).toarray()
    x = (x / np.maximum(x.sum(1, keepdims=True), 1)).astype(np.float32)
    rows = np.repeat(np.arange(len(x)), np.diff(a["adj_indptr"]))
    pairs = np.sort(np.column_stack([rows, a["adj_indices"]]), axis=1)
    return x, np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0), a["labels"].astype(int)


def network(model: str, width: int, columns: int, classes: int) -> nn.Module:
    """The network of a row, two layers each."""
    if model in ("GAT", "GATv2"):
        kind = GATConv if model == "GAT" else GATv2Conv
        first = kind(columns, 8, heads=8, dropout=0.6)
        second = kind(64, classes, heads=1, concat=False, dropout=0.6)
        return Net([("in", nn.Dropout(0.6)), ("conv1", first), ("act", nn.ELU()), ("between", nn.Dropout(0.6)),
                    ("conv2", second)], {})
    if model == "GIN":
        return two_layers(GINConv(mlp(columns, width, width, norm=True), train_eps=True),
                          GINConv(mlp(width, width, classes, norm=True), train_eps=True), nn.ReLU())
    if model in ("SAGE", "GCN"):
        kind = SAGEConv if model == "SAGE" else GCNConv
        return two_layers(kind(columns, width), kind(width, classes), nn.ReLU())
    if model == "SGC":
        return Net([("conv1", SGConv(columns, classes, K=2))], {})
    first, second = nn.Linear(columns, width), nn.Linear(width, classes)
    if model == "MLP":
        return Net([("lin1", first), ("act", nn.ReLU()), ("lin2", second)], {})
    return Net([("in", nn.Dropout(0.5)), ("lin1", first), ("act", nn.ReLU()), ("between", nn.Dropout(0.5)),
                ("lin2", second), ("prop", APPNP(10, 0.1))], {})


def directed(edges: np.ndarray) -> torch.Tensor:
    return torch.tensor(np.vstack([edges, edges[:, ::-1]]).T.copy())


def answers(net: nn.Module, rate: float, x, edges, y, whole) -> np.ndarray:
    """Trains on a shard, whose stubs stand behind the nodes of y, and returns probabilities on the whole graph."""
    optimiser = torch.optim.Adam(net.parameters(), lr=rate, weight_decay=5e-4)
    x, edges, y = torch.tensor(x), directed(edges), torch.tensor(y)
    net.train()
    for _ in range(EPOCHS):
        optimiser.zero_grad()
        nn.functional.cross_entropy(net(x, edges)[0][: len(y)], y).backward()
        optimiser.step()
    net.eval()
    with torch.no_grad():
        return net(*whole)[0].softmax(1).numpy()


def assign(method: str, rng: np.random.Generator, edges: np.ndarray, y: np.ndarray) -> np.ndarray:
    if method == "Scratch":
        return np.zeros(len(y), int)
    if method == "Random":
        return dealt(rng, len(y), SHARDS)
    if method == "Eraser-BLPA":
        return balanced_labels(rng, edges, len(y), SHARDS)
    return spectral(rng, edges, y, SHARDS, rotated=method == "GUIDE-SR")


def measure(graph, model: str, width: int, method: str, seed: int) -> tuple[float, float]:
    """Accuracy of one ensemble over test nodes and over all, in percent."""
    x, edges, y = graph
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    train = np.sort(rng.permutation(len(y))[: round(TRAIN * len(y))])
    at = np.full(len(y), -1)
    at[train] = np.arange(len(train))
    inner = at[edges[(at[edges] >= 0).all(1)]]
    shard = assign(method, rng, inner, y[train])
    whole = (torch.tensor(x), directed(edges))
    total = np.zeros((len(y), int(y.max()) + 1))
    for which in np.unique(shard):
        own, features, kept = repaired(rng, x[train], inner, shard, which, method.startswith("GUIDE"))
        net = network(model, width, x.shape[1], int(y.max()) + 1)
        total += answers(net, 0.1 if model == "SGC" else 0.01, features, kept, y[train][own], whole)
    right = total.argmax(1) == y
    return 100 * right[at < 0].mean(), 100 * right.mean()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=pathlib.Path, help="folder with cora.npz and citeseer.npz")
    parser.add_argument("--out", type=argparse.FileType("w"), default="-", help="file, instead of standard output")
    parser.add_argument("--splits", type=int, default=5, help="random splits to average, seeds 0 and on")
    parser.add_argument("--rows", default="", help="only rows whose data set, model, width and method hold this text")
    args = parser.parse_args()
    torch.set_num_threads(1)
    out = csv.writer(args.out, lineterminator="\n")
    out.writerow(HEADER)
    for dataset, rows in ROWS.items():
        graph = load(args.data / f"{dataset.lower()}.npz")
        for model, width in rows:
            for method in METHODS:
                if args.rows not in f"{dataset},{model},{width},{method}":
                    continue
                found = np.array([measure(graph, model, width, method, seed) for seed in range(args.splits)])
                spread = f"{found[:, 0].std(ddof=1):.1f}" if args.splits > 1 else ""
                test, everywhere = found.mean(0)
                out.writerow([dataset, model, width, method, f"{test:.1f}", spread, f"{everywhere:.1f}"])
                args.out.flush()


if __name__ == "__main__":
    main()
