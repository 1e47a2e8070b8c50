"""stack.json: regularised regressions of a few logits, by scikit-learn and by SciPy."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from cases import GRID, tensor, write


def logits(rng: np.random.Generator, rows: int, skill: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """Classes and, per component, a logit that knows them as well as its skill says; below 0 it says the opposite."""
    y = (rng.random(rows) < 0.3).astype(int)
    y[:2] = [0, 1]
    shared = rng.normal(0, 1, rows)
    z = np.column_stack([s * (4 * y - 2) + shared + rng.normal(0, 1, rows) - 1 for s in skill])
    return y, np.round(z * GRID) / GRID


def plain(name: str, rng: np.random.Generator, rows: int, skill: list[float], c: float) -> dict:
    """scikit-learn's regression: pulled towards 0, no bounds, the intercept free."""
    y, z = logits(rng, rows, skill)
    fit = LogisticRegression(C=c, tol=1e-12, max_iter=10_000, solver="newton-cholesky").fit(z, y)
    return {"name": name, "kind": "plain", "l2": 1 / c, "y": y.tolist(), "logits": tensor(z),
            "expect": {"coefficients": fit.coef_[0].tolist(), "intercept": float(fit.intercept_[0])}}


def stacked(name: str, rng: np.random.Generator, rows: int, skill: list[float], l2: float, intercept_l2: float) -> dict:
    """The objective of package stack, by L-BFGS-B: pulled towards the mean, coefficients not negative."""
    y, z = logits(rng, rows, skill)
    k = len(skill)
    centre = np.append(np.full(k, 1 / k), 0)
    pull = np.append(np.full(k, l2), intercept_l2)
    x = np.column_stack([z, np.ones(rows)])

    def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
        s = x @ w
        return (float((np.logaddexp(0, s) - y * s).sum() + (pull * (w - centre) ** 2).sum() / 2),
                x.T @ (expit(s) - y) + pull * (w - centre))

    bounds = [(0, None)] * k + [(None, None)]
    fit = minimize(objective, centre, jac=True, method="L-BFGS-B", bounds=bounds,
                   options={"ftol": 1e-16, "gtol": 1e-10, "maxiter": 10_000})
    return {"name": name, "kind": "stack", "l2": l2, "intercept_l2": intercept_l2, "y": y.tolist(), "logits": tensor(z),
            "expect": {"coefficients": fit.x[:k].tolist(), "intercept": float(fit.x[k])}}


def main() -> None:
    rng = np.random.default_rng(29)
    cases = [
        plain("two", rng, 60, [1, 0.5], 0.05), plain("strong", rng, 40, [0.7, 0.7, 0.2], 0.005),
        plain("free", rng, 50, [0.5, -0.3], 10), stacked("four", rng, 80, [1, 0.8, 0.6, 0.2], 20, 1),
        stacked("against", rng, 80, [0.8, -0.6, 0.5], 2, 0), stacked("one_helps", rng, 60, [-0.5, 1, -0.7, -0.2], 0.5, 1),
        stacked("few", rng, 6, [1, 0.3], 20, 1),
    ]
    write("stack.json", "regressions of logits", {"cases": cases}, rtol=1e-5, atol=1e-5)


if __name__ == "__main__":
    main()
