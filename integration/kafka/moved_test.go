package kafka_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"lethe/configs"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/integration/process"
	"lethe/pipeline/wire"
	"lethe/service"
)

// Five processes are stopped, all that they said to each other is put back to where a version without
// control.v1 had it, and they are started all at once. One of the two that may moves it, the others wait, and the
// stream ends as in one process.
func TestProcessesThatStartTogetherMoveControlRecords(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	erased, _ := l.subjects(t)
	before, _ := l.reference(t, erased)
	d := l.outside(t)
	root := t.TempDir()
	roles := []string{"build", "build", "score", "score", "train"}
	all := make([]*process.Service, len(roles))
	dir := func(i int) string { return filepath.Join(root, string(rune('a'+i))) }
	startAll := func() {
		for i, role := range roles {
			args := append(d.settings(), "--roles", role)
			all[i] = process.LaunchOutside(t, d.bin, dir(i), process.FreePorts(t), d.brokers, args...)
		}
		for _, s := range all {
			s.AwaitPage("/readyz", "topics: ok")
		}
	}
	startAll()
	d.replayParts(1, 3)
	all[2].Await("half of the stream", l.learnt(3))
	for _, s := range all {
		require.Zero(t, s.Stop(), s.Log())
	}
	for i := range roles {
		require.NoError(t, os.Remove(service.TopicsPath(dir(i))))
	}
	said := d.asEarlier()
	require.Greater(t, len(said), 10, "roles, settings, commitments")

	startAll()
	d.replayParts(4, 6)
	require.Equal(t, before.hash, all[2].Await("the end of the stream", trained).EnsembleHash)
	equalPredictions(t, before.predictions, d.predictions())
	moved := 0
	for _, s := range all {
		moved += strings.Count(s.Log(), "are on control.v1 now")
		require.Zero(t, s.Stop(), s.Log())
	}
	require.Equal(t, 1, moved, "one process moves")
	require.Equal(t, []string{"!settings/graphs"}, d.keys(bus.ErasureStatus), "the guard")
	require.Subset(t, d.keys(bus.Control), append(said, "!moved"))
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

// asEarlier puts the topics back to how a version without control.v1 would have written them, and returns the
// keys of what it would have said.
func (d *deployment) asEarlier() (keys []string) {
	d.t.Helper()
	client := d.sealed()
	var records []ingest.Outgoing
	require.NoError(d.t, client.ReadAll(d.t.Context(), bus.Control, func(rec ingest.Record) error {
		require.Empty(d.t, rec.Unproven)
		if !wire.IsMoved(rec) && !ingest.IsMarker(rec.Key) {
			records = append(records, ingest.Outgoing{
				Key: bytes.Clone(rec.Key), Value: bytes.Clone(rec.Value), Headers: slices.Clone(rec.Headers),
			})
		}
		return nil
	}))
	require.NoError(d.t, client.Write(d.t.Context(), bus.ErasureStatus, records))
	require.NoError(d.t, client.Admin().Delete(d.t.Context(), bus.Control))
	return d.keys(bus.ErasureStatus)
}

// keys are those of the records that a topic has, ascending.
func (d *deployment) keys(topic bus.Topic) (out []string) {
	d.t.Helper()
	has := make(map[string]bool)
	require.NoError(d.t, d.sealed().ReadAll(d.t.Context(), topic, func(rec ingest.Record) error {
		if has[string(rec.Key)] = true; rec.Tombstone() {
			delete(has, string(rec.Key))
		}
		return nil
	}))
	for key := range has {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}

// Where the brokers do not let lethe at control.v1, which an earlier version needed no right to, the start ends in
// one line that names the topic and what is missing.
func TestAStartWithoutRightsToControlRecords(t *testing.T) {
	t.Parallel()
	d := prepared(t).outside(t)
	lethes := d.as("lethe")
	require.Zero(t, d.topics("apply").Code)
	client, err := bus.Open(d.config())
	require.NoError(t, err)
	defer client.Close()
	control := client.Name(bus.Control)
	rights := client.Admin().Rights(bus.Principals{
		Producer: "User:producer", Compliance: "User:compliance", Lethe: "User:lethe", Reader: "User:reader",
	})
	var others, reading []bus.Right
	for _, r := range rights {
		switch {
		case r.Name != control:
			others = append(others, r)
		case r.Operation != kafka.ACLOperationTypeWrite.String():
			reading = append(reading, r)
		}
	}
	require.Len(t, reading, 2, "to read it, and its settings")
	require.NoError(t, client.Admin().Grant(t.Context(), others))
	args := append([]string{
		"run", "--data-dir", filepath.Join(t.TempDir(), "data"), "--brokers", lethes.brokers,
		"--http-address", "127.0.0.1:0",
	}, lethes.settings()...)
	// Brokers get to know that a topic is gone a moment later.
	refusedFor := func(missing string) {
		t.Helper()
		var refused process.Result
		require.Eventually(t, func() bool {
			refused = process.Run(t, d.bin, args...)
			return strings.Contains(refused.Stderr, missing)
		}, time.Minute, 100*time.Millisecond, missing)
		t.Log(refused.Stderr)
		requireRefusal(t, refused, missing, "denied by the brokers' ACLs", "lethe topics acls prints")
	}
	refusedFor("topic " + control + ": denied by the brokers' ACLs")

	require.NoError(t, client.Admin().Grant(t.Context(), reading))
	refusedFor("Write on " + control + ": denied by the brokers' ACLs")

	// Upgraded without the topic, which it may not create either.
	require.NoError(t, client.Admin().Delete(t.Context(), bus.Control))
	refusedFor(control)
}
