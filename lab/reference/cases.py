"""What the programs of this folder share: seeded inputs, graphs and the file format."""

import json
import pathlib

import numpy as np
import sklearn
import torch
import torch_geometric

GRID = 4096  # inputs are multiples of 1/GRID: exact in single precision, short as text


def folder() -> pathlib.Path:
    """The folder of the committed vectors."""
    path = pathlib.Path(__file__).resolve().parents[2] / "testdata" / "golden"
    path.mkdir(parents=True, exist_ok=True)
    return path


def write(name: str, about: str, content: dict, rtol: float = 1e-4, atol: float = 1e-5, made_with: str = "") -> None:
    """Writes a file of vectors, in one line a case so that a change is seen where it is."""
    head = {
        "format": 1,
        "about": about,
        "made_with": made_with or f"PyTorch {torch.__version__.split('+')[0]}, PyG {torch_geometric.__version__}, "
        f"scikit-learn {sklearn.__version__}, NumPy {np.__version__}",
        "rtol": rtol,
        "atol": atol,
    }
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    for key, value in content.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            body = ",\n".join(json.dumps(case, separators=(",", ":")) for case in value)
            lines.append(f"{json.dumps(key)}: [\n{body}\n]")
        else:
            lines.append(f"{json.dumps(key)}: {json.dumps(value)}")
    (folder() / name).write_text("{\n" + ",\n".join(lines) + "\n}\n")


def tensor(values, digits: int | None = None) -> dict:
    """A tensor as the files hold it; digits shortens results that are compared loosely."""
    array = values.detach().numpy() if isinstance(values, torch.Tensor) else np.asarray(values, dtype=float)
    return {"shape": list(array.shape), "data": [number(v, digits) for v in array.ravel()]}


def number(value, digits: int | None = None) -> float | int:
    """A number with so many significant digits, or with all of them."""
    value = float(value)
    if digits is not None:
        value = float(f"{value:.{digits}g}")
    return int(value) if value.is_integer() and abs(value) < 1e9 else value


def on_grid(rng: np.random.Generator, *shape: int, scale: float = 1.0) -> torch.Tensor:
    """Normal draws rounded to the grid, in double precision."""
    return torch.tensor(np.round(rng.normal(0, scale, shape) * GRID) / GRID)


def random_graph(rng: np.random.Generator, nodes: int, edges: int, isolated: int = 1) -> np.ndarray:
    """An undirected simple graph whose last nodes are isolated, both directions listed."""
    pairs = [(i, j) for i in range(nodes - isolated) for j in range(i + 1, nodes - isolated)]
    chosen = sorted(pairs[k] for k in rng.choice(len(pairs), size=min(edges, len(pairs)), replace=False))
    both = [p for a, b in chosen for p in ((a, b), (b, a))]
    return np.array(both, dtype=np.int64).reshape(-1, 2).T


def undirected(edge_index: np.ndarray) -> list[tuple[int, int]]:
    """Each edge once, ascending."""
    return sorted((int(a), int(b)) for a, b in edge_index.T if a < b)
