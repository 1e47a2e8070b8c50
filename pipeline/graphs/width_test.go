package graphs

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
)

// The number of features that the stream has told is decided where a lost store finds it
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

// A process has said the number of features and ends before it has written the dead letters of those that have another
// one. Whoever takes over writes them, though it had taken all records before, and writes none while it stands by.
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
	c.narrow()
	c.fill(1)
	c.fill(2)
	<-due
	c.until(c.roles["two"], "what was decided", func(s *role.Status) bool { return s.FeatureCount == 3 })
	require.False(t, c.isLetter("narrow"))
	c.stops["one"]()
	c.group.Lead("two")
	c.until(c.roles["two"], "the width", func(s *role.Status) bool { return s.FeatureCount == 3 })
	require.Eventually(t, func() bool { return c.isLetter("narrow") }, 30*time.Second, 5*time.Millisecond)
	c.begin("one")
	c.until(c.roles["one"], "the width of who led before", func(s *role.Status) bool { return s.FeatureCount == 3 })
}

// A record comes late while nobody knows the number of features, when no timestep closes, so that it is taken. Who
// stands by and is behind hears that number before it has come to the record: it takes the record all the same.
func TestWhoIsBehindTakesWhatCameBeforeTheWidth(t *testing.T) {
	c := newCrew(t)
	c.features, c.reopensNone = 0, true
	source, sent := bus.TopicPartition{Topic: bus.Transactions}, int64(0)
	send := func(at lethe.Timestep, ids ...string) {
		for _, id := range ids {
			key, value, err := ingest.EncodeTransaction(lethe.Transaction{
				ID: c.homed(source.Partition, id), Timestep: at, Features: []float32{1, 2, 3},
			})
			require.NoError(t, err)
			c.send(source.Topic, ingest.Outgoing{Key: key, Value: value})
			sent++
		}
	}
	closes := func(at lethe.Timestep) {
		c.send(source.Topic, c.controls(source.Topic, at, ingest.EncodeClose)...)
		sent++
	}
	taken := func(name string) {
		c.until(c.roles[name], name, func(s *role.Status) bool { return s.Consumed[source] >= sent })
	}
	closed := func(name string) map[lethe.Timestep]int {
		c.until(c.roles[name], name, func(s *role.Status) bool { return s.Count(lethe.Closed) == 3 })
		nodes := make(map[lethe.Timestep]int)
		for at, step := range c.roles[name].Status().Steps {
			nodes[at] = step.Nodes
		}
		return nodes
	}
	c.begin("one")
	c.begin("two")
	for at := lethe.Timestep(1); at <= 2; at++ {
		send(at, fmt.Sprint(at, "-a"), fmt.Sprint(at, "-b"))
		closes(at)
	}
	taken("one")
	taken("two")
	c.stops["two"]()
	send(1, "late")
	taken("one")
	for i := range 12 {
		send(3, fmt.Sprint("3-", i))
	}
	closes(3)
	taken("one")
	want := closed("one")
	c.begin("two")
	taken("two")
	require.Equal(t, want, closed("two"))
}
