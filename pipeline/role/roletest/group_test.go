package roletest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/ingest/bus"
	"lethe/pipeline/role"
)

// Processes begin to share in any order, and the one that was named first leads.
func TestTheFirstNamedLeads(t *testing.T) {
	g := NewGroup()
	one, two := g.Member("one"), g.Member("two")
	require.Empty(t, given(t, two))
	require.Equal(t, []int{0}, given(t, one))
}

// given are the partitions that a member gets first.
func given(t *testing.T, s role.Sharer) []int {
	t.Helper()
	got := make(chan bus.Assigned, 10)
	go func() {
		_ = s.Share(t.Context(), bus.GroupConfig{}, bus.Member{
			Assigned:  func(a bus.Assigned) { got <- a },
			Positions: func() map[bus.TopicPartition]int64 { return nil },
			Committed: func(int64, time.Time) {},
		})
	}()
	return (<-got).Partitions
}
