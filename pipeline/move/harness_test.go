package move_test

import (
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
)

var errCrash = errors.New("crash")

// dying writes until it has written so many records, the last call in part.
type dying struct {
	*roletest.Bus
	left *int
}

func (d dying) Write(ctx context.Context, t bus.Topic, records []ingest.Outgoing) error {
	n := min(len(records), *d.left)
	if err := d.Bus.Write(ctx, t, records[:n]); err != nil {
		return err
	}
	if *d.left -= n; n < len(records) {
		return errCrash
	}
	return nil
}

// unproven has some offsets of erasure-status.v1 written by others.
type unproven struct {
	*roletest.Bus
	at map[int64]bool
}

func (u unproven) ReadAll(ctx context.Context, t bus.Topic, fn func(ingest.Record) error) error {
	return u.Bus.ReadAll(ctx, t, func(rec ingest.Record) error {
		if t == bus.ErasureStatus && u.at[rec.Offset] {
			rec.Unproven = "it carries no code"
		}
		return fn(rec)
	})
}

func settings(t *testing.T, role, seed string) ingest.Outgoing {
	t.Helper()
	rec, err := wire.Settings{Role: role, Values: map[string]string{"seed": seed}}.Record()
	require.NoError(t, err)
	return rec
}

// earlier are records as a version before wrote them, all to one topic: some replaced, some deleted,
// and between them what users read.
func earlier(t *testing.T) (records []ingest.Outgoing, control, users map[string]string) {
	t.Helper()
	header := []ingest.Header{{Key: "lethe.owner", Value: []byte("3 one")}}
	add := func(key, value string) {
		rec := ingest.Outgoing{Key: []byte(key), Headers: header}
		if value != "" {
			rec.Value = []byte(value)
		}
		records = append(records, rec)
	}
	add("!instance/view", "before")
	add("!struck/train/2", "struck")
	add("gdpr-1", `{"format":"lethe-erasure-status/4","state":"received"}`)
	add("order/gdpr-1", "command")
	add("order/gdpr-0", "command")
	add("!ledger/gdpr-1/0", "one")
	add("!ledger/gdpr-1/1", "two")
	add("!hold/case-7", "hold")
	add("!refused", "refused")
	add("order/gdpr-0", "")
	add("!instance/view", "now")
	add(string(ingest.MarkerKey(0)), "marker")
	graphs := settings(t, "graphs", "7")
	records = append(records, graphs)
	return records, map[string]string{
			"!instance/view": "now", "!struck/train/2": "struck", "order/gdpr-1": "command", "!ledger/gdpr-1/0": "one",
			"!ledger/gdpr-1/1": "two", "!settings/graphs": string(graphs.Value), "!moved": string(wire.Moved().Value),
		}, map[string]string{
			"gdpr-1": `{"format":"lethe-erasure-status/4","state":"received"}`, "!hold/case-7": "hold", "!refused": "refused",
			"!marker/0": "marker",
		}
}

// standing are the newest values of a topic.
func standing(t *testing.T, topics *roletest.Bus, topic bus.Topic) map[string]string {
	t.Helper()
	out := make(map[string]string)
	require.NoError(t, topics.ReadAll(t.Context(), topic, func(rec ingest.Record) error {
		if out[string(rec.Key)] = string(rec.Value); rec.Tombstone() {
			delete(out, string(rec.Key))
		}
		return nil
	}))
	return out
}

// requireMoved: everything is where it belongs, and earlier versions are kept away.
func requireMoved(t *testing.T, topics *roletest.Bus, control, users map[string]string, name string) {
	t.Helper()
	guard, err := wire.Guard()
	require.NoError(t, err)
	want := maps.Clone(users)
	want[string(guard.Key)] = string(guard.Value)
	require.Equal(t, control, standing(t, topics, bus.Control), name)
	require.Equal(t, want, standing(t, topics, bus.ErasureStatus), name)
	require.NoError(t, topics.ReadAll(t.Context(), bus.Control, func(rec ingest.Record) error {
		if string(rec.Key) == "order/gdpr-1" && !rec.Tombstone() {
			require.Len(t, rec.Headers, 1, "who wrote it is still told")
		}
		return nil
	}))
}
