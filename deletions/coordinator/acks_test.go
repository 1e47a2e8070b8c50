package coordinator

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/deletions"
	"lethe/deletions/translog"
	"lethe/pipeline/wire"
)

// What an operator declared gone is in the log once, however often it is said.
func TestATakeOverIsALeafOfTheLog(t *testing.T) {
	d := deploy(t)
	require.NoError(t, d.boot())
	at := d.now.Add(time.Minute)
	for range 2 {
		d.TakeNotices([]wire.Notice{{Instance: &wire.Instance{
			Role: trainRole, Identity: "two", Replaced: []wire.Replaced{{Identity: "one", At: at}},
		}}})
		require.NoError(t, d.Advance(d.Context()))
	}
	var found []translog.Leaf
	require.NoError(t, d.states.o.Log.Each(func(_ int64, leaf translog.Leaf) error {
		found = append(found, leaf)
		return nil
	}))
	require.Equal(t, []translog.Leaf{translog.TakeOver(trainRole, "one", at)}, found)
}

// Two processes that played one role gave a receipt for copies that nobody had
// searched. What counts is the data directory that plays the role now.
func TestOnlyTheRegisteredInstanceAcknowledges(t *testing.T) {
	c := &Coordinator{states: &states{acks: newAcks()}}
	acknowledge := func(instance string, attempt int) {
		ack := deletions.NewAck("gdpr-1", trainRole, instance, deletions.StepPurged)
		ack.Attempt = attempt
		c.TakeNotices([]wire.Notice{{Ack: &ack}})
	}
	register := func(instance string) {
		c.TakeNotices([]wire.Notice{{Instance: &wire.Instance{Role: trainRole, Identity: instance}}})
	}
	by := func() string {
		ack, ok := c.states.acks.of("gdpr-1", 1, trainRole, deletions.StepPurged)
		require.Equal(t, ok, ack.Instance != "")
		return ack.Instance
	}
	register("one")
	acknowledge("two", 1)
	require.Empty(t, by())
	acknowledge("one", 1)
	require.Equal(t, "one", by())
	register("two") // it takes over; what it said before counts
	require.Equal(t, "two", by())
	register("three")
	require.Empty(t, by())
	acknowledge("three", 0)
	require.Empty(t, by(), "an earlier attempt")
	acknowledge("one", 1)
	require.Empty(t, by())

	var keys []string
	for _, tombstone := range c.states.acks.drop("gdpr-1") {
		keys = append(keys, string(tombstone.Key))
	}
	require.Len(t, keys, 3, "everybody's acknowledgements leave the topic")
	register("one")
	require.Empty(t, by())
}
