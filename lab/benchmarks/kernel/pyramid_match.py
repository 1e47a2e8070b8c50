"""GraKeL's half of the comparison: see main.go.

Reads graphs as JSON lines [number of nodes, [[a, b], ...]], the slices first and
the timestep last. Then, for every line on standard input, compares the timestep
with all slices and answers with the seconds it took.
"""

import json
import sys
import time
import warnings

import grakel
import numpy as np

warnings.filterwarnings("ignore")


def adjacency(num_nodes, edges):
    matrix = np.zeros((num_nodes, num_nodes))
    for a, b in edges:
        matrix[a, b] = matrix[b, a] = 1
    return grakel.Graph(matrix, {}, {}, "adjacency")


with open(sys.argv[1]) as lines:
    graphs = [adjacency(*json.loads(line)) for line in lines]
slices, timestep = graphs[:-1], graphs[-1:]
kernel = grakel.PyramidMatch(L=4, d=6, with_labels=False, normalize=True)
kernel.fit(slices)
print("ready", flush=True)
for _ in sys.stdin:
    start = time.perf_counter()
    kernel.transform(timestep)
    print(time.perf_counter() - start, flush=True)
