package cutting

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/internal/precedence"
	"lethe/partition"
	"lethe/partition/repair"
	"lethe/pipeline/graphs/beside"
	"lethe/snapshot"
)

const shards = 3

// labelled is a store that knows one labelled graph.
type labelled struct {
	s *lethe.Snapshot
}

func (l labelled) Labelled(context.Context, lethe.Timestep) (*snapshot.Content, error) {
	s := *l.s
	s.Nodes = slices.Clone(s.Nodes)
	return &snapshot.Content{
		Info: snapshot.Info{Timestep: s.Timestep, State: lethe.Closed, Previous: 3}, Snapshot: &s,
	}, nil
}

// paidInTurn is a labelled graph in which everybody pays the next one.
func paidInTurn(t *testing.T) *lethe.Snapshot {
	t.Helper()
	secret := lethe.Secret{7}
	s := &lethe.Snapshot{Timestep: 4, FeatureCount: 1, Revision: 1}
	for i := range 40 {
		id := lethe.TransactionID(fmt.Sprint("t", i))
		s.Nodes = append(s.Nodes, lethe.SnapshotNode{Pseudonym: secret.Pseudonym(id), ID: id, Label: lethe.Label(i % 3)})
		s.Features = append(s.Features, float32(i))
	}
	slices.SortFunc(s.Nodes, func(a, b lethe.SnapshotNode) int { return a.Pseudonym.Compare(b.Pseudonym) })
	for i := range uint32(39) {
		s.Payments = append(s.Payments, lethe.Arc{Source: i, Target: i + 1})
	}
	require.NoError(t, s.Validate())
	return s
}

// What was worked out beside the loop is what the loop would work out, and is used for the graph that it was worked
// out of, and for no other.
func TestWhatWasWorkedOutAheadIsUsedForItsGraphAlone(t *testing.T) {
	s := paidInTurn(t)
	config := partition.Defaults()
	config.Shards = shards
	var due []func()
	woken := 0
	a := &Cutter{
		Running: &beside.Running{Start: func(work func()) { due = append(due, work) }, Wake: func() { woken++ }},
		Now:     time.Now, Partition: config, Cut: Cut{shards, repair.Defaults()},
	}
	for range 2 { // it is begun once
		awaits, err := a.Prepares(t.Context(), labelled{s: s}, 4)
		require.NoError(t, err)
		require.True(t, awaits)
	}
	require.Len(t, due, 1)
	require.Nil(t, a.of(s))
	due[0]()
	require.Equal(t, 1, woken)
	awaits, err := a.Prepares(t.Context(), labelled{s: s}, 4)
	require.NoError(t, err)
	require.False(t, awaits)

	want, _, err := Partitioned(t.Context(), s, config)
	require.NoError(t, err)
	require.Equal(t, want, a.of(s).assignment)
	settled := &snapshot.Content{
		Info: snapshot.Info{Timestep: 4, State: lethe.Settled, Previous: 3}, Snapshot: s, Assignment: want,
	}
	other := *s
	other.Nodes = slices.Clone(s.Nodes)
	other.Nodes[5].Label = (other.Nodes[5].Label + 1) % 3
	require.Nil(t, a.of(&other), "a label that came since")
	ahead := func(content *snapshot.Content) bool {
		before := a.done
		_, err := a.Encoded(content, a.All())
		require.NoError(t, err)
		return before != nil && a.done == nil
	}
	follows := *settled
	follows.Info.Previous = 2
	require.False(t, ahead(&follows), "it follows another timestep")
	moved := *settled
	moved.Assignment = slices.Clone(want)
	moved.Assignment[0] = (moved.Assignment[0] + 1) % shards
	require.False(t, ahead(&moved), "somebody else is elsewhere")
	slicesOf, err := a.Cut.Encoded(settled, a.All())
	require.NoError(t, err)
	require.Equal(t, slicesOf, a.done.slices)
	require.True(t, ahead(settled))
	require.False(t, ahead(settled), "it is let go of")
}

// Settling a timestep waits for the predictions that are made in the same process, also for those that begin while it
// is worked out who is in which shard.
func TestSettlingGivesWay(t *testing.T) {
	s := paidInTurn(t)
	synctest.Test(t, func(t *testing.T) {
		config := partition.Defaults()
		config.Shards = shards
		rule, looks := new(precedence.Rule), 0
		var endLater func()
		a := &Cutter{
			Running:   &beside.Running{Start: func(work func()) { go work() }, Wake: func() {}},
			Partition: config, Cut: Cut{shards, repair.Defaults()}, First: rule,
			Now: func() time.Time {
				if looks++; looks == 2 { // the shards are known
					endLater = rule.Begin()
				}
				return time.Now()
			},
		}
		end := rule.Begin()
		_, err := a.Prepares(t.Context(), labelled{s: s}, 4)
		require.NoError(t, err)
		synctest.Wait()
		require.True(t, a.IsBusy())
		require.Nil(t, endLater, "it has begun")
		end()
		synctest.Wait()
		require.NotNil(t, endLater)
		require.True(t, a.IsBusy())
		endLater()
		a.Running.Wait()
		require.NotNil(t, a.of(s))
	})
}
