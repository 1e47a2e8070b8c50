package service_test

import (
	"net"
	"strconv"
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
	first, second := *stream, *stream
	first.Steps, second.Steps = stream.Steps[:2], stream.Steps[2:]
	undisturbed := start(t, servicetest.SmallConfig(t, t.TempDir()))
	undisturbed.Replay(&first)
	undisturbed.Replay(&second)
	want := undisturbed.final()
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
			c.HTTP.Address = net.JoinHostPort("127.0.0.1", strconv.Itoa(freePort(t)))
			r := start(t, c)
			r.Replay(&first)
			forge(t, r.Forger())
			require.Eventually(t, func() bool {
				return strings.Contains(page(t, c.HTTP.Address, "/readyz"), "unproven") &&
					strings.Contains(page(t, c.HTTP.Address, "/metrics"), `lethe_records_missed_total{reason="unproven"`)
			}, servicetest.WaitFor, servicetest.Tick, "it is named")
			r.Replay(&second)
			require.Equal(t, want, r.final())
			r.Stop()
			report, err := audit.Check(t.Context(), audit.Options{Config: c})
			require.NoError(t, err)
			require.Contains(t, strings.Join(report.Problems, "\n"), "was not written by this deployment: it carries no code")
			start(t, c).Await(func(s *service.Status) bool { return s.TrainedThrough == 3 })
		})
	}
}

// Forged acknowledgements, in the name of the data directories that play the roles, do not
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
	identities := make(map[string]string)
	require.NoError(t, topics.ReadAll(t.Context(), bus.Control, func(rec ingest.Record) error {
		i, found, err := wire.ParseInstance(rec)
		if found {
			identities[i.Role] = i.Identity
		}
		return err
	}))
	var records []ingest.Outgoing
	for _, role := range []string{configs.RoleTrain, configs.RoleScore} {
		for _, step := range []deletions.Step{
			deletions.StepSuppressed, deletions.StepPurged, deletions.StepSwapped, deletions.StepErased, deletions.StepScanned,
		} {
			ack := deletions.NewAck("gdpr-1", role, identities[role], step)
			ack.Attempt, ack.Scan = 99, &scan.Summary{}
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
