package view_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/tlog"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/translog"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// A leaf that somebody wrote late who led before is written over by who leads, or deleted. What is told of the log is
// that of the leaves that stand then: proofs, and which models there are.
func TestWhatIsToldOfTheLogFollowsItsLeaves(t *testing.T) {
	r := newRig(t)
	leaf := func(index int, digest byte) {
		out := ingest.Outgoing{Key: fmt.Appendf(nil, "%016d", index)}
		if digest > 0 {
			var err error
			out.Value, err = translog.Encode(translog.Checkpoint{Timestep: 1, Digest: lethe.Digest{digest}})
			require.NoError(t, err)
		}
		r.write(bus.Log, out)
	}
	check := func(digests ...byte) {
		t.Helper()
		var tree translog.Tree
		for _, digest := range digests {
			text, err := translog.Encode(translog.Checkpoint{Timestep: 1, Digest: lethe.Digest{digest}})
			require.NoError(t, err)
			require.NoError(t, tree.Append(text))
		}
		now, err := tree.Now()
		require.NoError(t, err)
		for i := range now.N {
			text, proof, found, err := r.reader.Prove(i, now.N)
			require.NoError(t, err)
			require.True(t, found)
			require.NoError(t, tlog.CheckRecord(proof, now.N, now.Hash, i, tlog.RecordHash(text)), "leaf %d", i)
		}
		_, _, found, err := r.reader.Prove(now.N, now.N+1)
		require.NoError(t, err)
		require.False(t, found)
		_, groups, err := r.reader.Groups(nil)
		require.NoError(t, err)
		require.Len(t, groups, 1)
		require.Equal(t, lethe.Digest{digests[len(digests)-1]}, groups[0].Digest)
	}
	leaf(0, 1)
	leaf(1, 2)
	check(1, 2)
	leaf(2, 9)
	check(1, 2, 9)
	leaf(2, 3)
	check(1, 2, 3)
	leaf(3, 9)
	leaf(3, 0)
	check(1, 2, 3)
	leaf(1, 9)
	leaf(1, 2)
	check(1, 2, 3)
}

// A status that somebody writes again as it is, or who leads no more writes late, sets no request back: people, and
// privacy tools that are called back, are told how far it has come. So it is where the topic is read anew.
func TestAnEarlierStatusSetsNothingBack(t *testing.T) {
	r := newRig(t)
	entry, err := deletions.NewEntry(secret, lethe.ErasureRequest{
		RequestID: "gdpr-1", Targets: lethe.Transactions("anybody"),
	}, time.Unix(1, 0))
	require.NoError(t, err)
	says := func(state deletions.State, at int64) ingest.Outgoing {
		status := entry.Status()
		status.State, status.UpdatedAt = state, time.Unix(at, 0).UTC()
		value, err := status.Encode()
		require.NoError(t, err)
		return ingest.Outgoing{Key: []byte(status.Key()), Value: value}
	}
	is := func(want deletions.State) {
		t.Helper()
		got, err := r.reader.Requests().Status("gdpr-1")
		require.NoError(t, err)
		require.Equal(t, want, got.State)
	}
	r.write(bus.ErasureStatus, says(deletions.Accepted, 2))
	is(deletions.Accepted)
	r.write(bus.ErasureStatus, says(deletions.Rewriting, 3))
	r.write(bus.ErasureStatus, says(deletions.Accepted, 2))
	is(deletions.Rewriting)
	r.write(bus.ErasureStatus, says(deletions.Verified, 4), says(deletions.Accepted, 2), says(deletions.Rewriting, 3))
	is(deletions.Verified)
}
