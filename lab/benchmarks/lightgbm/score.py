"""Scores a transaction stream with LightGBM, refitted on the full history at each timestep.

From the second timestep on, a new model is fitted to the labels of all earlier timesteps and scores
the transactions of the timestep. Each run is a process that reads the files itself, so its times and
its peak memory are those of a complete script.
"""

import argparse
import multiprocessing
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import lightgbm as lgb
import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score, f1_score, precision_recall_curve, roc_auc_score

ROUNDS = 300
SETTINGS = {
    "objective": "binary", "num_leaves": 15, "learning_rate": 0.05, "feature_fraction": 0.3, "bagging_fraction": 0.8,
    "bagging_freq": 1, "force_row_wise": True, "num_threads": 2, "verbose": -1,
}


def read(folder):
    features = pd.read_csv(folder / "elliptic_txs_features.csv", header=None, dtype={0: str}).set_index(0)
    classes = pd.read_csv(folder / "elliptic_txs_classes.csv", dtype=str).set_index("txId")["class"]
    payments = pd.read_csv(folder / "elliptic_txs_edgelist.csv", dtype=str).drop_duplicates()
    labels = classes.map({"1": 1, "2": 0, "unknown": -1}).reindex(features.index, fill_value=-1)
    return features.drop(columns=1).astype(np.float32), features[1].to_numpy(), labels.to_numpy(), payments


def join_neighbours(features, payments):
    """Joins the mean features of a transaction's payers and payees and the logarithms of their numbers."""
    columns = [features]
    for own, other in [("txId2", "txId1"), ("txId1", "txId2")]:
        groups = features.loc[payments[other]].groupby(payments[own].to_numpy())
        columns += [groups.mean(), np.log1p(groups.size())]
    return pd.concat([c.reindex(features.index, fill_value=0) for c in columns], axis=1)


def test_timesteps(steps):
    """Returns the first and the last test timestep as testTimesteps of lethe demo does."""
    if len(steps) >= 35 and steps[-1] >= 35:
        return 35, steps[-1]
    return steps[min(max(len(steps) * 34 // 49, 1), len(steps) - 1)], steps[-1]


def run(folder, columns, settings, test):
    features, timesteps, labels, payments = read(folder)
    first, last = test or test_timesteps(np.unique(timesteps))
    rows = (join_neighbours(features, payments) if columns == "neighbours" else features).to_numpy(np.float32)
    scores = np.full(len(rows), np.nan)
    for t in np.unique(timesteps[timesteps <= last])[1:]:
        history, current, began = (timesteps < t) & (labels >= 0), timesteps == t, time.process_time()
        model = lgb.train(settings, lgb.Dataset(rows[history], labels[history]), ROUNDS)
        last_fit = time.process_time() - began
        scores[current] = model.predict(rows[current])
    tested = (timesteps >= first) & (timesteps <= last) & (labels >= 0)
    truth, scores = labels[tested], scores[tested]
    precision, recall, _ = precision_recall_curve(truth, scores)
    return {
        "first": first, "last": last, "AUC": roc_auc_score(truth, scores), "AP": average_precision_score(truth, scores),
        "F1 at .5": f1_score(truth, scores >= 0.5), "best F1": np.max(2 * precision * recall / (precision + recall + 1e-12)),
        "processor s": time.process_time(), "of it last fit": last_fit,
        "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="folder with Elliptic's three CSV files")
    parser.add_argument("--columns", nargs="+", choices=["plain", "neighbours"], default=["plain", "neighbours"])
    parser.add_argument("--seeds", type=int, default=1, help="number of seeds, from 1 on; figures are their means")
    parser.add_argument("--test", type=int, nargs=2, metavar=("FIRST", "LAST"), help="test timesteps")
    parser.add_argument("--set", nargs="+", default=[], metavar="KEY=VALUE", help="LightGBM parameters")
    args = parser.parse_args()
    settings = SETTINGS | dict(s.split("=", 1) for s in args.set)
    means = {}
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn, max_tasks_per_child=1) as processes:
        for columns in args.columns:
            results = []
            for seed in range(1, args.seeds + 1):
                began = time.perf_counter()
                result = processes.submit(run, args.folder, columns, settings | {"seed": seed}, args.test).result()
                results.append(result | {"wall s": time.perf_counter() - began})
            means[columns] = pd.DataFrame(results).mean()
    table = pd.DataFrame(means).T
    print(table.to_string(float_format="{:.4g}".format))
    print("higher average precision:", table["AP"].idxmax())


if __name__ == "__main__":
    main()
