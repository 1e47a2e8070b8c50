"""LightGBM's side of the comparison: fits and predicts when asked.

Reads the rows once from a folder of raw little-endian files, then takes one JSON
request a line, {"seed", "rounds", "leaves", "rate", "feature_share", "row_share",
"bins"}, and answers with {"bins", "fit", "predict", "explain"} in seconds of processor time, after
it has written the probabilities of the test rows beside the rows.
"""

import json
import sys
import time
from pathlib import Path

import lightgbm as lgb
import numpy as np

EXPLAINED = 100  # rows whose contributions of features are asked for


def rows(folder, name, cols):
    features = np.fromfile(folder / f"{name}.features", dtype="<f4").reshape(-1, cols)
    return features, np.fromfile(folder / f"{name}.labels", dtype="<i4")


def fit(train, test, ask):
    settings = {
        "objective": "binary", "num_leaves": ask["leaves"], "learning_rate": ask["rate"],
        "feature_fraction": ask["feature_share"], "bagging_fraction": ask["row_share"], "bagging_freq": 1,
        "max_bin": ask["bins"], "num_threads": 1, "verbose": -1, "seed": ask["seed"],
    }
    start = time.process_time()
    data = lgb.Dataset(train[0], train[1], params=settings)
    data.construct()
    binned = time.process_time()
    model = lgb.train(settings, data, ask["rounds"])
    fitted = time.process_time()
    scores = model.predict(test[0], num_threads=1)
    asked = time.process_time()
    model.predict(test[0][:EXPLAINED], pred_contrib=True, num_threads=1)
    took = {"bins": binned - start, "fit": fitted - binned, "predict": asked - fitted}
    return took | {"explain": time.process_time() - asked}, scores


def main():
    folder, cols = Path(sys.argv[1]), int(sys.argv[2])
    train, test = rows(folder, "train", cols), rows(folder, "test", cols)
    print(f"lightgbm {lgb.__version__}", flush=True)
    for line in sys.stdin:
        seconds, scores = fit(train, test, json.loads(line))
        scores.astype("<f8").tofile(folder / "scores")
        print(json.dumps(seconds), flush=True)


if __name__ == "__main__":
    main()
