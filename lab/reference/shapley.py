"""shap.json: what each feature adds to the score of random trees, by the shap package's TreeSHAP."""

import numpy as np
import shap

from cases import GRID, number, tensor, write

FEATURES, TREES, DEPTH, ROWS = 8, 12, 6, 100


def grow(rng: np.random.Generator) -> dict:
    """A random tree in preorder, as lists. Features come again on the way down, as they do in fits."""
    tree = {k: [] for k in ("left", "right", "default", "feature", "threshold", "value", "cover")}

    def node(depth: int, cover: float) -> int:
        at = len(tree["left"])
        for column in tree.values():
            column.append(-1)
        tree["cover"][at], tree["value"][at], tree["threshold"][at] = cover, 0, 0
        if depth == DEPTH or (depth > 1 and rng.random() < 0.2):
            tree["value"][at] = round(rng.normal() * GRID) / GRID
            return at
        share = rng.integers(1, 8) / 8
        tree["feature"][at] = int(rng.integers(FEATURES))
        tree["threshold"][at] = round(rng.normal() * GRID) / GRID
        tree["left"][at] = node(depth + 1, cover * share)
        tree["right"][at] = node(depth + 1, cover * (1 - share))
        tree["default"][at] = tree["left" if rng.random() < 0.5 else "right"][at]
        return at

    node(0, float(8**DEPTH))
    return tree


def for_shap(tree: dict) -> dict:
    whole = {"children_left": "left", "children_right": "right", "children_default": "default", "features": "feature"}
    out = {name: np.array(tree[key], dtype=np.int32) for name, key in whole.items()}
    out["thresholds"] = np.array(tree["threshold"], dtype=np.float64)
    out["values"] = np.array(tree["value"], dtype=np.float64)[:, None]
    out["node_sample_weight"] = np.array(tree["cover"], dtype=np.float64)
    return out


def main() -> None:
    rng = np.random.default_rng(31)
    trees = [grow(rng) for _ in range(TREES)]
    rows = np.round(rng.normal(0, 1.5, (ROWS, FEATURES)) * GRID) / GRID
    rows[rng.random(rows.shape) < 0.15] = np.nan
    explainer = shap.TreeExplainer({"trees": [for_shap(t) for t in trees]}, feature_perturbation="tree_path_dependent")
    values = explainer.shap_values(rows, check_additivity=False)
    assert np.isfinite(values).all() and np.abs(values).max() > 0.1
    case = {
        "name": "random trees", "trees": trees,
        "rows": [[None if np.isnan(v) else number(v) for v in row] for row in rows],
        "expect": {"expected": float(np.ravel(explainer.expected_value)[0]), "terms": tensor(values)},
    }
    write("shap.json", "contributions of features to the scores of trees", {"cases": [case]}, rtol=0, atol=1e-6,
          made_with=f"shap {shap.__version__}, NumPy {np.__version__}")


if __name__ == "__main__":
    main()
