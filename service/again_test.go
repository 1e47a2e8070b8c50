package service_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/configs"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
	"lethe/service"
	"lethe/service/servicetest"
)

// Whoever reads control.v1 can write again what a process has said of itself before: it carries the deployment's code.
// Nobody ends therefore, neither as one with other settings than those of before, nor as a copy of its own directory.
func TestWhatAProcessSaidBeforeEndsNobody(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallConfig(t, t.TempDir())
	c.Roles = []string{configs.RoleBuild}
	first := start(t, c)
	open := func(run, dir string, passes int, changes bool) *service.Service {
		c := c
		c.Roles, c.DataDir, c.Kafka.Brokers, c.Trainer.Passes = []string{configs.RoleTrain}, dir, first.Brokers(), passes
		o := servicetest.Options(c)
		o.Random, o.ChangeSettings = strings.NewReader(strings.Repeat(run, 99)), changes
		s, err := service.New(t.Context(), o)
		require.NoError(t, err)
		return s
	}
	dir := t.TempDir()
	require.NoError(t, open("before", dir, 1, false).Close())
	client := first.Forger()
	newest := func() map[string]ingest.Outgoing {
		of := make(map[string]ingest.Outgoing)
		require.NoError(t, client.ReadAll(t.Context(), bus.Control, func(rec ingest.Record) error {
			of[string(rec.Key)] = ingest.Outgoing{Key: rec.Key, Value: rec.Value, Headers: rec.Headers}
			return nil
		}))
		return of
	}
	var said []ingest.Outgoing
	for key, record := range newest() {
		if key == "!settings/train" || strings.HasPrefix(key, "!member/train/") {
			said = append(said, record)
		}
	}
	require.Len(t, said, 2)
	require.NoError(t, open("beside", t.TempDir(), 1, false).Close())

	now, ended := open("now", dir, 3, true), make(chan error, 1)
	defer now.Close()
	own := newest()
	go func() { ended <- now.Run(t.Context()) }()
	require.NoError(t, client.Write(t.Context(), bus.Control, said))
	require.Eventually(t, func() bool {
		stands := newest()
		return !slices.ContainsFunc(said, func(record ingest.Outgoing) bool {
			return string(stands[string(record.Key)].Value) != string(own[string(record.Key)].Value)
		})
	}, servicetest.WaitFor, servicetest.Tick, "who reads it later takes it for the newest")
	require.NoError(t, open("another", t.TempDir(), 2, true).Close())
	select {
	case err := <-ended:
		require.ErrorContains(t, err, "trainer.passes is 3 here, train has 2", "it heard what came behind it")
	case <-time.After(30 * time.Second):
		t.Fatal("it goes on beside a process with other settings")
	}
}

// Those who ask for erasures are told how many must sign. Somebody writes again what they were told before, or what the
// deployment has not signed: they are told again, for whoever reads it once the topic is compacted finds nothing else.
func TestRequestersAreToldAgain(t *testing.T) {
	t.Parallel()
	c := signedConfig(t, t.TempDir())
	newest := func(r *running) (told ingest.Outgoing) {
		require.NoError(t, r.Client().ReadAll(t.Context(), bus.ErasureStatus, func(rec ingest.Record) error {
			if wire.IsForRequesters(rec) {
				told = ingest.Outgoing{Key: rec.Key, Value: rec.Value, Headers: rec.Headers}
			}
			return nil
		}))
		return told
	}
	r := start(t, c)
	before := newest(r)
	require.Contains(t, string(before.Value), `"signatures.requests":"2"`)
	r.Stop()
	c.Signatures.Requests = 0
	r = start(t, c)
	now := newest(r)
	require.Contains(t, string(now.Value), `"signatures.requests":"0"`)
	unsigned := ingest.Outgoing{Key: now.Key, Value: before.Value}
	for _, other := range []ingest.Outgoing{before, unsigned, {Key: now.Key}} {
		require.NoError(t, r.Forger().Write(t.Context(), bus.ErasureStatus, []ingest.Outgoing{other}))
		require.Eventually(t, func() bool {
			return string(newest(r).Value) == string(now.Value)
		}, servicetest.WaitFor, servicetest.Tick)
	}
}
