// Package checkpoints keeps the trained shards of one long run in a folder, so that a
// run that was ended goes on where it was.
//
// A shard is kept under its lineage, which names the slices, the options and the seed
// that its weights stand for, and under the kernel set that made it. So a folder
// never gives a run another one's shard, and several runs may share it.
//
// It belongs to one program: after a change of the trainer that moves bits, begin with an
// empty folder.
package checkpoints
