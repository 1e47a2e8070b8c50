"""lethe's shard models with PyTorch Geometric's layers."""

import torch.nn.functional as F
from torch import nn
from torch_geometric import nn as gnn


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

    def __init__(self, first, second, dropout=0.0, activation=F.relu):
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
        self.layers = TwoLayers(Plain(features, hidden), Plain(hidden, classes), dropout=0.5)
        self.propagation = gnn.APPNP(K=10, alpha=0.1)

    def forward(self, x, edges):
        return self.propagation(self.layers(x, edges), edges)


def perceptron(a, hidden, b):
    return nn.Sequential(nn.Linear(a, hidden), nn.BatchNorm1d(hidden), nn.ReLU(), nn.Linear(hidden, b))


def attention(kind, features, classes, out_heads, **more):
    return TwoLayers(
        kind(features, 8, heads=8, dropout=0.6, **more),
        kind(64, classes, heads=out_heads, concat=False, dropout=0.6, **more),
        dropout=0.6,
        activation=F.elu,
    )


def cora_model(name, features, hidden, classes, cached=False):
    """The models of lethe's `--model`, with its defaults."""
    return {
        "sage": lambda: TwoLayers(gnn.SAGEConv(features, hidden), gnn.SAGEConv(hidden, classes)),
        "gin": lambda: TwoLayers(
            gnn.GINConv(perceptron(features, hidden, hidden), train_eps=True),
            gnn.GINConv(perceptron(hidden, hidden, classes), train_eps=True),
        ),
        "gcn": lambda: TwoLayers(gnn.GCNConv(features, hidden), gnn.GCNConv(hidden, classes)),
        "gat": lambda: attention(gnn.GATConv, features, classes, 1),
        "gatv2": lambda: attention(gnn.GATv2Conv, features, classes, 1),
        "supergat": lambda: attention(
            gnn.SuperGATConv, features, classes, 8, attention_type="MX", edge_sample_ratio=0.8, is_undirected=True
        ),
        "appnp": lambda: APPNP(features, hidden, classes),
        "sgc": lambda: gnn.SGConv(features, classes, K=2, cached=cached),
        "mlp": lambda: TwoLayers(Plain(features, hidden), Plain(hidden, classes)),
    }[name]()


def training_loss(model, x, edges, labels, attention=4.0):
    """Cross entropy of the first rows, and SuperGAT's attention losses by their weight."""
    loss = F.cross_entropy(model(x, edges)[: len(labels)], labels)
    for layer in model.modules():
        if isinstance(layer, gnn.SuperGATConv):
            loss = loss + attention * layer.get_attention_loss()
    return loss
