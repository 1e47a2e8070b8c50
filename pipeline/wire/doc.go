// Package wire defines the messages between roles: keys, headers and payloads of the topics that lethe writes. Roles
// share nothing else.
//
//	topic          key                            payload
//	snapshots.v1   snapshot/<timestep>/<chunk>    canonical snapshot
//	snapshots.v1   manifest/<timestep>/<chunk>    Manifest
//	slices.v1      slice/<shard>/<timestep>/…     canonical slice
//	models.v1      model/<shard>/<timestep>/…     checkpoint
//
// Slices and models of a shard are in the partition shard mod P, which keeps their order. A newer message under a key
// supersedes the older one.
//
//	keys.go, message.go       keys and kinds of messages; encoding and decoding
//	owner.go                  owners of models
//	manifest.go               the slices of a timestep
//	records.go                the topic of a record: control.v1 or erasure-status.v1
//	notice.go, command.go     records of these topics; commands of erasures
//	control.go                control records, of processes about themselves:
//	settings.go, instance.go  settings; data directories that have a role alone
//	member.go                 data directories that share a role, and those struck off
//	leader.go                 epochs of leaders; barriers
//	access.go, commitment.go  leaves for the transparency log
//	sealed.go                 codes of the deployment's own records
//	signature.go, refused.go  records for requesters
//	stop.go                   errors of a role that was stopped
package wire
