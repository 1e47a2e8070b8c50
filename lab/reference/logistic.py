"""logistic.json: regularised logistic regressions of standardised features, by SciPy's L-BFGS-B and by scikit-learn."""

import numpy as np
import scipy
import sklearn
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression

from cases import GRID, tensor, write


def rows(rng: np.random.Generator, count: int, cols: int, classes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features of different sizes, the last one of the same value everywhere, with classes that depend on them."""
    x = rng.normal(0, 1, (count, cols)) * 10.0 ** rng.integers(-1, 2, cols)
    x[:, -1] = 3
    scores = (x / x.std(axis=0).clip(1e-9)) @ rng.normal(0, 1, (cols, classes))
    y = (scores + rng.gumbel(0, 1, scores.shape)).argmax(axis=1)
    y[:classes] = np.arange(classes)
    return np.round(x * GRID) / GRID, y, rng.integers(1, 9, count) / 4


def fitted(name: str, rng: np.random.Generator, count: int, cols: int, classes: int, l2: float) -> dict:
    """Probabilities of the rows at the minimum of the summed losses and l2/2 of the squared weights, intercepts free."""
    x, y, weight = rows(rng, count, cols, classes)
    x = np.float32(x).astype(float)
    scale = x.std(axis=0)
    z = np.where(scale > 1e-12 * abs(x.mean(axis=0)), (x - x.mean(axis=0)) / np.where(scale > 0, scale, 1), 0)
    z = np.column_stack([z, np.ones(count)])
    outputs = 1 if classes == 2 else classes
    pull = np.append(np.full(cols, l2), 0)

    def full(w: np.ndarray) -> np.ndarray:
        s = z @ w.reshape(outputs, cols + 1).T
        return np.column_stack([np.zeros(count), s]) if outputs == 1 else s

    def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
        s = full(w)
        log_p = s - logsumexp(s, axis=1, keepdims=True)
        d = (np.exp(log_p) - np.eye(classes)[y]) * weight[:, None]
        square = w.reshape(outputs, cols + 1)
        loss = -(weight * log_p[np.arange(count), y]).sum() + (pull * square**2).sum() / 2
        return float(loss), (d[:, -outputs:].T @ z + pull * square).ravel()

    fit = minimize(objective, np.zeros(outputs * (cols + 1)), jac=True, method="L-BFGS-B",
                   options={"ftol": 1e-16, "gtol": 1e-9, "maxiter": 10_000, "maxfun": 100_000})
    s = full(fit.x)
    p = np.exp(s - logsumexp(s, axis=1, keepdims=True))
    other = LogisticRegression(C=1 / l2, tol=1e-10, max_iter=10_000).fit(z[:, :cols], y, sample_weight=weight)
    assert np.abs(other.predict_proba(z[:, :cols]) - p).max() < 1e-4, "SciPy and scikit-learn differ"
    return {"name": name, "classes": classes, "l2": l2, "x": tensor(x), "y": y.tolist(), "weights": weight.tolist(),
            "expect": {"probabilities": tensor(p, 9), "loss": float(-(weight * np.log(p[np.arange(count), y])).sum()
                                                                    / weight.sum())}}


def main() -> None:
    rng = np.random.default_rng(42)
    cases = [fitted("two", rng, 60, 5, 2, 1), fitted("two_weak", rng, 40, 4, 2, 0.01), fitted("three", rng, 50, 4, 3, 1),
             fitted("strong", rng, 30, 8, 2, 50)]
    write("logistic.json", "logistic regressions of features", {"cases": cases}, rtol=1e-4, atol=2e-4,
          made_with=f"SciPy {scipy.__version__}, scikit-learn {sklearn.__version__}, NumPy {np.__version__}")


if __name__ == "__main__":
    main()
