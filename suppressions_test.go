package lethe_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
)

func TestSubjectsGoUntilTheLaterTimestep(t *testing.T) {
	var s lethe.Suppressions
	subject := lethe.Digest{1}
	require.False(t, s.Take(0, []lethe.Digest{subject}))
	s.Add(nil, lethe.SubjectUntil{Target: subject, Until: 4})
	s.Add(nil, lethe.SubjectUntil{Target: subject, Until: 2})
	require.True(t, s.Has(subject))
	require.True(t, s.Take(4, []lethe.Digest{{9}, subject}))
	require.False(t, s.Take(5, []lethe.Digest{subject}))
	s.Lift([]lethe.Digest{{7}}, lethe.SubjectUntil{Target: subject, Until: 3})
	require.False(t, s.Take(4, []lethe.Digest{subject}), "lifted to an earlier one")
	require.True(t, s.Take(3, []lethe.Digest{subject}))
	s.Lift([]lethe.Digest{subject})
	require.False(t, s.Has(subject))
	require.False(t, s.AnySubject())
	require.False(t, s.Any())
}

func TestOnlyWhatIsLackingIsAdded(t *testing.T) {
	var s lethe.Suppressions
	s.Add([]lethe.Digest{{1}}, lethe.SubjectUntil{Target: lethe.Digest{2}, Until: 5})
	hashes, subjects := s.Lacking([]lethe.Digest{{4}, {1}, {3}, {4}}, []lethe.SubjectUntil{
		{Target: lethe.Digest{2}, Until: 5}, {Target: lethe.Digest{2}, Until: 6},
		{Target: lethe.Digest{2}, Until: 3}, {Target: lethe.Digest{8}, Until: 0},
	})
	require.Equal(t, []lethe.Digest{{4}, {3}}, hashes)
	require.ElementsMatch(t, []lethe.SubjectUntil{
		{Target: lethe.Digest{2}, Until: 6}, {Target: lethe.Digest{8}},
	}, subjects)
}
