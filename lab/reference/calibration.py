"""calibration.json: probabilities from logits, by scikit-learn's two calibrations."""

import numpy as np
from sklearn.calibration import _SigmoidCalibration
from sklearn.isotonic import IsotonicRegression

from cases import GRID, write


def calibrated(name: str, rng: np.random.Generator, rows: int, levels: int | None = None, reversed_=False) -> dict:
    """Logits that are too sure of themselves; with levels, few distinct ones, so that many tie."""
    z = rng.normal(-1, 3, rows)
    y = (rng.random(rows) < 1 / (1 + np.exp(z if reversed_ else -z / 2 + 0.5))).astype(int)
    z = np.round(z * GRID) / GRID if levels is None else np.round(z * levels / 8) * 8 / levels
    at = np.sort(np.concatenate([z[:10], np.round(rng.normal(-1, 5, 20) * GRID) / GRID]))
    platt = _SigmoidCalibration().fit(z, y).predict(at)
    isotonic = IsotonicRegression(out_of_bounds="clip").fit(z, y).predict(at)
    return {"name": name, "logits": z.tolist(), "y": y.tolist(), "at": at.tolist(),
            "expect": {"platt": None if reversed_ else platt.tolist(), "isotonic": isotonic.tolist()}}


def main() -> None:
    rng = np.random.default_rng(31)
    cases = [calibrated("smooth", rng, 150), calibrated("ties", rng, 120, 8), calibrated("few", rng, 12),
             calibrated("reversed", rng, 60, None, True)]
    write("calibration.json", "probabilities from logits", {"cases": cases}, rtol=1e-4, atol=1e-5)


if __name__ == "__main__":
    main()
