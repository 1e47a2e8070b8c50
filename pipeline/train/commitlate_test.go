package train

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// saidOf is what control.v1 says last of models, for the log, and how many records there are.
func (c *crew) saidOf() (newest map[string]ingest.Record, count int) {
	c.t.Helper()
	newest = make(map[string]ingest.Record)
	secret := optionsFor("", c.topics).Secret
	require.NoError(c.t, c.topics.ReadAll(c.t.Context(), bus.Control, func(rec ingest.Record) error {
		_, found, err := wire.ParseCommitment(secret, rec)
		if found {
			newest[string(rec.Key)] = rec
			count++
		}
		return err
	}))
	return newest, count
}

// A process that hung as it said for the log what it had learnt, while its models went to another one, says it once
// slices have changed: who has the models says what they are, or the log would commit to what was unlearnt.
func TestWhatAStaleOwnerSaysForTheLogIsSaidAgain(t *testing.T) {
	c, plans := trainedByOne(t)
	before, _ := c.saidOf()
	two := c.join("two", nil)
	c.assign("two", 2, 0, 1)
	plans[1].slices[2] = sliceOf(1, 3, 2, 9)
	publish(t, c.topics, plan{1, plans[1].slices[2:]}.messages(2)...)
	c.run("two")
	want, _ := c.saidOf()
	var changed, same string
	for key, rec := range want {
		if _, owned := wire.OwnerOf(rec); !owned {
			continue // what models are trained with is nobody's
		}
		if string(before[key].Value) != string(rec.Value) {
			changed = key
		} else {
			same = key
		}
	}
	require.NotEmpty(t, changed)
	require.NotEmpty(t, same)
	late := func(keys ...string) {
		for _, key := range keys {
			rec := before[key]
			out := ingest.Outgoing{Key: rec.Key, Value: rec.Value, Headers: rec.Headers}
			require.NoError(t, c.topics.Write(t.Context(), bus.Control, []ingest.Outgoing{out}))
		}
	}
	_, count := c.saidOf()
	late(same, changed)
	c.run("two")
	got, now := c.saidOf()
	require.Equal(t, string(want[changed].Value), string(got[changed].Value))
	require.Equal(t, string(want[same].Value), string(got[same].Value))
	require.Equal(t, count+3, now, "one record is said again")

	// Nor is anything said again for what stands behind it, as a process reads it that begins.
	committer := two.logic.committer
	read := func(next int64, rec ingest.Record) {
		source := bus.TopicPartition{Topic: bus.Control}
		batch := bus.Batch{Source: source, Records: []ingest.Record{rec}, Next: next, End: 2}
		require.NoError(t, committer.checkOverwritten(batch))
	}
	read(1, before[changed])
	read(2, want[changed])
	_, any := committer.uncommitted()
	require.False(t, any)
	read(2, before[changed])
	_, any = committer.uncommitted()
	require.True(t, any)
	c.run("two")

	// Who has the models no more says nothing of them.
	c.assign("two", 3)
	c.run("two")
	late(changed)
	c.run("two")
	got, _ = c.saidOf()
	require.Equal(t, string(before[changed].Value), string(got[changed].Value))
	require.Equal(t, lethe.Timestep(3), two.logic.models[1].newest())
}
