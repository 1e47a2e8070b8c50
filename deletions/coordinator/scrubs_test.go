package coordinator

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/deletions"
	"lethe/deletions/batch"
)

// slowGraphs scrub until a test says that it has ended.
type slowGraphs struct {
	Graphs
	begun, ended int
}

func (g *slowGraphs) BeginScrub(context.Context) (func() bool, error) {
	g.begun++
	n := g.begun
	return func() bool { return g.ended >= n }, nil
}

// A batch waits until the graphs' files were written anew for it: not only for another one, which may have begun
// before its own targets were deleted. That is done once a try.
func TestABatchWaitsUntilFilesWereWrittenAnewForIt(t *testing.T) {
	g := new(slowGraphs)
	s := scrubs{graphs: g, made: make(map[string]int)}
	make := func(b batch.Batch, want bool, begun int) {
		t.Helper()
		made, err := s.make(t.Context(), b)
		require.NoError(t, err)
		require.Equal(t, want, made)
		require.Equal(t, begun, g.begun)
	}
	end := func(want bool) {
		t.Helper()
		require.Equal(t, want, s.end())
	}
	one := batch.Of(deletions.Entry{RequestID: "one"})
	two := batch.Of(deletions.Entry{RequestID: "two"})
	require.False(t, s.begunFor(one))
	make(one, false, 1)
	make(two, false, 1)
	end(false)
	require.True(t, s.begunFor(one))
	require.False(t, s.begunFor(two))
	g.ended = 1
	end(true)
	make(one, true, 1)
	make(two, false, 2)
	one.Members[0].Attempts++
	make(one, false, 2)
	g.ended = 2
	end(true)
	end(false)
	make(two, true, 2)
	g.ended = 3
	make(one, true, 3)
}
