package translog_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
)

// Whatever somebody writes over the log in its topic, the topic has the log again once that was read; and of what the
// log says itself nothing is written again.
func TestWhatWasWrittenOverIsPublishedAgain(t *testing.T) {
	b, p := newBook(t, "ours"), &topic{}
	require.NoError(t, b.start(t, p))
	b.take(t, "r-1", "tx-1")
	require.NoError(t, b.log.Publish(t.Context(), p))
	before := p.published(t)
	b.carryOut(t, "r-1")
	require.NoError(t, b.log.Publish(t.Context(), p))
	want := p.published(t)
	read := 0
	goesOn := func() {
		for read < len(p.records) {
			records := p.records[read:]
			read = len(p.records)
			require.NoError(t, b.log.PublishAgain(t.Context(), p, records))
		}
		require.Equal(t, want, p.published(t))
	}
	goesOn()
	require.Len(t, p.records, read, "nothing was written again")
	leaf := func(index int) []byte { return fmt.Appendf(nil, "%016d", index) }
	for name, late := range map[string]ingest.Outgoing{
		"an earlier checkpoint": {Key: []byte("checkpoint"), Value: []byte(before.Checkpoint)},
		"no checkpoint":         {Key: []byte("checkpoint")},
		"junk":                  {Key: []byte("checkpoint"), Value: []byte("junk")},
		"another leaf":          {Key: leaf(1), Value: want.Leaves[0]},
		"no leaf":               {Key: leaf(0)},
		"one that is not there": {Key: leaf(len(want.Leaves)), Value: want.Leaves[0]},
		"one far behind":        {Key: leaf(1000), Value: want.Leaves[0]},
	} {
		require.NoError(t, p.Write(t.Context(), bus.Log, []ingest.Outgoing{late}), name)
		goesOn()
	}
	require.Less(t, len(p.records), 60)
}

// A log that is begun leaves out what somebody wrote late who led before, if the rest is a whole log.
func TestALogIsMadeAgainWithoutWhatCameLate(t *testing.T) {
	b, p := newBook(t, "ours"), &topic{}
	b.take(t, "r-1", "tx-1")
	require.NoError(t, b.log.Publish(t.Context(), p))
	before := p.published(t)
	b.carryOut(t, "r-1")
	require.NoError(t, b.log.Publish(t.Context(), p))
	want, genuine := p.published(t), len(p.records)
	require.NoError(t, p.Write(t.Context(), bus.Log, []ingest.Outgoing{
		{Key: []byte("checkpoint"), Value: []byte(before.Checkpoint)},
		{Key: fmt.Appendf(nil, "%016d", 2), Value: want.Leaves[0]},
		{Key: fmt.Appendf(nil, "%016d", len(want.Leaves)), Value: want.Leaves[0]},
	}))
	n := 0
	other := newBook(t, "ours")
	require.NoError(t, other.log.Start(t.Context(), p, func(ingest.Record) bool {
		n++
		return n > genuine
	}, changesOf(t, b)))
	require.NoError(t, other.log.Publish(t.Context(), p))
	require.Equal(t, want, p.published(t))
	// Records have no code: who says that all of them are late has nothing left out.
	other = newBook(t, "ours")
	require.NoError(t, other.log.Start(t.Context(), p, func(ingest.Record) bool { return true }, changesOf(t, b)))
	require.Len(t, leaves(t, other), len(want.Leaves))
	require.NoError(t, other.log.Publish(t.Context(), p))
	require.Equal(t, want, p.published(t))
}
