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
//
//	keys.go, message.go       keys and kinds of messages; messages read and written
//	owner.go                  who makes a model, where several processes share that
//	manifest.go               what a timestep's slices are
//	home.go                   control.v1 or erasure-status.v1: on which of them a record belongs
//	notice.go, command.go     what stands there, and commands to the other roles
//	settings.go, instance.go  settings and identities that processes tell each other
//	member.go                 those that share the work of a role, and those struck off
//	sealed.go                 which records count as the deployment's own
//	stop.go                   errors of a role that was stopped
package wire
