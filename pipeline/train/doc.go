// Package train is the role that turns slices into models: it follows
// slices.v1, keeps one store per shard, trains every shard through its newest
// slice and publishes a checkpoint per timestep on models.v1.
//
// A shard's store holds its slices, its checkpoints and the offset up to which
// its topic partition was applied. When a slice is replaced, the old one and every
// checkpoint from that timestep on are unlinked, and training replays from there:
// erasures and late records take this path. When a timestep is gone, its slice goes
// the same way, and its model is deleted from models.v1.
//
//	role.go      what the role is configured with, and opening it
//	logic.go     the step function
//	step.go      training every shard through one timestep, and publishing
//	erasure.go   answering the commands of erasures
//	column*.go   one shard and its store: what arrived, replacing, training
//	keys.go      the store's keys
//	history.go   what a stopped role holds
package train
