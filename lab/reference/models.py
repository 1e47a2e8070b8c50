"""models.json: whole models by PyTorch Geometric in double precision.

Logits, loss and gradients of every network; for the two forms of the Elliptic
GIN also three steps of Adam and the logits after them.
"""

import copy

import numpy as np
import torch
from torch import nn
from torch_geometric.nn import APPNP, GATConv, GATv2Conv, GCNConv, GINConv, SAGEConv, SGConv

from cases import number, on_grid, random_graph, tensor, write
from layers import Sampled, buffers, dropout_by, fill, keep, with_loops

DIGITS = 7
FEATURES, HIDDEN, CLASSES, NODES, EDGES = 6, 8, 4, 12, 18


class Net(nn.Module):
    """Modules by name, run in order; marked outputs are kept for the file."""

    def __init__(self, steps: list, marks: dict):
        super().__init__()
        self.steps, self.marks = steps, marks
        for name, module in steps:
            if module is not None and not callable_only(module):
                self.add_module(name, module)

    def forward(self, x, edge_index):
        seen = {}
        for name, module in self.steps:
            x = module(x, edge_index) if needs_edges(module) else module(x)
            if name in self.marks:
                seen[self.marks[name]] = x
        return x, seen


def callable_only(module) -> bool:
    return not isinstance(module, nn.Module) or isinstance(module, (nn.ReLU, nn.ELU))


def needs_edges(module) -> bool:
    return hasattr(module, "propagate")


def dropped(p: float):
    def apply(x):
        return nn.functional.dropout(x, p, True)
    return apply


def mlp(*widths: int, norm: bool = False, twice: bool = False) -> nn.Sequential:
    """Linear-(BatchNorm)-ReLU-...-Linear."""
    stack = []
    for k, (before, after) in enumerate(zip(widths, widths[1:])):
        stack.append(nn.Linear(before, after))
        if k < len(widths) - 2:
            stack += [nn.BatchNorm1d(after), nn.ReLU()] if norm else [nn.ReLU()]
    return nn.Sequential(*stack)


def two_layers(first: nn.Module, second: nn.Module, act: nn.Module, p: float = 0.0) -> Net:
    steps = [("conv1", first), ("act1", act), ("conv2", second)]
    if p:
        steps = [("in", dropped(p)), steps[0], steps[1], ("between", dropped(p)), steps[2]]
    return Net(steps, {"conv1": "conv1", "act1": "act1"})


def citation_models() -> list[tuple]:
    """Name, model, hyper parameters, network, sampling layers."""
    classes = {"classes": CLASSES, "dropout": 0.0}
    loops = {"negative_slope": 0.2, "add_self_loops": True}
    gin = {"hidden": HIDDEN, **classes}
    att = {"heads1": 3, "channels1": 2, **loops, **classes}
    plain = "GINConv(Linear-ReLU-Linear)-ReLU-GINConv(Linear-ReLU-Linear)"
    out = [
        ("sage", "sage", {"layers": "SAGEConv-ReLU-SAGEConv", "aggr": "mean", **gin},
         two_layers(SAGEConv(FEATURES, HIDDEN), SAGEConv(HIDDEN, CLASSES), nn.ReLU())),
        ("gin", "gin", {"layers": plain, "train_eps": False, "eps": 0.0, **gin},
         two_layers(GINConv(mlp(FEATURES, HIDDEN, HIDDEN)), GINConv(mlp(HIDDEN, HIDDEN, CLASSES)), nn.ReLU())),
        ("gin_norm", "gin", {"layers": plain.replace("Linear-ReLU", "Linear-BatchNorm1d-ReLU"), "train_eps": True,
                             "momentum": 0.1, "bn_eps": 1e-5, **gin},
         two_layers(GINConv(mlp(FEATURES, HIDDEN, HIDDEN, norm=True), train_eps=True),
                    GINConv(mlp(HIDDEN, HIDDEN, CLASSES, norm=True), train_eps=True), nn.ReLU())),
        ("gcn", "gcn", {"layers": "GCNConv-ReLU-GCNConv", **gin},
         two_layers(GCNConv(FEATURES, HIDDEN), GCNConv(HIDDEN, CLASSES), nn.ReLU())),
        ("mlp", "mlp", {"layers": "Linear-ReLU-Linear", **gin},
         Net([("lin1", nn.Linear(FEATURES, HIDDEN)), ("act", nn.ReLU()), ("lin2", nn.Linear(HIDDEN, CLASSES))],
             {"lin1": "lin1"})),
        ("sgc", "sgc", {"layers": "SGConv", "K": 2, **classes},
         Net([("conv1", SGConv(FEATURES, CLASSES, K=2))], {})),
        ("appnp", "appnp", {"layers": "Linear-ReLU-Linear-APPNP", "K": 10, "alpha": 0.1, **gin},
         Net([("lin1", nn.Linear(FEATURES, HIDDEN)), ("act", nn.ReLU()), ("lin2", nn.Linear(HIDDEN, CLASSES)),
              ("prop", APPNP(10, 0.1))], {"lin1": "lin1", "lin2": "lin2"})),
    ]
    for name, kind in (("gat", GATConv), ("gatv2", GATv2Conv)):
        for p in (0.0, 0.6):
            form = f"{kind.__name__}(heads concat)-ELU-{kind.__name__}(1 head, mean)"
            net = two_layers(kind(FEATURES, 2, heads=3, dropout=p), kind(6, CLASSES, heads=1, concat=False, dropout=p),
                             nn.ELU(), p)
            hyper = {"layers": form, "heads2": 1, **att, "dropout": p}
            out.append((name + ("_dropout" if p else ""), name, hyper, net))
    sampling = {"neg_sample_ratio": 0.5, "edge_sample_ratio": 0.8}
    net = two_layers(Sampled(FEATURES, 2, heads=3, is_undirected=True, **sampling),
                     Sampled(6, CLASSES, heads=2, concat=False, is_undirected=True, **sampling), nn.ELU())
    form = "SuperGATConv(MX, heads concat)-ELU-SuperGATConv(MX, heads mean)"
    out.append(("supergat", "supergat", {"layers": form, "attention_type": "MX", "heads2": 2, **att, **sampling}, net))
    return out


def elliptic(three: bool) -> tuple[Net, list[str]]:
    """The Elliptic GIN as in the notebook, or with the paper's three-layer perceptrons."""
    widths, steps, marks, idle = [FEATURES, 8, 8, 6], [], {}, []
    for k in (1, 2, 3):
        a, b = widths[k - 1], widths[k]
        conv = GINConv(mlp(a, b, b, b, norm=True) if three else mlp(a, b, b), train_eps=True)
        steps.append((f"conv{k}", conv))
        marks[f"conv{k}"] = f"conv{k}"
        if not three:
            steps.append((f"batchnorm{k}", nn.BatchNorm1d(b)))
            marks[f"batchnorm{k}"] = f"batchnorm{k}"
        steps.append((f"act{k}", nn.ReLU()))
        idle += [f"conv{k}.nn.0.bias", f"conv{k}.nn.3.bias"] if three else [f"conv{k}.nn.2.bias"]
    steps.append(("fc1", nn.Linear(6, 5)))
    if not three:
        steps.append(("batchnorm4", nn.BatchNorm1d(5)))
        idle.append("fc1.bias")
    steps += [("act4", nn.ReLU()), ("fc2", nn.Linear(5, 2))]
    marks["act4"] = "fc1_relu" if three else "fc1_bn_relu"
    return Net(steps, marks), idle


def run(net: Net, given: dict, rng: np.random.Generator, name: str, model: str, hyper: dict) -> dict:
    """One pass forwards and backwards; given: x, y, edges, class weights."""
    masks = []
    if hyper["dropout"]:
        p, loops = hyper["dropout"], with_loops(given["edges"], given["x"].shape[0])
        shapes = [given["x"].shape, (loops, hyper["heads1"]), (given["x"].shape[0], 6), (loops, 1)]
        masks = [keep(rng, *shape, p=p) for shape in shapes]
    before = buffers(net)
    x = given["x"].clone().requires_grad_()
    with dropout_by(masks):
        logits, seen = net(x, torch.tensor(given["edges"]))
    entropy = loss_of(logits, given)
    expect = {"layers": {key: tensor(v, DIGITS) for key, v in seen.items()}, "logits": tensor(logits, DIGITS),
              "cross_entropy": number(entropy, DIGITS)}
    total, out = entropy, {}
    sampled = [module for _, module in net.steps if isinstance(module, Sampled)]
    if sampled:
        attention = sum(module.get_attention_loss() for module in sampled)
        total = entropy + 4.0 * attention
        expect["attention_loss"] = number(attention, DIGITS)
        out["supergat"] = {"att_weight": 4.0, "layers": [
            {"pos_edge_index": m.sampled["pos"].tolist(), "neg_edge_index": m.sampled["neg"].tolist()} for m in sampled]}
    total.backward()
    expect |= {"loss": number(total, DIGITS),
               "grads": {"x": tensor(x.grad, DIGITS),
                         "params": {key: tensor(v.grad, DIGITS) for key, v in net.named_parameters()}}}
    if before:
        out["buffers"], expect["buffers_after"] = before, buffers(net, DIGITS)
    if masks:
        out["dropout_masks"] = [tensor(mask) for mask in masks]
    if given.get("weights"):
        out["class_weight"] = given["weights"]
    return {"name": name, "model": model, "hyper": hyper, "mode": "train", "num_nodes": len(given["y"]),
            "num_real_nodes": given.get("real", len(given["y"])), "edge_index": given["edges"].tolist(),
            "inputs": {"x": tensor(given["x"])}, "y": given["y"], "ignore_index": -1,
            "params": {key: tensor(v) for key, v in net.named_parameters()}, **out, "expect": expect}


def loss_of(logits, given: dict):
    weight = torch.tensor(given["weights"], dtype=torch.float64) if given.get("weights") else None
    return nn.functional.cross_entropy(logits, torch.tensor(given["y"]), weight=weight, ignore_index=-1)


def with_stubs(rng: np.random.Generator) -> dict:
    """A slice: real nodes, then stubs with factor times their owner's features and no label."""
    real, count = 14, 6
    edges, x = random_graph(rng, real, 20), on_grid(rng, real, FEATURES)
    owner = sorted(int(i) for i in rng.integers(0, real, count))
    factor = np.round(rng.random(count) * 64) / 64
    stubs = torch.tensor(np.round(x.numpy()[owner] * factor[:, None] * 4096) / 4096)
    joins = np.array([p for k, i in enumerate(owner) for p in ((i, real + k), (real + k, i))]).T
    labels = [int(v) for v in rng.choice([0, 1, -1], real, p=[0.5, 0.3, 0.2])] + [-1] * count
    return {"x": torch.cat([x, stubs]), "edges": np.hstack([edges, joins]), "y": labels, "weights": [1.0, 3.5],
            "real": real}


def adam_steps(net: Net, given: dict, case: dict, idle: list[str]) -> None:
    """Adds three steps of Adam from the case's parameters. The true gradient of the idle
    parameters is 0, so Adam divides rounding by its own size there: wider limits."""
    lr, decay = 0.01, 1e-5
    optimiser = torch.optim.Adam(net.parameters(), lr=lr, weight_decay=decay)
    steps, atol, edges = {}, {"adam/eval_logits": 0.005}, torch.tensor(given["edges"])
    for k in (1, 2, 3):
        optimiser.zero_grad()
        loss = loss_of(net(given["x"], edges)[0], given)
        loss.backward()
        optimiser.step()
        steps[f"step{k}"] = {"loss": number(loss, DIGITS), "buffers": buffers(net, DIGITS),
                             "params": {key: tensor(v, DIGITS) for key, v in net.named_parameters()}}
        atol |= {f"adam/step{k}/params/{name}": 0.1 * lr * k for name in idle}
        if k > 1:
            atol |= {f"adam/step{k}/buffers/{name}": 5e-4 for name in buffers(net) if name.endswith("running_mean")}
    net.eval()
    steps["eval_logits"] = tensor(net(given["x"], edges)[0], DIGITS)
    case |= {"adam": {"lr": lr, "weight_decay": decay, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "steps": 3},
             "zero_gradient_params": idle, "atol": atol}
    case["expect"]["adam"] = steps


def main() -> None:
    torch.manual_seed(7)
    rng = np.random.default_rng(7)
    cases = []
    for name, model, hyper, net in citation_models():
        net = net.double()
        fill(net, rng)
        given = {"x": on_grid(rng, NODES, FEATURES), "edges": random_graph(rng, NODES, EDGES),
                 "y": [int(v) for v in rng.choice([0, 1, 2, 3, -1], NODES)]}
        cases.append(run(net.train(), given, rng, name, model, hyper))
    for three, name in ((False, "elliptic_gin"), (True, "elliptic_gin_mlp3")):
        net, idle = elliptic(three)
        fill(net.double(), rng)
        given, fresh = with_stubs(rng), copy.deepcopy(net)
        hyper = {"layers": "three-layer perceptrons" if three else "as in the notebook",
                 "widths": [FEATURES, 8, 8, 6, 5, 2], "momentum": 0.1, "bn_eps": 1e-5, "classes": 2, "dropout": 0.0}
        cases.append(run(net.train(), given, rng, name, name, hyper))
        adam_steps(fresh.train(), given, cases[-1], idle)
    write("models.json", "whole models: logits, loss, gradients; Adam for the Elliptic networks", {"cases": cases})


if __name__ == "__main__":
    main()
