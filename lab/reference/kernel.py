"""kernel.json: the pyramid match kernel by its formula, in NumPy.

Nikolentzos, Meladianos and Vazirgiannis, "Matching Node Embeddings for Graph
Similarity" (AAAI 2017). Graphs are drawn until nothing depends on the sign of an
eigenvector, on a tie or on rounding at the border of a cell.
"""

import numpy as np

from cases import random_graph, tensor, write

DIMENSIONS, FINEST = 6, 4


def embed(edge_index: np.ndarray, nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Absolute entries of the eigenvectors with the largest eigenvalues by size."""
    a = np.zeros((nodes, nodes))
    a[edge_index[0], edge_index[1]] = 1
    values, vectors = np.linalg.eigh(a)
    order = np.argsort(-np.abs(values), kind="stable")
    entries = np.zeros((nodes, DIMENSIONS))
    width = min(DIMENSIONS, nodes)
    entries[:, :width] = np.abs(vectors[:, order[:width]])
    return values[order], entries


def border_distance(entries: np.ndarray) -> float:
    """How near an entry lies to an inner border of the finest level."""
    scaled = entries[:, :] * 2**FINEST
    inner = np.round(scaled)
    distance = np.abs(scaled - inner)[(inner > 0) & (inner < 2**FINEST)]
    return float(distance.min() / 2**FINEST) if distance.size else 1.0


def histograms(entries: np.ndarray) -> list[np.ndarray]:
    levels = []
    for level in range(FINEST + 1):
        cells = np.minimum((entries * 2**level).astype(int), 2**level - 1)
        levels.append(np.array([np.bincount(cells[:, d], minlength=2**level) for d in range(entries.shape[1])]))
    return levels


def match(a: list[np.ndarray], b: list[np.ndarray], finest: int) -> tuple[list[float], float]:
    shared = [float(np.minimum(a[level], b[level]).sum()) for level in range(finest + 1)]
    k = shared[finest]
    k += sum((shared[level] - shared[level + 1]) / 2 ** (finest - level) for level in range(finest))
    return shared, k


def settled(values: np.ndarray, entries: np.ndarray) -> bool:
    """No two of the eigenvalues in use tie in size, none is near 0, no entry is near a border."""
    used = np.abs(values[: DIMENSIONS + 1])
    width = min(DIMENSIONS, len(values))
    apart = len(used) < 2 or np.min(used[:-1] - used[1:]) > 0.03
    return bool(apart and used[width - 1] > 0.05 and border_distance(entries) > 2e-4)


def draw(rng: np.random.Generator, nodes: int) -> np.ndarray:
    while True:
        edge_index = random_graph(rng, nodes, int(rng.integers(nodes, 2 * nodes)), isolated=0)
        if settled(*embed(edge_index, nodes)):
            return edge_index


def main() -> None:
    rng = np.random.default_rng(13)
    graphs, levels = [], []
    for k, nodes in enumerate((8, 11, 5, 16)):
        edge_index = draw(rng, nodes)
        values, entries = embed(edge_index, nodes)
        levels.append(histograms(entries))
        graphs.append({"name": f"graph{k}", "num_nodes": nodes, "edge_index": edge_index.tolist(),
                       "eigenvalues_by_magnitude": values[: DIMENSIONS + 1].tolist(), "embedding": tensor(entries)})
    pairs = []
    for a in range(len(graphs)):
        for b in range(a, len(graphs)):
            by_level = {}
            for finest in (4, 3):
                shared, k = match(levels[a], levels[b], finest)
                own = [match(levels[x], levels[x], finest)[1] for x in (a, b)]
                by_level[str(finest)] = {"I": shared, "k": k, "k_normalised": k / float(np.sqrt(own[0] * own[1]))}
            pairs.append({"a": a, "b": b, "by_finest_level": by_level})
    write("kernel.json", "pyramid match graph kernel", {"d": DIMENSIONS, "graphs": graphs, "pairs": pairs},
          rtol=1e-9, atol=1e-10)


if __name__ == "__main__":
    main()
