package badinput_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"lethe/dataset"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/integration/process"
	"lethe/pipeline/requests"
)

const brokenFile = "testdata/broken.txt"

// brokenKindsMin is what the project promises.
const brokenKindsMin = 30

// broken is a record of the file.
type broken struct {
	topic bus.Topic
	step  int
	// after: it comes when its timestep is over.
	after bool
	out   ingest.Outgoing
}

// TestBrokenRecords sends every kind of broken record through a running lethe,
// among the good records of a stream. Each must be in the dead letters as it
// was, and nothing else; and the good ones must fare as if it had never been.
func TestBrokenRecords(t *testing.T) {
	t.Parallel()
	options := dataset.GenerateDefaults()
	options.Steps, options.NodesPerStep, options.Features, options.Seed = 4, 40, 6, 3
	stream, err := dataset.Generate(options)
	require.NoError(t, err)
	var all []broken
	datadriven.RunTest(t, brokenFile, func(t *testing.T, d *datadriven.TestData) string {
		all = append(all, parseBroken(t, d, stream))
		return d.Expected
	})
	require.GreaterOrEqual(t, len(all), brokenKindsMin)
	bin := process.Build(t)
	secret := process.WriteFile(t, "secret", strings.Repeat("0123456789abcdef", 4)+"\n")

	clean := start(t, bin, secret)
	clean.play(stream, nil)
	wantHash, wantPredictions := clean.outcome(stream)
	require.Empty(t, clean.letters())
	require.Zero(t, clean.service.Stop())

	mixed := start(t, bin, secret)
	mixed.play(stream, all)
	hash, predictions := mixed.outcome(stream)
	require.Equal(t, wantPredictions, predictions)
	require.Equal(t, wantHash, hash)
	found := mixed.verdicts(all)
	require.Zero(t, mixed.service.Stop())

	for _, reason := range ingest.Reasons() {
		// The others are of records that nobody can write, of lethe's own topics, or of floods.
		others := []ingest.Reason{
			ingest.CorruptBatch, ingest.RemovedUnread, ingest.Unproven,
			// Where signatures are required, see package authority.
			ingest.Unsigned, ingest.UnknownKey, ingest.WrongRole, ingest.BadSignature, ingest.SignatureExpired,
			ingest.SamePerson,
			ingest.TooManyWaiting, ingest.TooManyOpen,
			ingest.WrongPartition, // see service TestTwoPartitionersMakeOneEnsemble
		}
		if !slices.Contains(others, reason) {
			require.Contains(t, strings.Join(found, ""), string(reason)+", ", "no record of the file is refused for this reason")
		}
	}
	next := 0
	datadriven.RunTest(t, brokenFile, func(*testing.T, *datadriven.TestData) string {
		next++
		return found[next-1]
	})
}

// parseBroken reads a block of the file.
func parseBroken(t *testing.T, d *datadriven.TestData, stream *dataset.Stream) broken {
	t.Helper()
	b := broken{topic: bus.Topic(d.Cmd + ".v1"), step: 2, after: d.HasArg("after")}
	require.Contains(t, []bus.Topic{bus.Transactions, bus.Labels, bus.Erasures}, b.topic)
	d.MaybeScanArgs(t, "step", &b.step)
	var ids []string
	for _, step := range stream.Steps {
		for i, tx := range step.Transactions {
			ids = append(ids, fmt.Sprintf("$%d.%d", step.Timestep, i), string(tx.ID))
		}
	}
	pad := 0
	d.MaybeScanArgs(t, "pad", &pad)
	value := d.Input
	if !d.HasArg("no-key") {
		first, others, _ := strings.Cut(d.Input, "\n")
		key, rest := replaceIDs(first, ids)
		require.Empty(t, rest, d.Pos)
		b.out.Key, value = []byte(key), others
	}
	value, rest := replaceIDs(strings.ReplaceAll(value, "PAD", strings.Repeat("x", pad)), ids)
	require.Empty(t, rest, d.Pos)
	if d.HasArg("quoted") {
		var err error
		value, err = strconv.Unquote(value)
		require.NoError(t, err, d.Pos)
	}
	if !d.HasArg("null") {
		b.out.Value = append([]byte{}, value...)
	}
	b.out.Pinned = d.HasArg("partition")
	d.MaybeScanArgs(t, "partition", &b.out.Partition)
	return b
}

// replaceIDs puts ids in the place of what stands for them. The second result
// is not empty if something is left that stands for none.
func replaceIDs(text string, ids []string) (replaced, left string) {
	// Longest first, for $2.1 begins $2.10 too.
	for i := len(ids) - 2; i >= 0; i -= 2 {
		text = strings.ReplaceAll(text, ids[i], ids[i+1])
	}
	if at := strings.IndexByte(text, '$'); at >= 0 {
		return text, text[at:]
	}
	return text, ""
}

// verdicts compares every broken record with its dead letter and describes it.
func (d *deployment) verdicts(all []broken) []string {
	d.t.Helper()
	letters := d.letters()
	// The log says where each record came to stand: a dead letter must name it.
	written := make(map[place]ingest.Record)
	for _, topic := range []bus.Topic{bus.Transactions, bus.Labels, bus.Erasures} {
		require.NoError(d.t, d.client.ReadAll(d.t.Context(), topic, func(rec ingest.Record) error {
			rec.Key, rec.Value = clone(rec.Key), clone(rec.Value)
			written[place{rec.Topic, rec.Partition, rec.Offset}] = rec
			return nil
		}))
	}
	found := make([]string, len(all))
	for i, b := range all {
		for at, letter := range letters {
			original, known := written[at]
			if !known || at.topic != d.client.Name(b.topic) || !same(original.Key, b.out.Key) ||
				!same(original.Value, b.out.Value) {
				continue
			}
			require.Empty(d.t, found[i], "two dead letters of one record")
			disposition := letter.Refusal.Reason.Disposition()
			if b.topic == bus.Erasures {
				// A refused request is kept without what it says.
				original.Key, original.Value, disposition = nil, nil, ingest.Withheld
			}
			require.Equal(d.t, original.Key, letter.Record.Key)
			require.Equal(d.t, original.Value, letter.Record.Value)
			require.True(d.t, original.Time.Equal(letter.Record.Time), "the time of the original")
			require.Equal(d.t, "dev", letter.Version)
			require.True(d.t, letter.Refusal.Reason.Known())
			require.Equal(d.t, disposition, letter.Disposition)
			found[i] = fmt.Sprintf("%s, %s: %s\n", letter.Refusal.Reason, letter.Disposition, letter.Refusal.Detail)
			delete(letters, at)
		}
		if found[i] == "" {
			found[i] = d.answered(b)
		}
	}
	require.Empty(d.t, letters, "dead letters of good records")
	return found
}

func same(a, b []byte) bool { return (a == nil) == (b == nil) && string(a) == string(b) }

// answered describes what became of a request that is no dead letter: its status does
// not tell its id.
func (d *deployment) answered(b broken) string {
	d.t.Helper()
	if b.topic != bus.Erasures {
		return "no dead letter\n"
	}
	all, err := requests.List(d.t.Context(), d.client)
	require.NoError(d.t, err)
	require.Len(d.t, all, 1)
	require.Empty(d.t, all[0].RequestID)
	require.Equal(d.t, deletions.Rejected, all[0].State)
	return fmt.Sprintf("no dead letter; the request is %s: %s\n", all[0].State, all[0].Failure)
}
