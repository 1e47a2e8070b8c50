// Package baselines has the methods for comparison: random shards, which are also used where
// there is nothing to embed, and BLPA and BEKM of Chen et al., "Graph Unlearning" (CCS 2022),
// which bound the size of a shard and ignore classes.
package baselines
