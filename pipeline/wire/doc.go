// Package wire says what the roles tell each other: the keys, headers and
// payloads of the topics that lethe itself writes. Roles share nothing else.
//
//	topic          key                            payload
//	snapshots.v1   snapshot/<timestep>/<chunk>    canonical snapshot
//	snapshots.v1   manifest/<timestep>/<chunk>    Manifest
//	slices.v1      slice/<shard>/<timestep>/…     canonical slice
//	models.v1      model/<shard>/<timestep>/…     checkpoint
//
// Slices and models of a shard travel through the partition shard mod P, so
// that their order is kept; a newer message under a key supersedes the older
// one, and compaction removes it.
package wire
