package service_test

import (
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/audit"
	"lethe/canonical"
	"lethe/configs"
	"lethe/ingest/bus"
	"lethe/pipeline/score"
	"lethe/pipeline/train"
	"lethe/service"
	"lethe/service/servicetest"
)

// digests compares those on the receipt with the slices that were there and that the mirror
// has.
func (f *forgetting) digests(id string, before, after map[sliceAt][]byte) {
	f.T.Helper()
	receipt := servicetest.Receipt(f.T, f.m.c, id)
	require.Len(f.T, receipt.Replaced, len(receipt.Timesteps))
	digest := func(at map[sliceAt][]byte, key sliceAt) (d lethe.Digest) {
		if data, is := at[key]; is {
			d = canonical.DigestOf(data)
		}
		return d
	}
	for _, at := range receipt.Replaced {
		for _, s := range at.Slices {
			key := sliceAt{s.Shard, at.Timestep}
			require.Equal(f.T, digest(before, key), s.Before, "%v", key)
			require.Equal(f.T, digest(after, key), s.After, "%v", key)
			require.NotEqual(f.T, s.Before, s.After)
		}
	}
}

// receipt compares what the receipt says was trained again with the mirror.
func (f *forgetting) receipt(id string, from map[lethe.ShardID]lethe.Timestep) {
	f.T.Helper()
	receipt := servicetest.Receipt(f.T, f.m.c, id)
	require.Len(f.T, receipt.ShardsRetrained, len(from))
	for _, shard := range receipt.ShardsRetrained {
		require.Contains(f.T, from, shard)
	}
	if len(from) == 0 {
		require.Empty(f.T, receipt.GroupsRefitted)
		return
	}
	layout, err := f.m.c.Layout()
	require.NoError(f.T, err)
	require.Len(f.T, receipt.GroupsRefitted, len(layout.Components))
	var refitted []lethe.ShardID
	first := 0
	for k, c := range receipt.GroupsRefitted {
		require.Equal(f.T, layout.Components[k].Config.Model, c.Model)
		require.Equal(f.T, layout.Components[k].Groups, c.Groups)
		for _, in := range c.Refitted {
			refitted = append(refitted, lethe.ShardID(first+in))
		}
		first += c.Groups
	}
	require.Equal(f.T, layout.Affected(receipt.ShardsRetrained), refitted)
}

// requireEqual compares what the running service serves and has published.
func requireEqual(r *running, want built) {
	r.T.Helper()
	status, err := r.Status(r.T.Context())
	require.NoError(r.T, err)
	same(r.T, "slices", want.slices, artefacts(r, bus.Slices))
	// Score says what it serves, and then train drops what nobody will ask for.
	require.Eventually(r.T, func() bool { return len(artefacts(r, bus.Models)) == len(want.checkpoints) },
		time.Minute, 20*time.Millisecond)
	same(r.T, "checkpoints", want.checkpoints, artefacts(r, bus.Models))
	require.Equal(r.T, want.ensemble, status.EnsembleHash)
}

// same compares maps of bytes and names what differs, not how.
func same(t testing.TB, what string, want, got map[sliceAt][]byte) {
	t.Helper()
	require.Len(t, got, len(want), what)
	for key, data := range want {
		if !slices.Equal(data, got[key]) {
			t.Fatalf("%s: shard %d timestep %d differs", what, key.Shard, key.Timestep)
		}
	}
}

// stored compares what a stopped service has on disk.
func stored(t testing.TB, c configs.Config, want built) {
	t.Helper()
	layout, err := c.Layout()
	require.NoError(t, err)
	over, err := c.MetaConfig()
	require.NoError(t, err)
	gotSlices, gotCheckpoints := make(map[sliceAt][]byte), make(map[sliceAt][]byte)
	for shard := range lethe.ShardID(c.Partition.Shards) {
		h, err := train.ReadHistory(vfs.Default, service.RoleDir(c.DataDir, configs.RoleTrain), shard)
		require.NoError(t, err)
		for at := range h.Slices {
			gotSlices[sliceAt{shard, at}], err = h.Slice(at)
			require.NoError(t, err)
		}
		for component, learnt := range h.Learnt {
			number := lethe.ShardID(layout.Models())
			if component != train.Meta {
				number = layout.ModelsOf(shard)[component]
			}
			for at, data := range learnt {
				gotCheckpoints[sliceAt{number, at}] = data
			}
		}
	}
	same(t, "stored slices", want.slices, gotSlices)
	same(t, "stored checkpoints", want.stored, gotCheckpoints)
	dir := service.RoleDir(c.DataDir, configs.RoleScore)
	served, err := score.ReadServed(vfs.Default, dir, layout, over)
	require.NoError(t, err)
	require.Equal(t, want.ensemble, served.Version.String())
	for shard, data := range served.Checkpoints {
		require.Equal(t, want.checkpoints[sliceAt{lethe.ShardID(shard), served.Through}], data)
	}
	servicetest.Audited(t, audit.Options{Config: c, Fresh: true})
}
