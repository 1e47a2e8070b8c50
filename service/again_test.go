package service_test

import (
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/configs"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/service"
)

// Whoever reads control.v1 can write again what a process has said of itself before: it carries the deployment's code.
// Nobody ends therefore, neither as one with other settings than those of before, nor as a copy of its own directory.
func TestWhatAProcessSaidBeforeEndsNobody(t *testing.T) {
	c := smallConfig(t, t.TempDir())
	c.Roles = []string{configs.RoleBuild}
	first := start(t, c)
	open := func(run, dir string, passes int, changes bool) *service.Service {
		c := c
		c.Roles, c.DataDir, c.Kafka.Brokers, c.Trainer.Passes = []string{configs.RoleTrain}, dir, first.Brokers(), passes
		s, err := service.New(t.Context(), service.Options{
			Config: c, Version: "test", Random: strings.NewReader(strings.Repeat(run, 99)),
			Logger: slog.New(slog.DiscardHandler), ChangeSettings: changes,
		})
		require.NoError(t, err)
		return s
	}
	dir := t.TempDir()
	require.NoError(t, open("before", dir, 1, false).Close())
	client := first.forger()
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
	}, waitFor, tick, "who reads it later takes it for the newest")
	require.NoError(t, open("another", t.TempDir(), 2, true).Close())
	select {
	case err := <-ended:
		require.ErrorContains(t, err, "trainer.passes is 3 here, train has 2", "it heard what came behind it")
	case <-time.After(30 * time.Second):
		t.Fatal("it goes on beside a process with other settings")
	}
}
