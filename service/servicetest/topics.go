package servicetest

import (
	"strings"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
)

// IsControl reports whether a record is lethe's or the sender's own bookkeeping.
func IsControl(rec ingest.Record) bool { return strings.HasPrefix(string(rec.Key), "!") }

// Newest returns the newest value of every key of a topic, but not of those
// that were deleted.
func (r *Running) Newest(topic bus.Topic) map[string]string {
	r.T.Helper()
	out := make(map[string]string)
	require.NoError(r.T, r.Client().ReadAll(r.T.Context(), topic, func(rec ingest.Record) error {
		switch {
		case IsControl(rec):
		case rec.Tombstone():
			delete(out, string(rec.Key))
		default:
			out[string(rec.Key)] = string(rec.Value)
		}
		return nil
	}))
	return out
}

// Forger has write rights on every topic, and not the secret.
func (r *Running) Forger() *bus.Client {
	r.T.Helper()
	client, err := bus.Open(bus.At(r.Brokers()...))
	require.NoError(r.T, err)
	r.T.Cleanup(func() { require.NoError(r.T, client.Close()) })
	return client
}
