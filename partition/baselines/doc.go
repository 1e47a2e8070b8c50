// Package baselines has the methods to compare with: random shards, which is also
// what remains where there is nothing to embed, and BLPA and BEKM of Chen et al.,
// "Graph Unlearning" (CCS 2022), which bound the size of a shard and know no
// classes.
package baselines
