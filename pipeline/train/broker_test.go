package train

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/ingest/bus"
	"lethe/internal/testbroker"
	"lethe/pipeline/role"
)

// Over a broker the role does what it does over topics in memory.
func TestModelsOverABroker(t *testing.T) {
	_, client := testbroker.Start(t, map[bus.Topic]int{bus.Slices: 2, bus.Models: 2})
	o := optionsFor(t.TempDir(), role.Kafka{Client: client})
	plans := []plan{planOf(0, 3), planOf(1, 3), planOf(2, 3)}
	for _, p := range plans {
		publish(t, client, p.messages(1)...)
	}
	stop := running(t, o)
	require.Eventually(t, func() bool { return len(payloads(t, client)) == 9 }, time.Minute, 20*time.Millisecond)
	require.NoError(t, stop())
	require.Equal(t, wanted(t, o, plans...), payloads(t, client))
}
