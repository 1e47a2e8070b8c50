"""Partitions of a training graph and their repair, in NumPy, for citation.py.

A partition is an array with the shard of every node. Graphs are given as an array
of undirected edges, two columns, each edge once.
"""

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans

from partition import even_share, one_hot, polar

ALPHA, SWEEPS = 0.01, 10
CAPACITY_SLACK, LABEL_SWEEPS = 0.005, 100
# Under a large beta and quotas SR cuts most edges, as the published program does.
SR_BETA = 5.0


def dealt(rng: np.random.Generator, nodes: int, shards: int) -> np.ndarray:
    """Random: even shards, whatever the classes."""
    return rng.permutation(nodes) % shards


def adjacency(edges: np.ndarray, nodes: int) -> sp.csr_matrix:
    both = np.vstack([edges, edges[:, ::-1]])
    return sp.csr_matrix((np.ones(len(both)), both.T), shape=(nodes, nodes))


def balanced_labels(rng: np.random.Generator, edges: np.ndarray, nodes: int, shards: int) -> np.ndarray:
    """BLPA (Chen et al., "Graph Unlearning", CCS 2022, Algorithm 1), with the capacity of its program:
    nodes want to join the shards of their neighbours, and the most wanted moves come first."""
    shard, w = dealt(rng, nodes, shards), adjacency(edges, nodes)
    even = nodes / shards
    capacity = int(np.ceil(even + CAPACITY_SLACK * (nodes - even)))
    size = np.bincount(shard, minlength=shards)
    for _ in range(LABEL_SWEEPS):
        count = (w @ sp.csr_matrix(one_hot(shard, shards))).tocoo()
        # The most neighbours first; among equals the own shard, then by chance.
        order = np.lexsort((rng.random(count.nnz), shard[count.row] != count.col, -count.data))
        settled, before = np.zeros(nodes, bool), shard.copy()
        for node, to in zip(count.row[order], count.col[order]):
            if settled[node] or (to != before[node] and size[to] >= capacity):
                continue
            settled[node] = True
            size[before[node]] -= 1
            size[to] += 1
            shard[node] = to
        if (shard == before).all():
            break
    return shard


def fill(shard: np.ndarray, free: np.ndarray, shards: int) -> None:
    """Deals nodes without edges, which say nothing to a spectral method, to the smallest shards."""
    size = np.bincount(np.delete(shard, free), minlength=shards)
    for node in free:
        shard[node] = int(size.argmin())
        size[shard[node]] += 1


def spectral(rng: np.random.Generator, edges: np.ndarray, y: np.ndarray, shards: int, rotated: bool) -> np.ndarray:
    """GPFB-Fast, which ends in k-means, or GPFB-SR, which ends in even shards: sweeps of the generalised
    power iteration on the normalised adjacency, with the polar factor of the right algebra."""
    nodes = len(y)
    kept = np.unique(edges)
    w = adjacency(edges, nodes)[kept][:, kept]
    degree = np.asarray(w.sum(1)).ravel()
    root = sp.diags(1 / np.sqrt(degree))
    f = one_hot(y[kept], int(y.max()) + 1)
    shift = 1 + ALPHA * f.sum(0).max()
    linear = ALPHA * f @ even_share(f, shards)
    base = root @ w @ root
    h, _ = polar(rng.normal(size=(len(kept), shards)))
    found = np.arange(len(kept)) % shards
    for _ in range(SWEEPS):
        pull = 0.0
        if rotated:
            indicator = one_hot(found, shards)
            g = indicator / np.sqrt(degree)[:, None] / np.sqrt(np.maximum((indicator * degree[:, None]).sum(0), 1e-12))
            r, _ = polar(h.T @ g)
            pull = SR_BETA * g @ r.T
        h, _ = polar(base @ h + shift * h - ALPHA * f @ (f.T @ h) + linear + pull)
        if rotated:
            found = quotas(h @ r, shards)
    if not rotated:
        found = KMeans(shards, n_init=10, max_iter=50, random_state=int(rng.integers(1 << 31))).fit_predict(h)
    out = np.zeros(nodes, int)
    out[kept] = found
    fill(out, np.setdiff1d(np.arange(nodes), kept), shards)
    return out


def quotas(score: np.ndarray, shards: int) -> np.ndarray:
    """Even shards: the highest scores choose first."""
    room = np.full(shards, -(-len(score) // shards))
    out = np.full(len(score), -1)
    for at in np.argsort(-score, axis=None, kind="stable"):
        node, shard = divmod(int(at), shards)
        if out[node] < 0 and room[shard] > 0:
            out[node], room[shard] = shard, room[shard] - 1
    return out


def repaired(rng: np.random.Generator, x: np.ndarray, edges: np.ndarray, shard: np.ndarray, which: int, mixup: bool):
    """A shard with its own edges and, under MixUp, a stub of its own for every lost neighbour. Returns
    the nodes, the feature rows (stubs behind the nodes) and the edges between rows."""
    own = np.flatnonzero(shard == which)
    at = np.full(len(shard), -1)
    at[own] = np.arange(len(own))
    inner = at[edges[(at[edges] >= 0).all(1)]]
    if not mixup:
        return own, x[own], inner
    both = np.vstack([edges, edges[:, ::-1]])
    owner = at[both[(at[both[:, 0]] >= 0) & (at[both[:, 1]] < 0), 0]]
    stubs = x[own][owner] * rng.random((len(owner), 1), dtype=np.float32)
    joins = np.column_stack([owner, len(own) + np.arange(len(owner))])
    return own, np.vstack([x[own], stubs]), np.vstack([inner, joins])
