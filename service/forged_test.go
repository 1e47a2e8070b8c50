package service_test

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/audit"
	"lethe/canonical"
	"lethe/configs"
	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
	"lethe/service"
	"lethe/service/servicetest"
	"lethe/trainer"
)

// published returns the newest message of a key, as anybody can read it.
func published(t *testing.T, client *bus.Client, key wire.Key) (out wire.Message) {
	t.Helper()
	readers := make(map[int]*wire.Reader)
	require.NoError(t, client.ReadAll(t.Context(), wire.TopicOf(key.Kind), func(rec ingest.Record) error {
		if readers[rec.Partition] == nil {
			readers[rec.Partition] = wire.NewReader()
		}
		batch := bus.Batch{Source: bus.TopicPartition{Partition: rec.Partition}, Records: []ingest.Record{rec}}
		got, err := readers[rec.Partition].Read(batch)
		for _, m := range got {
			if m.Key == key && !m.Deleted {
				out = m.Message
			}
		}
		return err
	}))
	require.NotEmpty(t, out.Payload, key)
	return out
}

// Who may write to the topics and has not the secret can forge what every role believes of
// the others. Nothing of it reaches a model, a graph or a prediction, and nothing ends.
func TestForgedArtefactsAndCommandsAreNotBelieved(t *testing.T) {
	stream := servicetest.SmallStream(t, 3, 40, 3)
	first, second := servicetest.Part(t, stream, 1, 2), servicetest.Part(t, stream, 3, 3)
	undisturbed := start(t, servicetest.SmallConfig(t, t.TempDir()))
	undisturbed.Replay(first)
	undisturbed.Replay(second)
	want := finalPredictions(undisturbed)
	undisturbed.Stop()

	for name, forge := range map[string]func(t *testing.T, topics *bus.Client){
		"model": func(t *testing.T, topics *bus.Client) {
			m := published(t, topics, wire.Key{Kind: wire.KindModel, Timestep: 2})
			model, err := trainer.DecodeCheckpoint(m.Payload)
			require.NoError(t, err)
			for i := range model.Params {
				model.Params[i] = -model.Params[i]
			}
			m.Payload, m.Revision = trainer.EncodeCheckpoint(model), 2
			require.NoError(t, wire.Publish(t.Context(), topics, 2, m))
		},
		"manifest": func(t *testing.T, topics *bus.Client) {
			m := published(t, topics, wire.Key{Kind: wire.KindManifest, Timestep: 2})
			manifest, err := wire.DecodeManifest(m.Payload)
			require.NoError(t, err)
			manifest.Slices[0][0] ^= 1
			m.Payload, m.Revision = manifest.Encode(), 2
			require.NoError(t, wire.Publish(t.Context(), topics, 1, m))
		},
		"slice": func(t *testing.T, topics *bus.Client) {
			m := published(t, topics, wire.Key{Kind: wire.KindSlice, Timestep: 2})
			slice, err := canonical.DecodeSlice(m.Payload)
			require.NoError(t, err)
			for i := range slice.Features {
				slice.Features[i] += 7
			}
			m.Payload, m.Revision = canonical.EncodeSlice(slice), 2
			require.NoError(t, wire.Publish(t.Context(), topics, 2, m))
		},
		"command": func(t *testing.T, topics *bus.Client) {
			c := wire.Command{RequestID: "forged", Phase: wire.PhasePurge, SecretCheck: "0", Steps: []wire.CommandStep{
				{Timestep: 2, Revision: 9, Settled: true, Gone: true, Shards: []lethe.ShardID{0, 1, 2, 3}},
			}}
			records, err := c.Records()
			require.NoError(t, err)
			require.NoError(t, topics.Write(t.Context(), bus.Control, records))
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := servicetest.SmallConfig(t, t.TempDir())
			r := start(t, c)
			r.Replay(first)
			forge(t, r.Forger())
			require.Eventually(t, func() bool {
				return strings.Contains(r.Page("/readyz"), "unproven") &&
					strings.Contains(r.Page("/metrics"), `lethe_records_missed_total{reason="unproven"`)
			}, servicetest.WaitFor, servicetest.Tick, "it is named")
			r.Replay(second)
			require.Equal(t, want, finalPredictions(r))
			r.Stop()
			report, err := audit.Check(t.Context(), audit.Options{Config: c})
			require.NoError(t, err)
			require.Contains(t, strings.Join(report.Problems, "\n"), "was not written by this deployment: it carries no code")
			start(t, c).Await(func(s *service.Status) bool { return s.TrainedThrough == 3 })
		})
	}
}

// Forged acknowledgements, in the name of the processes that play the roles, do not
// carry a request further than those have done their part.
func TestForgedAcknowledgementsAreNotBelieved(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallConfig(t, t.TempDir())
	r := start(t, c)
	stream := servicetest.SmallStream(t, 2, 40, 3)
	r.Replay(stream)
	r.Stop()
	c.Roles = []string{configs.RoleBuild}
	r = start(t, c)
	topics := r.Forger()
	illicit := servicetest.LabelledIllicit(stream, 1)[0]
	r.Submit(lethe.ErasureRequest{RequestID: "gdpr-1", Targets: lethe.Transactions(illicit)})
	processes := make(map[string]wire.Instance)
	require.NoError(t, topics.ReadAll(t.Context(), bus.Control, func(rec ingest.Record) error {
		i, found, err := wire.ParseInstance(rec)
		if found {
			processes[i.Role] = i
		}
		return err
	}))
	var records []ingest.Outgoing
	for _, role := range []string{configs.RoleTrain, configs.RoleScore} {
		for _, step := range []deletions.Step{
			deletions.StepSuppressed, deletions.StepPurged, deletions.StepSwapped, deletions.StepErased, deletions.StepScanned,
		} {
			ack := deletions.NewAck("gdpr-1", role, processes[role].Identity, step)
			ack.Run, ack.Attempt, ack.Scan = processes[role].Run, 99, &scan.Summary{}
			value, err := ack.Encode()
			require.NoError(t, err)
			records = append(records, ingest.Outgoing{Key: []byte(ack.Key()), Value: value})
		}
	}
	require.NoError(t, topics.Write(t.Context(), bus.Control, records))
	r.Await(func(st *service.Status) bool { return st.Erasures[deletions.Accepted] == 1 })
	time.Sleep(2 * time.Second)
	require.Equal(t, deletions.Accepted, r.StatusOf("gdpr-1").State, "nobody suppresses yet")
	r.Stop()
	c.Roles = servicetest.SmallConfig(t, c.DataDir).Roles
	r = start(t, c)
	r.Await(func(st *service.Status) bool { return st.Erasures[deletions.Verified] == 1 })
}

// Whoever floods a topic with forged records fills the log with one line for each, not more, and /readyz says so, too.
func TestAForgedRecordIsOneLineOfTheLog(t *testing.T) {
	var log logged
	o := servicetest.Options(servicetest.SmallConfig(t, t.TempDir()))
	o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	r := servicetest.StartWith(t, o)
	require.NoError(t, r.Forger().Write(t.Context(), bus.ErasureStatus,
		[]ingest.Outgoing{{Key: []byte("gdpr-1"), Value: []byte("{}")}}))
	require.Eventually(t, func() bool {
		return strings.Contains(r.Page("/readyz"), "erasure-status.v1/0: offsets")
	}, time.Minute, 20*time.Millisecond)
	r.Stop()
	require.Equal(t, 1, strings.Count(log.String(), "level=ERROR"), log.String())
	require.Contains(t, log.String(), "a record that lethe did not write was ignored")
}

// What somebody wrote to lethe's own topics before the first start counts for nobody, also if that start ended before
// anything was said, as at a wrong address or password; nor does it for the processes that were there before.
func TestAFirstStartThatEndsMakesNothingForgedGenuine(t *testing.T) {
	b := &outsideBroker{t: t, dir: t.TempDir(), port: freePort(t)}
	b.start()
	c := servicetest.SmallConfig(t, t.TempDir())
	c.Kafka.Brokers = []string{b.address()}
	topics, err := bus.Open(c.Kafka)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, topics.Close()) })
	require.NoError(t, topics.Admin().Apply(t.Context()))
	forged := wire.Command{RequestID: "forged", Phase: wire.PhasePurge, SecretCheck: "0", Steps: []wire.CommandStep{
		{Timestep: 2, Revision: 9, Settled: true, Gone: true, Shards: []lethe.ShardID{0, 1, 2, 3}},
	}}
	records, err := forged.Records()
	require.NoError(t, err)
	require.NoError(t, topics.Write(t.Context(), bus.Control, records))

	elsewhere := c
	elsewhere.Kafka.Brokers = []string{freeAddress(t)}
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Second)
	defer stop()
	_, err = service.New(ctx, servicetest.Options(elsewhere))
	require.ErrorIs(t, err, context.DeadlineExceeded)

	r := start(t, c)
	require.Eventually(t, func() bool { return strings.Contains(r.Page("/readyz"), "unproven") },
		servicetest.WaitFor, servicetest.Tick)
	value, err := os.ReadFile(service.SealedPath(c.DataDir))
	require.NoError(t, err)
	sealed, err := wire.DecodeSealed(value)
	require.NoError(t, err)
	require.Empty(t, sealed.From)
}

// W144: a damaged file is not taken for one of another secret. Without a rotation of the secret, a start without it
// writes it again.
func TestADamagedSealIsNamedWithItsRemedy(t *testing.T) {
	t.Parallel()
	c := servicetest.OwnSecret(t)
	start(t, c).Stop()
	path := service.SealedPath(c.DataDir)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, damaged := range []string{"", "{}", strings.Replace(string(whole), "secret_check", "secret_chesk", 1)} {
		require.NoError(t, os.WriteFile(path, []byte(damaged), 0o600))
		_, err := service.New(t.Context(), service.Defaults(c, "test", slog.New(slog.DiscardHandler)))
		require.ErrorContains(t, err, path+": ")
		require.ErrorContains(t, err, "(remove it: the next start writes it again)")
	}
	require.NoError(t, os.WriteFile(configs.LedgerSecretPath(c.SecretPath()), nil, 0o600))
	require.Contains(t, service.SealedRemedy(c), "put it back from a copy")
	require.NoError(t, os.Remove(configs.LedgerSecretPath(c.SecretPath())))
	require.NoError(t, os.Remove(path))
	start(t, c).Stop()
	again, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(whole), string(again))
}
