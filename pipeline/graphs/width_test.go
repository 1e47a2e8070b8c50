package graphs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
)

// The number of features that the stream has told is said where a lost store finds it
// again, whatever the topics hold by then: the transactions that told it may be gone.
func TestTheNumberOfFeaturesOutlivesTheStore(t *testing.T) {
	before := deploy(t)
	before.features = 0
	r, stop := before.run(t.TempDir())
	before.fill(1)
	before.fill(2)
	before.until(r, "two timesteps have told it", func(s *role.Status) bool { return s.FeatureCount == 3 })
	stop()

	after := deploy(t)
	after.features = 0
	require.NoError(t, before.topics.ReadAll(t.Context(), bus.Control, func(rec ingest.Record) error {
		after.send(bus.Control, ingest.Outgoing{Key: rec.Key, Value: rec.Value, Headers: rec.Headers})
		return nil
	}))
	r, stop = after.run(t.TempDir())
	require.Equal(t, 3, r.Status().FeatureCount)
	stop()
}
