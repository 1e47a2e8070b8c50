// Package baselines has the methods that look at no edge: random shards, which are also used where
// there is nothing to embed, and shards by name.
package baselines
