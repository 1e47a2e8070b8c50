// Package train is the role that trains models: it follows slices.v1, keeps a store per shard, trains every model
// through the newest slices and publishes its checkpoints on models.v1.
//
// A store has a shard's slices, its models' checkpoints and its position. Replacing a slice, for an erasure or a late
// record, unlinks it and every checkpoint from its timestep on, and training replays from there. A timestep that is
// gone is removed likewise, and its models are deleted from models.v1.
//
// It publishes the difference between the stores and the topic, and does not store it.
//
//	role.go, logic.go, step.go     options; the step function; training
//	erasure.go                     the commands of erasures
//	column*.go, shards.go          the slices
//	learners.go, open.go, model.go, series.go  the models and the meta-model
//	publish.go, topic.go           publishing models: the difference to their topic
//	commit.go                      publishing their digests
//	share.go, adoption.go          several processes that train
//	quiet.go                       waiting for replaced slices
//	keys.go, history.go            the store; a stopped role
package train
