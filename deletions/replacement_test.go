package deletions_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
)

// A timestep that is planned later, as after a crash, takes no other one's revision.
func TestRevisionsStayWithTheirTimesteps(t *testing.T) {
	var p deletions.Progress
	require.True(t, p.AddTimestep(5))
	require.True(t, p.AddTimestep(3))
	require.Equal(t, []lethe.Timestep{3, 5}, p.Timesteps)
	require.Empty(t, p.Revisions, "none is known before they are rewritten")

	p.Revisions = []lethe.Revision{7, 2}
	before := p
	require.False(t, p.AddTimestep(5))
	require.True(t, p.AddTimestep(4))
	require.True(t, p.AddTimestep(9))
	require.Equal(t, []lethe.Timestep{3, 4, 5, 9}, p.Timesteps)
	require.Equal(t, []lethe.Revision{7, 0, 2, 0}, p.Revisions)
	require.Equal(t, []lethe.Timestep{3, 5}, before.Timesteps, "a copy keeps its own")
	require.Equal(t, []lethe.Revision{7, 2}, before.Revisions)
}
