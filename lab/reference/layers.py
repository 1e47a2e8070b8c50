"""layers.json: single layers by PyTorch Geometric in double precision.

Outputs, and gradients of the sum of outputs times R, in training mode and
where it differs in evaluation mode.
"""

import contextlib

import numpy as np
import torch
from torch import nn
from torch_geometric.nn import APPNP, GATConv, GATv2Conv, GCNConv, GINConv, SAGEConv, SGConv, SuperGATConv

from cases import number, on_grid, random_graph, tensor, write

DIGITS = 8
FEATURES, OUT = 5, 4
MODULES = {"Linear": nn.Linear, "BatchNorm1d": nn.BatchNorm1d, "ReLU": nn.ReLU}


def fill(module: nn.Module, rng: np.random.Generator) -> None:
    """Puts draws on the grid into parameters and buffers."""
    with torch.no_grad():
        for value in module.parameters():
            value.copy_(on_grid(rng, *value.shape, scale=0.5))
        for name, value in module.named_buffers():
            if name.endswith("running_mean"):
                value.copy_(on_grid(rng, *value.shape, scale=0.2))
            elif name.endswith("running_var"):
                value.copy_(1 + on_grid(rng, *value.shape, scale=0.2).abs())


def buffers(module: nn.Module, digits: int | None = None) -> dict:
    """The running statistics; PyG's fixed eps is a buffer too, and no part of the state."""
    return {name: tensor(v, digits) for name, v in module.named_buffers()
            if name.endswith(("running_mean", "running_var"))}


@contextlib.contextmanager
def dropout_by(masks: list):
    """Replaces PyTorch's dropout by the masks, in the order of use."""
    real, left = nn.functional.dropout, list(masks)

    def masked(x, p=0.5, training=True, inplace=False):
        if not training or p == 0:
            return x
        mask = left.pop(0)
        return x * mask.reshape(x.shape) / (1 - p)

    nn.functional.dropout = masked
    try:
        yield
        assert not left, "a mask was not used"
    finally:
        nn.functional.dropout = real


def keep(rng: np.random.Generator, *shape: int, p: float) -> torch.Tensor:
    return torch.tensor((rng.random(shape) >= p).astype(float))


def with_loops(edge_index: np.ndarray, nodes: int) -> int:
    return edge_index.shape[1] + nodes


def case(name: str, op: str, module: nn.Module, rng: np.random.Generator, hyper: dict, **more) -> dict:
    """Runs the module; more: nodes, edges, train, mask, attention_mask, plain, supervision."""
    nodes, train = more.get("nodes", 9), more.get("train", True)
    features = more.get("features", FEATURES)
    module = module.double()
    fill(module, rng)
    module.train(train)
    edge_index = random_graph(rng, nodes, more.get("edges", 12))
    x = on_grid(rng, nodes, features).requires_grad_()
    before = buffers(module)
    out_case = {"name": name, "op": op, "hyper": hyper, "mode": "train" if train else "eval"}
    masks = []
    if "dropout" in more:
        masks = [keep(rng, *more["dropout"](edge_index, nodes), p=hyper.get("p", hyper.get("dropout")))]
        out_case["mask" if op == "Dropout" else "attention_mask"] = tensor(masks[0])
    expect = {}
    if not more.get("plain"):
        out_case |= {"num_nodes": nodes, "edge_index": edge_index.tolist()}
    with dropout_by(masks):
        if more.get("plain"):
            out = module(x)
        else:
            out = module(x, torch.tensor(edge_index))
            if more.get("attention"):
                _, (_, alpha) = module(x, torch.tensor(edge_index), return_attention_weights=True)
                expect["attention"] = tensor(alpha, DIGITS)
    r = on_grid(rng, *out.shape)
    loss = (out * r).sum()
    if more.get("supervision"):
        weight = more["supervision"]
        attention_loss = module.get_attention_loss()
        loss = loss + weight * attention_loss
        sampled = module.sampled
        out_case["supergat"] = {"att_weight": weight, "pos_edge_index": sampled["pos"].tolist(),
                                "neg_edge_index": sampled["neg"].tolist()}
        expect["attention_loss"] = number(attention_loss, DIGITS)
        expect["attention_logits"] = tensor(module.att_x, DIGITS)
    loss.backward()
    expect |= {
        "out": tensor(out, DIGITS), "loss": number(loss, DIGITS),
        "grads": {"x": tensor(x.grad, DIGITS),
                  "params": {key: tensor(v.grad, DIGITS) for key, v in module.named_parameters()}},
    }
    if before:
        out_case["buffers"] = before
        if train:
            expect["buffers_after"] = buffers(module, DIGITS)
    return out_case | {"inputs": {"x": tensor(x)}, "params": {k: tensor(v) for k, v in module.named_parameters()},
                       "R": tensor(r), "expect": expect}


class Sampled(SuperGATConv):
    """SuperGATConv that remembers the pairs it drew."""

    def positive_sampling(self, edge_index):
        pos = super().positive_sampling(edge_index)
        self.sampled = {"pos": pos}
        return pos

    def negative_sampling(self, edge_index, num_nodes, batch=None):
        neg = super().negative_sampling(edge_index, num_nodes, batch)
        self.sampled["neg"] = neg
        return neg


def gin(kinds: list[str], train_eps: bool) -> nn.Module:
    stack, width = [], FEATURES
    for k, kind in enumerate(kinds):
        if kind == "Linear":
            out = OUT if k == len(kinds) - 1 else 6
            stack.append(nn.Linear(width, out))
            width = out
        else:
            stack.append(MODULES[kind](width) if kind == "BatchNorm1d" else MODULES[kind]())
    return GINConv(nn.Sequential(*stack), train_eps=train_eps)


def attention_cases(rng: np.random.Generator) -> list[dict]:
    out = []
    for op, kind in (("GATConv", GATConv), ("GATv2Conv", GATv2Conv)):
        short = op.removesuffix("Conv").lower()
        for heads, concat, dropout in ((3, True, 0.0), (1, True, 0.0), (2, False, 0.0), (2, True, 0.6)):
            hyper = {"heads": heads, "concat": concat, "out_channels": 3, "negative_slope": 0.2,
                     "add_self_loops": True, "bias": True, "dropout": dropout}
            more = {"attention": True}
            if dropout:
                more = {"dropout": lambda edges, nodes, heads=heads: (with_loops(edges, nodes), heads)}
            form = f"{short}_heads{heads}_{'concat' if concat else 'mean'}{'_dropout' if dropout else ''}"
            module = kind(FEATURES, 3, heads=heads, concat=concat, dropout=dropout)
            out.append(case(form, op, module, rng, hyper, **more))
    for heads, concat, train in ((3, True, False), (3, True, True), (2, False, True)):
        hyper = {"attention_type": "MX", "heads": heads, "concat": concat, "out_channels": 3, "negative_slope": 0.2,
                 "add_self_loops": True, "bias": True, "dropout": 0.0}
        module = Sampled(FEATURES, 3, heads=heads, concat=concat, neg_sample_ratio=0.5, edge_sample_ratio=0.8,
                         is_undirected=True)
        form = f"supergat_heads{heads}_{'concat' if concat else 'mean'}_{'train' if train else 'eval'}"
        out.append(case(form, "SuperGATConv", module, rng, hyper, train=train, supervision=4.0 if train else None))
    return out


def convolution_cases(rng: np.random.Generator) -> list[dict]:
    two, normed = ["Linear", "ReLU", "Linear"], ["Linear", "BatchNorm1d", "ReLU", "Linear"]
    sage = {"aggr": "mean", "root_weight": True, "bias": True, "normalize": False}
    norm = {"momentum": 0.1, "bn_eps": 1e-5}
    gcn = {"add_self_loops": True, "normalize": True, "bias": True}
    return [
        case("sage", "SAGEConv", SAGEConv(FEATURES, OUT), rng, sage),
        case("sage_no_edge", "SAGEConv", SAGEConv(FEATURES, OUT), rng, sage, edges=0),
        case("gin", "GINConv", gin(two, False), rng, {"eps": 0.0, "train_eps": False, "mlp": two}),
        case("gin_train_eps", "GINConv", gin(two, True), rng, {"train_eps": True, "mlp": two}),
        case("gin_norm", "GINConv", gin(normed, True), rng, {"train_eps": True, "mlp": normed, **norm}),
        case("gin_norm_eval", "GINConv", gin(normed, True), rng, {"train_eps": True, "mlp": normed, **norm},
             train=False),
        case("appnp", "APPNP", APPNP(10, 0.1), rng, {"K": 10, "alpha": 0.1, "add_self_loops": True}),
        case("sgc", "SGConv", SGConv(FEATURES, OUT, K=2), rng, {"K": 2, "add_self_loops": True, "bias": True}),
        case("gcn", "GCNConv", GCNConv(FEATURES, OUT), rng, gcn),
        case("gcn_no_edge", "GCNConv", GCNConv(FEATURES, OUT), rng, gcn, edges=0),
    ]


def module_cases(rng: np.random.Generator) -> list[dict]:
    norm, plain = {"momentum": 0.1, "eps": 1e-5}, {"plain": True}
    shape = {"dropout": lambda _, nodes: (nodes, FEATURES), **plain}
    return [
        case("linear", "Linear", nn.Linear(FEATURES, OUT), rng, {"bias": True}, **plain),
        case("linear_no_bias", "Linear", nn.Linear(FEATURES, OUT, bias=False), rng, {"bias": False}, **plain),
        case("elu", "ELU", nn.ELU(), rng, {"alpha": 1.0}, **plain),
        case("relu", "ReLU", nn.ReLU(), rng, {}, **plain),
        case("leaky_relu", "LeakyReLU", nn.LeakyReLU(0.2), rng, {"negative_slope": 0.2}, **plain),
        case("batchnorm", "BatchNorm1d", nn.BatchNorm1d(FEATURES), rng, norm, **plain),
        case("batchnorm_eval", "BatchNorm1d", nn.BatchNorm1d(FEATURES), rng, norm, train=False, **plain),
        case("dropout", "Dropout", Dropout(0.5), rng, {"p": 0.5}, **shape),
    ]


class Dropout(nn.Module):
    """nn.Dropout by the function that dropout_by replaces."""

    def __init__(self, p: float):
        super().__init__()
        self.p = p

    def forward(self, x):
        return nn.functional.dropout(x, self.p, self.training)


def main() -> None:
    torch.manual_seed(5)
    rng = np.random.default_rng(5)
    write("layers.json", "single layers: outputs and gradients of loss = sum(out * R)",
          {"cases": convolution_cases(rng) + attention_cases(rng) + module_cases(rng)})


if __name__ == "__main__":
    main()
