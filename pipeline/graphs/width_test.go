package graphs

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
)

// The number of features of the first transaction is decided where a lost store finds it
// again, whatever the topics hold by then: that transaction may be gone.
func TestTheNumberOfFeaturesOutlivesTheStore(t *testing.T) {
	before := deploy(t)
	before.features = 0
	r, stop := before.run(t.TempDir())
	before.fill(1)
	before.fill(2)
	before.until(r, "the first transaction has it", func(s *role.Status) bool { return s.FeatureCount == 3 })
	stop()

	after := deploy(t)
	after.features = 0
	require.NoError(t, before.topics.ReadAll(t.Context(), bus.Journal, func(rec ingest.Record) error {
		after.send(bus.Journal, ingest.Outgoing{
			Key: rec.Key, Value: rec.Value, Headers: rec.Headers, Pinned: true, Partition: rec.Partition,
		})
		return nil
	}))
	r, stop = after.run(t.TempDir())
	after.until(r, "the number", func(s *role.Status) bool { return s.FeatureCount == 3 })
	stop()
}

// narrow sends a transaction of fewer features than others.
func (d *deployment) narrow() {
	d.Helper()
	key, value, err := ingest.EncodeTransaction(lethe.Transaction{ID: "narrow", Timestep: 1, Features: []float32{1}})
	require.NoError(d, err)
	d.send(bus.Transactions, ingest.Outgoing{Key: key, Value: value})
}

// isLetter reports whether there is a dead letter under a key.
func (d *deployment) isLetter(key string) (is bool) {
	d.Helper()
	require.NoError(d, d.topics.ReadAll(d.Context(), bus.DeadLetters, func(rec ingest.Record) error {
		is = is || string(rec.Key) == key
		return nil
	}))
	return is
}

// The leader decides the number of features by the first transaction and ends before it has written the dead letter of
// one that has another. The process that takes over writes it, and writes none while it stands by.
func TestWhoTakesOverWritesTheDeadLettersOfTheWidth(t *testing.T) {
	c := newCrew(t)
	c.features = 0
	var once sync.Once
	due := make(chan struct{})
	c.before.set(func(ctx context.Context, name string, topic bus.Topic) error {
		if name != "one" || topic != bus.DeadLetters {
			return nil
		}
		once.Do(func() { close(due) })
		<-ctx.Done()
		return ctx.Err()
	})
	c.begin("one")
	c.begin("two")
	c.fill(1)
	c.until(c.roles["one"], "what was decided", func(s *role.Status) bool { return s.FeatureCount == 3 })
	c.narrow()
	<-due
	c.until(c.roles["two"], "what was decided", func(s *role.Status) bool { return s.FeatureCount == 3 })
	require.False(t, c.isLetter("narrow"))
	c.stops["one"]()
	c.group.Lead("two")
	require.Eventually(t, func() bool { return c.isLetter("narrow") }, 30*time.Second, 5*time.Millisecond)
	c.begin("one")
	c.until(c.roles["one"], "the width of who led before", func(s *role.Status) bool { return s.FeatureCount == 3 })
}
