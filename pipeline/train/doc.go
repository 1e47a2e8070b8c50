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
//	step.go      training what is due through one timestep, and publishing
//	erasure.go   answering the commands of erasures
//	column*.go   one shard and its store: slices that arrive, replace others, are removed
//	shards.go    the columns that one model learns from; unions.go, their slices put together
//	learners.go  all models and the meta-model; open.go, where they stand at the start
//	model.go     one model through time; meta.go, the meta-model; series.go, what both keep; series_remove.go,
//	             what they keep no longer; series_publish.go, what its topic is told
//	share.go     who makes which models, where several processes train
//	adoption.go  taking over what others have made; series_adopt.go, what fits, and as a series keeps it
//	quiet.go     when no more slices are likely to be replaced
//	keys.go      the store's keys and format
//	history.go   what a stopped role holds
package train
