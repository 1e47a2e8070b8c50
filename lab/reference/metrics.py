"""metrics.json: figures of quality by scikit-learn."""

import numpy as np
from sklearn import metrics

from cases import tensor, write


def of_predictions(y: np.ndarray, pred: np.ndarray, classes: int) -> dict:
    every = list(range(classes))
    precision, recall, f1, support = metrics.precision_recall_fscore_support(y, pred, labels=every, zero_division=0)
    return {
        "accuracy": float(metrics.accuracy_score(y, pred)),
        "confusion": tensor(metrics.confusion_matrix(y, pred, labels=every)),
        "precision": precision.tolist(), "recall": recall.tolist(), "f1": f1.tolist(), "support": [int(n) for n in support],
        "macro_f1": float(f1.mean()),
        "macro_f1_present": float(metrics.f1_score(y, pred, average="macro", zero_division=0)),
    }


def calibration_error(y: np.ndarray, score: np.ndarray, bins: int = 15) -> float:
    """The formula of Naeini et al. for the positive class; numpy counts the bins, the last one with both ends."""
    edges = np.linspace(0, 1, bins + 1)
    count, weight = np.histogram(score, edges)[0], np.histogram(score, edges, weights=score)[0]
    positives = np.histogram(score, edges, weights=y.astype(float))[0]
    some = count > 0
    return float((count[some] / len(y) * np.abs(positives[some] / count[some] - weight[some] / count[some])).sum())


def best_f1(y: np.ndarray, score: np.ndarray) -> float | None:
    """The best F1 of any threshold."""
    return max(float(metrics.f1_score(y, score >= t)) for t in np.unique(score)) if y.sum() else None


def binary(name: str, y: np.ndarray, score: np.ndarray, threshold: float = 0.5) -> dict:
    """Scores are multiples of 1/1024 or fewer levels, so that ties stay ties."""
    pred = (score >= threshold).astype(int)
    both = 0 < y.sum() < len(y)
    return {
        "name": name, "classes": 2, "y": y.tolist(), "score": score.tolist(), "threshold": threshold,
        "pred": pred.tolist(),
        "expect": {
            "roc_auc": float(metrics.roc_auc_score(y, score)) if both else None,
            "average_precision": float(metrics.average_precision_score(y, score)) if y.sum() else None,
            "expected_calibration_error": calibration_error(y, score), "best_f1": best_f1(y, score),
            **of_predictions(y, pred, 2),
        },
    }


def several(name: str, rng: np.random.Generator, rows: int, classes: int, never_true=(), never_said=()) -> dict:
    y = rng.choice([c for c in range(classes) if c not in never_true], rows)
    said = [c for c in range(classes) if c not in never_said]
    right = rng.random(rows) < 0.6
    pred = np.where(right & np.isin(y, said), y, rng.choice(said, rows))
    return {"name": name, "classes": classes, "y": y.tolist(), "pred": pred.tolist(),
            "expect": of_predictions(y, pred, classes)}


def main() -> None:
    rng = np.random.default_rng(17)
    y = (rng.random(200) < 0.2).astype(int)
    fine = np.round(np.clip(0.3 * y + rng.normal(0.3, 0.2, 200), 0, 1) * 1024) / 1024
    coarse = np.round(fine * 5) / 8
    few = np.array([0, 1, 1, 0, 1, 0])
    cases = [
        binary("continuous", y, fine), binary("ties", y, coarse), binary("other_threshold", y, fine, 0.25),
        binary("no_positive", np.zeros(8, int), fine[:8]), binary("only_positives", np.ones(8, int), fine[:8]),
        binary("all_tied", few, np.full(6, 0.5)), binary("perfect", few, few * 0.75 + 0.125),
        binary("reversed", few, 0.875 - few * 0.75),
        several("four_classes", rng, 80, 4), several("never_true", rng, 60, 5, never_true=[4]),
        several("never_said", rng, 60, 5, never_said=[2]),
        several("neither", rng, 50, 4, never_true=[3], never_said=[3]),
    ]
    write("metrics.json", "figures of quality", {"cases": cases}, rtol=1e-9, atol=1e-10)


if __name__ == "__main__":
    main()
