"""reference.csv: the paper's shard models on Cora and CiteSeer by PyTorch Geometric.

    venv/bin/python citation.py planetoid --kept citation.cells.csv --out ../paper/reference.csv

reads cora.npz and citeseer.npz from a folder and puts a row for every model and method
into a file: accuracy in percent over test nodes, its standard deviation over splits,
accuracy over all nodes and the number of splits. It measures split by split and keeps
every figure, so that it goes on where it was interrupted; a row that it has not measured
stays as it was. Protocol: 80 % of the nodes train, on the graph among
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
HEADER = ["dataset", "model", "hidden", "method", "test", "test_spread", "all", "splits"]
KEPT_HEADER = ["dataset", "model", "hidden", "method", "seed", "test", "all"]
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


def every_row(text: str) -> list[tuple[str, str, str, str]]:
    """Data set, model, width and method of the rows that hold a text."""
    rows = [(dataset, model, str(width), method)
            for dataset, models in ROWS.items() for model, width in models for method in METHODS]
    return [row for row in rows if text in ",".join(row)]


def read(path: pathlib.Path) -> list[list[str]]:
    """The rows of a file behind its heading; none if it is not there."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.reader(file))[1:]


def summary(row: tuple, found: list[tuple[float, float]]) -> list[str]:
    of = np.array(found)
    test, everywhere = of.mean(0)
    spread = f"{of[:, 0].std(ddof=1):.1f}" if len(of) > 1 else ""
    return [*row, f"{test:.1f}", spread, f"{everywhere:.1f}", str(len(of))]


def write(path: pathlib.Path, kept: dict) -> None:
    """Puts what is kept into the file, in the order of ROWS; other rows stay."""
    rows = {tuple(row[:4]): row for row in read(path)}
    for key in every_row(""):
        found = [figures for (*row, _), figures in sorted(kept.items()) if tuple(row) == key]
        if found:
            rows[key] = summary(key, found)
    with path.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(HEADER)
        out.writerows(rows[key] for key in every_row("") if key in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=pathlib.Path, help="folder with cora.npz and citeseer.npz")
    parser.add_argument("--kept", type=pathlib.Path, required=True, help="file with the figures of every split, added to")
    parser.add_argument("--out", type=pathlib.Path, help="file of the means, put right")
    parser.add_argument("--splits", type=int, default=5, help="random splits to average, seeds 0 and on")
    parser.add_argument("--rows", default="", help="only rows whose data set, model, width and method hold this text")
    args = parser.parse_args()
    torch.set_num_threads(1)
    kept = {(*row[:4], int(row[4])): (float(row[5]), float(row[6])) for row in read(args.kept)}
    graphs = {dataset: load(args.data / f"{dataset.lower()}.npz") for dataset in ROWS}
    with args.kept.open("a", newline="") as file:
        cells = csv.writer(file, lineterminator="\n")
        if file.tell() == 0:
            cells.writerow(KEPT_HEADER)
        for seed in range(args.splits):
            for row in every_row(args.rows):
                if (*row, seed) in kept:
                    continue
                dataset, model, width, method = row
                test, everywhere = measure(graphs[dataset], model, int(width), method, seed)
                kept[*row, seed] = test, everywhere
                cells.writerow([*row, seed, f"{test:.4f}", f"{everywhere:.4f}"])
                file.flush()
                print(*row, f"seed {seed}: {test:.1f} / {everywhere:.1f}", flush=True)
                if args.out:
                    write(args.out, kept)
    if args.out:
        write(args.out, kept)


if __name__ == "__main__":
    main()
