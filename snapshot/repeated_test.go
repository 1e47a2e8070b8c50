package snapshot

import (
	"context"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
)

// Between the suppression of features and the rewriting the store still has the values. A
// record that comes once more is the same all the same, not a correction, which would come too
// late: be its row waiting or in a graph.
func TestARecordWhoseFeaturesAreSuppressedRepeatsWhatIsKnown(t *testing.T) {
	for _, at := range []struct {
		what   string
		closed bool
	}{{"row that waits", false}, {"row of a graph", true}} {
		t.Run(at.what, func(t *testing.T) {
			o := optionsOf(vfs.NewMem())
			o.FeatureCount, o.Late, o.LabelLatenessTimesteps = 3, DeadLetter, 0
			s, err := Open("data", o)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, s.Close()) })
			require.Equal(t, Accepted, take(t, s, 1, "a", 1, 2, 3))
			b := begin(t, s, Transactions)
			end(t, b, 1)
			require.NoError(t, b.Commit(b.nextOffset))
			if at.closed {
				require.NoError(t, CloseTimestep(context.Background(), s, 1))
			}
			target := lethe.FeaturesOf("a", 1)
			require.NoError(t, s.Suppressed().Redact([]lethe.Redaction{
				{Target: o.Secret.Suppressed(target), Columns: target.Columns},
			}))

			require.Equal(t, Duplicate, take(t, s, 1, "a", 1, 2, 3), "as it came")
			require.Equal(t, Duplicate, take(t, s, 1, "a", 1, 0, 3), "with 0")
			require.Equal(t, Refused, take(t, s, 1, "a", 4, 2, 3), "a correction")
			require.Equal(t, Refused, take(t, s, 2, "a", 1, 2, 3), "of another timestep")

			require.NoError(t, s.Erase(context.Background(), []lethe.Target{target}))
			require.Equal(t, Duplicate, take(t, s, 1, "a", 1, 2, 3), "once it is erased")
		})
	}
}
