"""Turns the public Bitcoin-OTC ratings into a stream in Elliptic's format.

    python bitcoin_otc.py soc-sign-bitcoinotc.csv FOLDER

Source: S. Kumar et al., "Edge Weight Prediction in Weighted Signed Networks"
(ICDM 2016), rows of rater, rated, rating and Unix time. A rating is a
transaction; a label comes from the rating, which is no feature; features come
from what happened strictly before. The file is refused unless its digest is the
one that the project's figures were measured on.
"""

import argparse
import collections
import csv
import hashlib
import math
import pathlib
import sys

import numpy as np

SOURCE_SHA256 = "76bd9d8f1d3ff9a1813d9fc8e6902a0ee4d0a2f8c1003842dbc9ec79149ab60c"
TIMESTEPS, TRAINED = 49, 29
FIRST_ID, ID_SEED = 230_000_000, 7
ILLICIT_AT_MOST, LICIT_AT_LEAST = -5, 2
DAY = 86_400.0


class History:
    """Ratings that somebody gave or got, oldest first."""

    def __init__(self):
        self.partners, self.ratings, self.times = [], [], []

    def add(self, partner: int, rating: int, time: float) -> None:
        self.partners.append(partner)
        self.ratings.append(rating)
        self.times.append(time)

    def features(self, now: float) -> list[float]:
        """Thirteen numbers on the past."""
        r = np.array(self.ratings, dtype=float)
        age = (now - np.array(self.times)) / DAY
        month, week = r[age <= 30], r[age <= 7]
        negative = float((r < 0).sum())
        return [
            math.log1p(len(r)),
            r.mean() / 10 if len(r) else 0.0,
            r.std() / 10 if len(r) else 0.0,
            min(0.0, r.min()) / 10 if len(r) else 0.0,
            math.log1p(negative),
            negative / len(r) if len(r) else 0.0,
            math.log1p(len(set(self.partners))),
            math.log1p(age[0]) if len(r) else -1.0,
            math.log1p(age[-1]) if len(r) else -1.0,
            math.log1p(len(month)),
            math.log1p(len(week)),
            float((month < 0).mean()) if len(month) else 0.0,
            week.mean() / 10 if len(week) else 0.0,
        ]


def load(path: pathlib.Path) -> list[tuple[int, int, int, float]]:
    data = path.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    if digest != SOURCE_SHA256:
        sys.exit(f"{path.name}: SHA-256 is {digest}, want {SOURCE_SHA256}: another version of the data")
    rows = [(int(a), int(b), int(r), float(t)) for a, b, r, t in csv.reader(data.decode().splitlines())]
    return sorted(rows, key=lambda row: (row[3], row[0], row[1]))


def describe(rows: list[tuple[int, int, int, float]]) -> np.ndarray:
    """Features of every rating, from those strictly before it."""
    gave, got = collections.defaultdict(History), collections.defaultdict(History)
    rated = {}
    out = []
    for rater, ratee, rating, time in rows:
        row = []
        for history in (gave[rater], got[rater], gave[ratee], got[ratee]):
            row += history.features(time)
        given, received = set(gave[rater].partners), set(got[rater].partners)
        of_ratee = set(got[ratee].partners)
        back = rated.get((ratee, rater))
        day = 2 * math.pi * (time % DAY) / DAY
        row += [
            float(back is not None), (back or 0) / 10, float((rater, ratee) in rated),
            math.log1p(len(given & of_ratee)), math.log1p(len(received & of_ratee)), math.sin(day), math.cos(day),
        ]
        out.append(row)
        gave[rater].add(ratee, rating, time)
        got[ratee].add(rater, rating, time)
        rated[rater, ratee] = rating
    return np.array(out)


def payments(rows: list[tuple[int, int, int, float]], timestep: list[int]) -> list[tuple[int, int]]:
    """From the previous rating of either party in the same timestep to this one."""
    last, pairs = {}, set()
    for i, (rater, ratee, _, _) in enumerate(rows):
        for party in (rater, ratee):
            before = last.get(party)
            if before is not None and timestep[before] == timestep[i]:
                pairs.add((before, i))
        for party in (rater, ratee):
            last[party] = i
    return sorted(pairs)


def label(rating: int) -> str:
    if rating <= ILLICIT_AT_MOST:
        return "1"
    return "2" if rating >= LICIT_AT_LEAST else "unknown"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ratings", type=pathlib.Path, help="the public CSV file")
    parser.add_argument("folder", type=pathlib.Path, help="where the three files of the stream go")
    args = parser.parse_args()
    rows = load(args.ratings)
    n = len(rows)
    ids = FIRST_ID + np.random.RandomState(ID_SEED).permutation(n)
    timestep = [min(TIMESTEPS * i // n, TIMESTEPS - 1) + 1 for i in range(n)]
    features = describe(rows)
    past = features[np.array(timestep) <= TRAINED]
    # The summand is for constant columns; it is part of the digits that are written.
    features = (features - past.mean(0)) / (past.std(0) + 1e-9)

    args.folder.mkdir(parents=True, exist_ok=True)
    with open(args.folder / "elliptic_txs_features.csv", "w", newline="") as out:
        for i in range(n):
            out.write(f"{ids[i]},{timestep[i]}," + ",".join(f"{v:.5g}" for v in features[i]) + "\n")
    with open(args.folder / "elliptic_txs_classes.csv", "w", newline="") as out:
        out.write("txId,class\n")
        out.writelines(f"{ids[i]},{label(row[2])}\n" for i, row in enumerate(rows))
    with open(args.folder / "elliptic_txs_edgelist.csv", "w", newline="") as out:
        out.write("txId1,txId2\n")
        out.writelines(f"{ids[a]},{ids[b]}\n" for a, b in payments(rows, timestep))
    print(f"{n} transactions, {TIMESTEPS} timesteps, {features.shape[1]} features in {args.folder}")


if __name__ == "__main__":
    main()
