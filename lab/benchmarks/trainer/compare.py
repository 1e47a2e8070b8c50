"""Measures lethe and PyTorch Geometric side by side on this machine.

One round gives every contender the same short time on every case, one after the
other; the medians over the rounds are compared. So a machine that slows down
for a while slows all of them down.

    ./compare.sh --rounds 9 --seconds 1 > table.md

compare.sh makes the Python environment and builds lethe's side.
"""

import argparse
import json
import statistics
import subprocess
import sys

WIDTHS = [1024, 256, 128]
ELLIPTIC = [f"{family}:{width}" for width in WIDTHS for family in ("elliptic", "products")]
CORA = ["cora:" + m for m in "sage gin gcn gat gatv2 supergat appnp sgc mlp".split()]


class Contender:
    """Processes that work at the same time."""

    def __init__(self, name, command, count=1, workers=1):
        self.name, self.workers = name, workers
        self.processes = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(count)
        ]

    def rate(self, case, seconds):
        """Returns shard-steps per second, and per second of processor time."""
        request = json.dumps({"case": case, "workers": self.workers, "seconds": seconds})
        for p in self.processes:
            print(request, file=p.stdin, flush=True)
        wall = steps = used = 0
        for p in self.processes:
            line = p.stdout.readline()
            if not line:
                raise SystemExit(f"{self.name} failed on {case}")
            answer = json.loads(line)
            wall += answer["steps"] / answer["seconds"]
            steps += answer["steps"]
            used += answer["cpu_seconds"]
        return wall, steps / used

    def close(self):
        for p in self.processes:
            p.stdin.close()
            p.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", required=True, help="lethe's side, built from ./steps")
    parser.add_argument("--python", default=sys.executable, help="a Python with torch and torch_geometric")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=1, help="time per contender, case and round")
    parser.add_argument("--cases", nargs="*", default=ELLIPTIC + CORA)
    parser.add_argument("--kernels", nargs="*", default=["fma"], help="kernel sets of lethe")
    parser.add_argument("--json", help="file for all measurements")
    options = parser.parse_args()
    pyg = [options.python, __file__.replace("compare.py", "pyg_steps.py")]
    contenders = [
        Contender("PyG, 2 processes of 1 thread", pyg + ["1"], count=2),
        Contender("PyG, 1 process of 2 threads", pyg + ["2"]),
    ] + [
        Contender(f"lethe, {k}, 2 workers", [options.steps, "-kernels", k], workers=2) for k in options.kernels
    ]
    measured = {case: {c.name: [] for c in contenders} for case in options.cases}
    for case in options.cases:
        for c in contenders:
            c.rate(case, 0.2)
    for round in range(options.rounds):
        for case in options.cases:
            for c in contenders:
                measured[case][c.name].append(c.rate(case, options.seconds))
        print(f"round {round + 1} of {options.rounds}", file=sys.stderr)
    for c in contenders:
        c.close()
    report(measured, [c.name for c in contenders])
    if options.json:
        with open(options.json, "w") as f:
            json.dump(measured, f, indent=1)


def report(measured, names):
    """Prints shard-steps per second, and in brackets per processor second."""
    pyg, ours = [n for n in names if n.startswith("PyG")], [n for n in names if n.startswith("lethe")]
    print("| case | " + " | ".join(names) + " | " + " | ".join(f"{n} / PyG's best" for n in ours) + " |")
    print("|---" * (1 + len(names) + len(ours)) + "|")
    for case, rates in measured.items():
        median = {n: [statistics.median(v) for v in zip(*r)] for n, r in rates.items()}
        cells = [f"{median[n][0]:.1f} ({median[n][1]:.1f})" for n in names]
        for n in ours:
            # Both ratios round by round, so that they compare neighbours in time.
            ratio = [
                statistics.median(
                    ours_round[i] / max(rates[p][r][i] for p in pyg) for r, ours_round in enumerate(rates[n])
                )
                for i in (0, 1)
            ]
            cells.append(f"{ratio[0]:.2f} ({ratio[1]:.2f})")
        print(f"| {case} | " + " | ".join(cells) + " |")


main()
