// Package column is one shard through time: the slices of the shard in the order
// of their timesteps, and the checkpoint that belongs after each of them.
//
// Advance makes one step, Replay any number of them, from the first slice or from
// a checkpoint. A checkpoint is a pure function of the engine's options, its
// kernel set and the shard's slices up to its timestep, so it does not matter
// where a replay starts: training everything from the beginning, going on after a
// restart and replaying from a slice that was replaced give the same bytes. Window says
// which slices a checkpoint is trained on.
//
// The package knows no broker, store, clock or log, and starts no goroutine.
//
// Training does not know how the shards of an ensemble are weighed: what a
// checkpoint carries for it comes from a function that the caller hands in, so
// that package trainer and this one do not depend on package scoring. Package
// ensemble, which trains and asks many columns, hands in scoring.Describe.
package column
