package published_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/internal/fuzzing"
	"lethe/pipeline/score/published"
)

// scored are predictions of two transactions, and of one that joined.
func scored() *published.Step {
	return &published.Step{
		Scores: []published.Score{{Node: lethe.Pseudonym{1}, Probability: .25}, {Node: lethe.Pseudonym{3}, Probability: 1}},
		Late:   []lethe.Pseudonym{{4}},
	}
}

func TestADamagedStepIsRefused(t *testing.T) {
	message := scored().Encode()
	back, err := published.Decode(message)
	require.NoError(t, err)
	require.Equal(t, scored(), back)
	for n := range message {
		_, err := published.Decode(message[:n])
		require.ErrorIs(t, err, canonical.ErrCorrupt, "cut to %d bytes", n)
	}
}

// What stands is not replaced, and what is added is in order.
func TestWithAddsWhatIsMissing(t *testing.T) {
	one := &published.Step{Scores: []published.Score{{Node: lethe.Pseudonym{3}, Probability: .5}}, Threshold: .4}
	both := one.With(scored())
	require.Equal(t, &published.Step{
		Scores: []published.Score{
			{Node: lethe.Pseudonym{1}, Probability: .25}, {Node: lethe.Pseudonym{3}, Probability: .5},
		},
		Threshold: .4, Late: []lethe.Pseudonym{{4}},
	}, both)
	require.Equal(t, 3, both.Count())
	graph := &lethe.Snapshot{Nodes: []lethe.SnapshotNode{{Pseudonym: lethe.Pseudonym{2}}, {Pseudonym: lethe.Pseudonym{3}}}}
	require.True(t, both.Lacks(graph))
	require.Equal(t, []lethe.Pseudonym{{3}}, both.Only(graph).Nodes())
}

func FuzzDecode(f *testing.F) {
	fuzzing.Framed(f, func(message []byte) ([]byte, error) {
		p, err := published.Decode(message)
		if err != nil {
			return nil, err
		}
		return p.Encode(), nil
	}, scored().Encode(), (&published.Step{}).Encode())
}
