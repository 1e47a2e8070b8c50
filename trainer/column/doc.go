// Package column is one shard over time: the slices of the shard in the order of their timesteps,
// and the checkpoint after each of them.
//
// Advance makes one step, Replay any number of them, from the first slice or from a checkpoint. A
// checkpoint is a pure function of the engine's options, its kernel set and the shard's slices up
// to its timestep, so the start of a replay does not matter: training from the beginning,
// continuing after a restart and replaying from a replaced slice give the same bytes. Window
// returns the slices that a checkpoint is trained on.
//
// The package uses no broker, store, clock or log, and starts no goroutine.
package column
