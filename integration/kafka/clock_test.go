package kafka_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/configs"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/integration/process"
	"lethe/pipeline/wire"
)

// A producer's clock is nearly an hour ahead, which brokers take. What it sent last stands at the beginning of what
// they write to: they clean it all the same, and what is erased is verified in the usual time.
func TestAProducerWhoseClockIsAheadHoldsNoErasureUp(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	erased, _ := l.subjects(t)
	d := l.outside(t)
	dir := filepath.Join(t.TempDir(), "data")
	s := d.process(dir, process.FreePorts(t), "")
	d.replayParts(1, 3)
	s.Await("three timesteps", l.learnt(3))
	client := d.sealed()
	count, err := client.Partitions(t.Context(), bus.Transactions)
	require.NoError(t, err)
	for p := range count {
		require.NoError(t, client.Write(t.Context(), bus.Transactions, []ingest.Outgoing{{
			Key: []byte("ahead"), Value: []byte("{}"), Pinned: true, Partition: p, Time: time.Now().Add(55 * time.Minute),
		}}))
	}
	time.Sleep(2 * bus.CleaningLag)
	verified(t, d.eraseWithin(90*time.Second, "ahead", string(erased)), s)
	require.Zero(t, s.Stop(), s.Log())
}

// sealed is a client whose records the deployment takes for its own.
func (d *deployment) sealed() *bus.Client {
	d.t.Helper()
	client, err := bus.Open(d.config())
	require.NoError(d.t, err)
	d.t.Cleanup(func() { require.NoError(d.t, client.Close()) })
	secret, err := configs.LoadOrCreateSecret(d.secret(), nil)
	require.NoError(d.t, err)
	wire.SealOf(secret, nil).On(client)
	return client
}
