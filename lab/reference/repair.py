"""repair.json: subgraph repair by its definition, node by node.

Every neighbour that a node loses to another shard becomes a stub of its own,
joined to the node alone, with features 0 (zero), the node's (mirror) or lambda
times the node's (mixup).
"""

import numpy as np

from cases import on_grid, random_graph, tensor, undirected, write


def case(name: str, rng: np.random.Generator, nodes: int, edges: int, shards: int, features: int) -> dict:
    edge_index = random_graph(rng, nodes, edges)
    pairs = undirected(edge_index)
    x = on_grid(rng, nodes, features).numpy()
    assignment = rng.integers(0, shards, nodes) if shards > 1 else np.zeros(nodes, int)
    neighbours = {i: [b if a == i else a for a, b in pairs if i in (a, b)] for i in range(nodes)}
    expected = []
    for shard in range(shards):
        own = [i for i in range(nodes) if assignment[i] == shard]
        missing = [[i, sum(assignment[j] != shard for j in neighbours[i])] for i in own]
        owner = [i for i, lost in missing for _ in range(lost)]
        factor = np.round(rng.random(len(owner)) * 4096) / 4096
        at = {i: k for k, i in enumerate(own)}
        inner = [[at[a], at[b]] for a, b in pairs if a in at and b in at]
        stubs = [[at[i], len(own) + k] for k, i in enumerate(owner)]
        mirror = x[owner] if owner else np.zeros((0, features))
        expected.append({
            "shard": shard, "nodes": own, "missing": [[i, int(lost)] for i, lost in missing],
            "degree": [len(neighbours[i]) for i in own], "stub_owner": owner, "lambda": factor.tolist(),
            "repaired": {
                "num_nodes": len(own) + len(owner), "num_real_nodes": len(own),
                "num_edges_undirected": len(inner) + len(stubs), "edges": sorted(inner) + stubs,
                "x_zero": tensor(np.zeros_like(mirror)), "x_mirror": tensor(mirror),
                "x_mixup": tensor(mirror * factor[:, None], 9),
            },
        })
    return {
        "name": name, "num_nodes": nodes, "num_shards": shards, "edge_index": edge_index.tolist(),
        "inputs": {"x": tensor(x)}, "assignment": assignment.tolist(),
        "expect": {"cut_edges": sum(int(assignment[a] != assignment[b]) for a, b in pairs), "shards": expected},
    }


def main() -> None:
    rng = np.random.default_rng(29)
    write("repair.json", "subgraph repair", {"cases": [
        case("two_shards", rng, 10, 16, 2, 4),
        case("five_shards", rng, 18, 34, 5, 3),
        case("more_shards_than_nodes", rng, 6, 8, 9, 3),
        case("one_shard", rng, 8, 10, 1, 4),
    ]})


if __name__ == "__main__":
    main()
