"""optim.json: steps of Adam and AdamW, and weighted cross entropy, by PyTorch in double precision."""

import numpy as np
import torch

from cases import number, on_grid, tensor, write

DIGITS = 9


def adam(name: str, rng: np.random.Generator, decoupled: bool, **hyper) -> dict:
    """Five steps on given gradients; some gradients are exactly 0."""
    params = {"w": on_grid(rng, 4, 3), "b": on_grid(rng, 4)}
    steps = [{key: on_grid(rng, *value.shape) for key, value in params.items()} for _ in range(5)]
    for grads in steps:
        grads["w"][0, 0] = 0
    steps[2]["b"].zero_()
    live = {key: value.clone().requires_grad_() for key, value in params.items()}
    kind = torch.optim.AdamW if decoupled else torch.optim.Adam
    optimiser = kind(
        live.values(), lr=hyper["lr"], betas=(hyper["beta1"], hyper["beta2"]), eps=hyper["eps"],
        weight_decay=hyper["weight_decay"],
    )
    after = []
    for grads in steps:
        for key, value in live.items():
            value.grad = grads[key].clone()
        optimiser.step()
        state = {key: optimiser.state[value] for key, value in live.items()}
        after.append({
            "params": {key: tensor(value, DIGITS) for key, value in live.items()},
            "m": {key: tensor(state[key]["exp_avg"], DIGITS) for key in live},
            "v": {key: tensor(state[key]["exp_avg_sq"], DIGITS) for key in live},
        })
    return {
        "name": name, "op": "AdamW" if decoupled else "Adam", "hyper": hyper,
        "params": {key: tensor(value) for key, value in params.items()},
        "grads": [{key: tensor(value) for key, value in grads.items()} for grads in steps],
        "expect": {"steps": after},
    }


def cross_entropy(name: str, rng: np.random.Generator, rows: int, classes: int, **more) -> dict:
    """Rows with label -1 carry no loss; without any label there is no loss at all."""
    logits = on_grid(rng, rows, classes, scale=more.get("scale", 1.0)).requires_grad_()
    labels = rng.integers(0, classes, rows)
    labels[rng.random(rows) < more.get("ignored", 0.3)] = -1
    weights = more.get("weights")
    expect = {"loss": None, "grad_logits": None}
    if (labels >= 0).any():
        weight = None if weights is None else torch.tensor(weights, dtype=torch.float64)
        loss = torch.nn.functional.cross_entropy(logits, torch.tensor(labels), weight=weight, ignore_index=-1)
        loss.backward()
        expect = {"loss": number(loss, DIGITS), "grad_logits": tensor(logits.grad, DIGITS)}
    hyper = {"ignore_index": -1, "reduction": "mean"}
    if weights is not None:
        hyper["class_weight"] = weights
    return {
        "name": name, "op": "CrossEntropy", "hyper": hyper, "logits": tensor(logits),
        "y": [int(y) for y in labels], "expect": expect,
    }


def main() -> None:
    rng = np.random.default_rng(20261122)
    usual = {"lr": 0.01, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8}
    write("optim.json", "Adam, AdamW and cross entropy", {"cases": [
        adam("adam", rng, False, **usual, weight_decay=0.0),
        adam("adam_decay", rng, False, **usual, weight_decay=5e-4),
        adam("adam_other_betas", rng, False, lr=0.1, beta1=0.8, beta2=0.99, eps=1e-6, weight_decay=0.01),
        adam("adamw", rng, True, **usual, weight_decay=0.01),
        cross_entropy("plain", rng, 12, 4),
        cross_entropy("weighted", rng, 15, 2, weights=[1.0, 5.5]),
        cross_entropy("a_weight_of_0", rng, 12, 3, weights=[1.0, 0.0, 2.0]),
        cross_entropy("large_logits", rng, 10, 3, scale=200.0),
        cross_entropy("no_label", rng, 6, 3, ignored=1.1),
    ]})


if __name__ == "__main__":
    main()
