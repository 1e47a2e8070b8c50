package translog_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions/internal/memorykv"
	"lethe/deletions/translog"
)

// BenchmarkStart opens a log of 100,000 leaves, as every start does.
func BenchmarkStart(b *testing.B) {
	kv := memorykv.New()
	log := translog.NewLog(kv, signerOf(b, "ours"))
	for at := range lethe.Timestep(100) {
		var list []translog.Leaf
		for shard := range lethe.ShardID(1000) {
			list = append(list, translog.Slice{Timestep: at, Shard: shard, Revision: 1, Digest: digestOf("%d %d", at, shard)})
		}
		_, err := log.Commit(list...)
		require.NoError(b, err)
	}
	for b.Loop() {
		_, err := translog.NewLog(kv, signerOf(b, "ours")).Checkpoint()
		require.NoError(b, err)
	}
}
