package journal_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/journal"
	"lethe/pipeline/role/roletest"
)

// start is where nothing of the journal was read.
var start journal.Position

// Entries of an epoch that is over do not count, wherever its leader comes to append them, and those of other roles do.
func TestEntriesOfAFencedLeaderDoNotCount(t *testing.T) {
	topics := roletest.NewBus(nil)
	one := journal.Open(topics, journal.ForAll, "graphs", "one", start)
	two := journal.Open(topics, journal.ForAll, "graphs", "two", start)
	other := journal.Open(topics, journal.ForAll, "score", "one", start)
	for _, log := range []*journal.Log{one, other, two} {
		require.NoError(t, log.Begin(t.Context(), topics.Write, map[string]int64{"slices.v1/0": 3}))
	}
	require.EqualValues(t, []int64{1, 2, 1}, []int64{one.Epoch(), two.Epoch(), other.Epoch()})
	require.NoError(t, two.Append(t.Context(), topics.Write, journal.FeaturesDecided{Count: 3}))
	require.ErrorIs(t, one.Append(t.Context(), topics.Write, journal.FeaturesDecided{Count: 7}), journal.ErrFenced)
	require.NoError(t, other.Append(t.Context(), topics.Write, journal.FeaturesDecided{Count: 5}))
	var decided []int
	two.Replay(func(e journal.Entry) {
		if d, is := e.Decision.(journal.FeaturesDecided); is {
			decided = append(decided, d.Count)
		}
	})
	require.NoError(t, two.Read(t.Context()))
	require.Equal(t, []int{3}, decided)
}

// Two processes begin an epoch at once: the first in the journal has it.
func TestTwoProcessesBeginAnEpochAtOnce(t *testing.T) {
	topics := roletest.NewBus(nil)
	one := journal.Open(topics, journal.ForAll, "graphs", "one", start)
	two := journal.Open(topics, journal.ForAll, "graphs", "two", start)
	amid := func(ctx context.Context, topic bus.Topic, records []ingest.Outgoing) error {
		if one.Epoch() == 0 {
			require.NoError(t, one.Begin(ctx, topics.Write, nil))
		}
		return topics.Write(ctx, topic, records)
	}
	require.NoError(t, two.Begin(t.Context(), amid, nil))
	require.EqualValues(t, 1, one.Epoch())
	require.EqualValues(t, 2, two.Epoch())
	require.ErrorIs(t, one.Append(t.Context(), topics.Write, journal.FeaturesDecided{Count: 3}), journal.ErrFenced)
}

// A beginning that is lost on its way ends with an error, and so does one that cannot be written.
func TestABeginningThatIsNotReadBackFails(t *testing.T) {
	log, failure := journal.Open(roletest.NewBus(nil), journal.ForAll, "graphs", "one", start), errors.New("away")
	answers := func(err error) journal.Write {
		return func(context.Context, bus.Topic, []ingest.Outgoing) error { return err }
	}
	require.ErrorContains(t, log.Begin(t.Context(), answers(nil), nil), "was not read back")
	require.ErrorIs(t, log.Begin(t.Context(), answers(failure), nil), failure)
	require.ErrorIs(t, log.Begin(t.Context(), answers(journal.ErrFenced), nil), journal.ErrFenced, "it leads no more")
}

// An entry that somebody writes again as it is counts once.
func TestARepeatedEntryCountsOnce(t *testing.T) {
	topics := roletest.NewBus(nil)
	log := journal.Open(topics, journal.ForAll, "graphs", "one", start)
	require.NoError(t, log.Begin(t.Context(), topics.Write, nil))
	for _, count := range []int{3, 4} {
		require.NoError(t, log.Append(t.Context(), topics.Write, journal.FeaturesDecided{Count: count}))
	}
	var again []ingest.Outgoing
	for _, rec := range roletest.Records(t, topics, bus.Journal) {
		again = append(again, ingest.Outgoing{Key: rec.Key, Value: rec.Value})
	}
	require.NoError(t, topics.Write(t.Context(), bus.Journal, again))
	counted := 0
	log.Replay(func(journal.Entry) { counted++ })
	require.NoError(t, log.Read(t.Context()))
	require.Equal(t, 3, counted)
	require.NoError(t, log.Append(t.Context(), topics.Write, journal.FeaturesDecided{Count: 5}))
}

// What nobody has the right to write counts for nobody.
func TestForgedEntriesDoNotCount(t *testing.T) {
	value, err := journal.Entry{Role: "graphs", Epoch: 9, Decision: journal.EpochBegan{}}.Encode()
	require.NoError(t, err)
	var reader journal.Reader
	_, counts, err := reader.Read(ingest.Record{Value: value, Unauthenticated: "it carries no code"})
	require.NoError(t, err)
	require.False(t, counts)
	require.Zero(t, reader.Epoch("graphs", journal.ForAll))
}

// An entry of another version must not be left out: it may be a decision of the reader's own role.
func TestAnEntryOfAnotherVersionIsNotLeftOut(t *testing.T) {
	topics := roletest.NewBus(nil)
	log := journal.Open(topics, journal.ForAll, "graphs", "one", start)
	require.NoError(t, log.Begin(t.Context(), topics.Write, nil))
	value := []byte(`{"format":"lethe-journal/1","role":"graphs","epoch":1,"number":2,"kind":"other","decision":{}}`)
	require.NoError(t, topics.Write(t.Context(), bus.Journal, []ingest.Outgoing{{Value: value, Pinned: true}}))
	other := journal.Open(topics, journal.ForAll, "graphs", "two", start)
	require.ErrorIs(t, other.Begin(t.Context(), topics.Write, nil), journal.ErrMalformed)
	require.ErrorContains(t, other.Read(t.Context()), "journal.v1/0@1: no entry of the journal: "+
		`kind "other" (run the version of lethe that has written it)`)
}

// A leader that appended an entry that nobody can read would take itself for fenced.
func TestAnEntryThatNobodyCanReadIsNotAppended(t *testing.T) {
	topics := roletest.NewBus(nil)
	log := journal.Open(topics, journal.ForAll, "graphs", "one", start)
	require.NoError(t, log.Begin(t.Context(), topics.Write, nil))
	require.ErrorIs(t, log.Append(t.Context(), topics.Write, journal.Consumed{}), journal.ErrMalformed)
	require.ErrorIs(t, log.Append(t.Context(), topics.Write, journal.Unregistered{}), journal.ErrMalformed)
	require.NoError(t, log.Append(t.Context(), topics.Write, journal.FeaturesDecided{Count: 3}))
}

func FuzzDecode(f *testing.F) {
	seeds := make(map[string]bool)
	for _, d := range []journal.Decision{
		journal.EpochBegan{Ends: map[string]int64{"slices.v1/0": 3}},
		journal.FeaturesDecided{Count: 3},
		journal.Consumed{Topic: "transactions.v1", Partition: 1, Next: 7, Bounded: true, Dropped: []int64{5}},
		journal.TimestepsChanged{
			Closed: []lethe.Timestep{3}, Settled: []lethe.Timestep{2}, Reopened: []lethe.Timestep{1},
			Graphs:    []journal.Artefact{{Timestep: 3, Revision: 1, Digest: lethe.Digest{1}}},
			Manifests: []journal.Artefact{{Timestep: 2, Revision: 2, Digest: lethe.Digest{2}, Slices: []lethe.Digest{{3}}}},
			Removed:   []journal.Artefact{{Timestep: 1, Revision: 3}}, Unsent: []lethe.Timestep{2},
		},
		journal.Suppressed{
			Targets: []lethe.Digest{{4}}, Subjects: []lethe.SubjectUntil{{Target: lethe.Digest{5}, Until: 6}},
			Redacted: []lethe.Redaction{{Target: lethe.Digest{6}, Columns: lethe.Columns{1}}},
		},
		journal.Lifted{Targets: []lethe.Digest{{4}}},
		journal.Rewritten{
			Requests: []lethe.Digest{{7}},
			Replaced: []journal.Replaced{{Timestep: 1, Shards: []lethe.ShardID{2}, Revision: 3, Repartitioned: true}},
		},
		journal.Served{
			Through: 3, Ensemble: lethe.Digest{8}, Scored: journal.Timesteps{{0, 1}, {3, 4}},
		},
		journal.Explained{Timestep: 3, Owed: 36},
	} {
		value, err := journal.Entry{Role: "graphs", Epoch: 2, Instance: "one", Decision: d}.Encode()
		require.NoError(f, err)
		read, err := journal.Decode(value)
		require.NoError(f, err)
		require.Equal(f, d, read.Decision)
		seeds[journal.Kind(d)] = true
		f.Add(value)
	}
	require.ElementsMatch(f, journal.Kinds(), slices.Collect(maps.Keys(seeds)))
	for _, broken := range []string{
		`{}`, `{"format":"lethe-journal/2","role":"graphs","epoch":1,"kind":"epoch_began","decision":{}}`,
		`{"format":"lethe-journal/1","role":"graphs","epoch":0,"kind":"epoch_began","decision":{}}`,
		`{"format":"lethe-journal/1","role":"graphs","epoch":1,"kind":"features_decided","decision":{"count":0}}`,
		`{"format":"lethe-journal/1","role":"graphs","epoch":1,"kind":"features_decided","decision":{"more":1}}`,
		`{"format":"lethe-journal/1","role":"graphs","epoch":1,"kind":"other","decision":{}} {}`,
		`{"format":"lethe-journal/1","role":"graphs","epoch":1,"kind":"consumed","decision":{"topic":"a","next":-1}}`,
		`{"format":"lethe-journal/1","role":"score","epoch":1,"kind":"served","decision":{"through":-5}}`,
		`{"format":"lethe-journal/1","role":"score","epoch":1,"kind":"explained","decision":{"timestep":1,"owed":-1}}`,
	} {
		_, err := journal.Decode([]byte(broken))
		require.ErrorIs(f, err, journal.ErrMalformed, broken)
		f.Add([]byte(broken))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		e, err := journal.Decode(value)
		if err != nil {
			require.ErrorIs(t, err, journal.ErrMalformed)
			return
		}
		again, err := e.Encode()
		require.NoError(t, err)
		back, err := journal.Decode(again)
		require.NoError(t, err)
		more, err := back.Encode()
		require.NoError(t, err)
		require.Equal(t, again, more)
	})
}
