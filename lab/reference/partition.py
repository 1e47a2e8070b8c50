"""partition.json: scores, the generalised power iteration and GPFB-SR's three steps by their formulas, in NumPy.

Formulas: Wang, Huai and Wang, "Inductive Graph Unlearning" (USENIX Security
2023), with the corrections that docs/partition.md names: the objective decides
where the printed listing differs from it, a shift makes the iteration ascend,
and the indicator is found by true coordinate ascent.
"""

import numpy as np

from cases import random_graph, tensor, undirected, write


def scores(name: str, rng: np.random.Generator, nodes: int, shards: int, classes: int, **more) -> dict:
    edge_index = random_graph(rng, nodes, 2 * nodes)
    y = rng.integers(0, classes, nodes)
    assignment = rng.integers(0, more.get("used", shards), nodes)
    if more.get("even"):
        assignment = np.arange(nodes) % shards
    sizes = np.bincount(assignment, minlength=shards)
    counts = np.array([[int(((assignment == i) & (y == c)).sum()) for c in range(classes)] for i in range(shards)])
    whole = np.bincount(y, minlength=classes) / nodes
    # An empty shard deviates in balance and not in fairness; the divisor stays.
    fairness = sum(np.abs(counts[i] / sizes[i] - whole).sum() for i in range(shards) if sizes[i])
    pairs = undirected(edge_index)
    cut = sum(int(assignment[a] != assignment[b]) for a, b in pairs)
    return {
        "name": name, "num_nodes": nodes, "num_shards": shards, "num_classes": classes,
        "edge_index": edge_index.tolist(), "y": y.tolist(), "assignment": assignment.tolist(),
        "expect": {"shard_sizes": sizes.tolist(), "label_counts": tensor(counts),
                   "balance_score": -0.5 * float(np.abs(sizes - nodes / shards).sum()) / nodes,
                   "fairness_score": -float(fairness) / (2 * shards),
                   "cut_edges": cut, "total_edges": len(pairs), "cut_ratio": cut / len(pairs)},
    }


def polar(p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    u, sigma, vt = np.linalg.svd(p, full_matrices=False)
    return u @ vt, sigma


def one_hot(y: np.ndarray, columns: int) -> np.ndarray:
    return np.eye(columns)[y]


def even_share(f: np.ndarray, shards: int) -> np.ndarray:
    """M-tilde: |C_s| / sqrt(n v) in every column."""
    return np.repeat(f.sum(0)[:, None], shards, axis=1) / np.sqrt(len(f) * shards)


def power(name: str, rng: np.random.Generator, nodes: int, shards: int, classes: int, alpha: float, norm: bool) -> dict:
    pairs = undirected(random_graph(rng, nodes, 2 * nodes, isolated=0))
    values = np.round(rng.uniform(0.25, 2, len(pairs)) * 64) / 64
    w = np.zeros((nodes, nodes))
    for (a, b), value in zip(pairs, values):
        w[a, b] = w[b, a] = value
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, nodes - classes)])
    f, degree = one_hot(y, classes), w.sum(1)
    if norm:
        root = np.where(degree > 0, 1 / np.sqrt(np.maximum(degree, 1e-300)), 0)
        base, shift = root[:, None] * w * root, 1 + alpha * f.sum(0).max()
    else:
        base, shift = w - np.diag(degree), 2 * degree.max() + alpha * f.sum(0).max()
    a = base + shift * np.eye(nodes) - alpha * f @ f.T
    m = even_share(f, shards)
    h, _ = polar(rng.normal(size=(nodes, shards)))
    start = h

    def objective(h: np.ndarray) -> float:
        return float(np.trace(h.T @ a @ h) + 2 * alpha * np.trace(h.T @ f @ m))

    course, iterations = [objective(h)], []
    for _ in range(5):
        p = a @ h + alpha * f @ m
        h, sigma = polar(p)
        course.append(objective(h))
        iterations.append({"P": tensor(p), "H": tensor(h), "singular_values": sigma.tolist()})
    return {
        "name": name, "num_nodes": nodes, "num_shards": shards, "num_classes": classes, "alpha": alpha,
        "matrix": "normalised" if norm else "unnormalised",
        "W": {"symmetric": True, "i": [p[0] for p in pairs], "j": [p[1] for p in pairs], "value": values.tolist()},
        "y": y.tolist(), "shift": float(shift), "H0": tensor(start),
        "expect": {"degree": degree.tolist(), "M_tilde": tensor(m), "objective": course, "iterations": iterations},
    }


def quotient(top: float, below: float) -> float:
    return top / np.sqrt(below) if below > 0 else 0.0


def ascend(g: np.ndarray, degree: np.ndarray, y: np.ndarray, shards: int) -> dict:
    """Coordinate ascent on the trace that the rotation leaves: passes until nothing changes."""
    y = y.copy()
    a = np.array([g[y == j, j].sum() for j in range(shards)])
    b = np.array([degree[y == j].sum() for j in range(shards)])

    def objective() -> float:
        return sum(quotient(a[j], b[j]) for j in range(shards))

    course, passes = [objective()], []
    while True:
        gains, changed = np.zeros_like(g), 0
        for i in range(len(y)):
            own = np.arange(shards) == y[i]
            for j in range(shards):
                with_i = quotient(a[j] + g[i, j] * (not own[j]), b[j] + degree[i] * (not own[j]))
                without = quotient(a[j] - g[i, j] * own[j], b[j] - degree[i] * own[j])
                gains[i, j] = with_i - without
            best = int(np.argmax(gains[i]))
            if best != y[i]:
                a[y[i]], b[y[i]] = a[y[i]] - g[i, y[i]], b[y[i]] - degree[i]
                a[best], b[best] = a[best] + g[i, best], b[best] + degree[i]
                y[i], changed = best, changed + 1
        passes.append({"assignment": y.tolist(), "changed": changed, **({} if passes else {"c": tensor(gains)})})
        course.append(objective())
        if changed == 0:
            return {"objective": course, "passes": passes}


def rotation(name: str, rng: np.random.Generator, nodes: int, shards: int, classes: int, alpha: float, beta: float):
    edge_index = random_graph(rng, nodes, 2 * nodes, isolated=2)
    kept = sorted({int(i) for i in edge_index.ravel()})
    n, at = len(kept), {i: k for k, i in enumerate(kept)}
    w = np.zeros((n, n))
    for a, b in undirected(edge_index):
        w[at[a], at[b]] = w[at[b], at[a]] = 1
    degree, y = w.sum(1), rng.integers(0, classes, n)
    f = one_hot(y, classes)
    m, shift = even_share(f, shards), 2 * degree.max() + alpha * f.sum(0).max()
    h, _ = polar(rng.normal(size=(n, shards)))
    shard = np.concatenate([np.arange(shards), rng.integers(0, shards, n - shards)])
    indicator = one_hot(shard, shards)
    mass = (indicator * degree[:, None]).sum(0)
    # G = D^-1/2 Y (Y' D Y)^-1/2
    big_g = indicator / np.sqrt(degree)[:, None] / np.sqrt(mass)
    r, sigma = polar(h.T @ big_g)
    a = w - np.diag(degree) + shift * np.eye(n) - alpha * f @ f.T
    steps = {}
    for form, linear in (("printed", alpha * f @ m + beta * big_g), ("rotated", alpha * f @ m + beta * big_g @ r.T)):
        p = a @ h + linear
        after, _ = polar(p)
        course = [float(np.trace(k.T @ a @ k) + 2 * np.trace(k.T @ linear)) for k in (h, after)]
        steps[form] = {"A": tensor(linear), "P": tensor(p), "H": tensor(after), "objective": course}
    rotated = h @ r
    g = rotated / np.sqrt(degree)[:, None]
    return {
        "name": name, "num_nodes": nodes, "edge_index": edge_index.tolist(), "kept": kept, "num_shards": shards,
        "num_classes": classes, "alpha": alpha, "beta": beta, "y": y.tolist(), "shift": float(shift), "H": tensor(h),
        "Y": shard.tolist(),
        "expect": {"degree": degree.tolist(), "M_tilde": tensor(m), "G": tensor(big_g), "HtG": tensor(h.T @ big_g),
                   "R": tensor(r), "rotation_singular_values": sigma.tolist(), "h_step": steps,
                   "H_tilde": tensor(rotated), "g": tensor(g), "y_step_ascent": ascend(g, degree, shard, shards)},
    }


def main() -> None:
    rng = np.random.default_rng(11)
    write("partition.json", "scores, generalised power iteration, spectral rotation", {
        "scores": [
            scores("even", rng, 24, 4, 3, even=True), scores("random", rng, 20, 3, 4),
            scores("empty_shards", rng, 15, 6, 2, used=3), scores("one_shard", rng, 12, 1, 3),
        ],
        "gpfb": [
            power("unnormalised", rng, 12, 3, 2, 0.01, False), power("unnormalised_fair", rng, 14, 3, 3, 0.5, False),
            power("normalised", rng, 15, 4, 3, 0.1, True),
        ],
        "gpfb_sr": [
            rotation("two_classes", rng, 14, 3, 2, 0.01, 1.0), rotation("three_classes", rng, 17, 4, 3, 0.1, 3.0),
        ],
    }, rtol=1e-9, atol=1e-10)


if __name__ == "__main__":
    main()
