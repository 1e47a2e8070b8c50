package service_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/audit"
	"lethe/configs"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/ingest/embedded"
	"lethe/service/servicetest"
	"lethe/snapshot"
	"lethe/trainer"
)

// Every statement that verify makes about stores and topics that do not belong
// together, each seen once.
func TestVerifyNamesWhatDoesNotBelongTogether(t *testing.T) {
	if testing.Short() {
		t.Skip("checks many copies of a folder, one after the other")
	}
	t.Parallel()
	stream := servicetest.SmallStream(t, 9, 50, 41)
	c := servicetest.SmallConfig(t, t.TempDir())
	s := start(t, c)
	s.Replay(stream)
	erased := servicetest.LabelledIllicit(stream, 1)[0]
	require.Equal(t, deletions.Verified, s.Erase("one", lethe.ScopeStubs, erased))
	s.Stop()

	// Of the networks, those after timestep 8 are kept for good, and after 9 they are served.
	model := "train/shard-0001/values/c-*"
	slice := "train/shard-0001/values/s-*"
	for want, spoil := range map[string]func(t *testing.T, c configs.Config){
		"the store of graphs would take 1 erased transactions again": forgetful(nil),
		"that wait, name what was erased": forgetful(func(b *snapshot.Batch) error {
			key, value, err := ingest.EncodePayment(lethe.Payment{Source: erased, Target: "other", Timestep: 3})
			require.NoError(t, err)
			_, err = b.Payment(lethe.Payment{Source: erased, Target: "other", Timestep: 3},
				snapshot.Origin{Topic: "transactions.v1", Key: key, Value: value})
			return err
		}),
		"timestep 2: its graph is not in snapshots.v1": withdrawn(bus.Snapshots, "snapshot/"),
		"its copy in control.v1 is missing or old":     withdrawn(bus.Control, "!ledger/one"),
		"dlq.v1/0@":                        sent(bus.DeadLetters, escaped(erased)),
		"holds the id of an erased record": sent(bus.Transactions, escaped(erased)),
		"the key $DIR/keys/receipt-ed25519.pem is missing":     gone("keys/receipt-ed25519.pem"),
		"$DIR/train/shard-0000 is missing: start lethe run":    gone("train"),
		"$DIR/train/shard-0001 is missing: start lethe run":    gone("train/shard-0001"),
		"$DIR/score/state is missing: start lethe run":         gone("score"),
		"timestep 1 shard 1: no slice is stored":               valueOf(slice, 0, nil),
		"timestep 1 shard 1: the stored slice is not what":     copiedFrom(slice, "train/shard-0002/values/s-*"),
		"shard 1: no checkpoint after timestep 8":              valueOf(model, 0, nil),
		"shard 1: checkpoint after timestep 8: ":               valueOf(model, 0, flipped),
		"shard 1: the checkpoint after timestep 8 was not":     copiedFrom(model, "train/shard-0002/values/c-*"),
		"shard 1: the served model is not the checkpoint":      valueOf(model, 1, nudged),
		"shard 1: training anew gives other bytes after times": valueOf(model, 0, nudged),
	} {
		t.Run(want, func(t *testing.T) {
			changed := copied(t, c)
			spoil(t, changed)
			report, err := audit.Check(t.Context(), audit.Options{Config: changed, Fresh: strings.Contains(want, "anew")})
			require.NoError(t, err)
			require.False(t, report.OK)
			require.Contains(t, strings.Join(report.Problems, "\n"), strings.ReplaceAll(want, "$DIR", changed.DataDir))
		})
	}
}

// forgetful puts a store of graphs into the place of the true one that suppresses
// nothing, and into which something may be put.
func forgetful(put func(b *snapshot.Batch) error) func(*testing.T, configs.Config) {
	return func(t *testing.T, c configs.Config) {
		dir := filepath.Join(c.DataDir, "build", "snapshots")
		require.NoError(t, os.RemoveAll(dir))
		secret, err := configs.LoadOrCreateSecret(c.SecretPath(), nil)
		require.NoError(t, err)
		store, err := snapshot.Open(dir, snapshot.Options{
			Config: c.Ingest.Config, Secret: secret, FS: vfs.Default,
			TransactionPartitions: c.Kafka.Partitions, LabelPartitions: c.Kafka.Partitions,
		})
		require.NoError(t, err)
		if put != nil {
			b, err := store.Begin(snapshot.Source{Stream: snapshot.Transactions, Topic: "transactions.v1"})
			require.NoError(t, err)
			require.NoError(t, put(b))
			require.NoError(t, b.Commit(1))
		}
		require.NoError(t, store.Close())
	}
}

// escaped is a record that spells an id in another way.
func escaped(id lethe.TransactionID) []byte {
	return []byte(`{"id":"\u00` + hexOf(id[0]) + string(id[1:]) + `"}`)
}

func hexOf(b byte) string { return string("0123456789abcdef"[b>>4]) + string("0123456789abcdef"[b&15]) }

// opened writes to the log of a directory on which nothing runs.
func opened(t *testing.T, c configs.Config, do func(client *bus.Client)) {
	broker, err := embedded.Start(filepath.Join(c.DataDir, "broker"),
		embedded.Config{CleanOnDemand: true, DeleteTopics: true}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	config := c.Kafka
	config.Brokers, config.ErasureRetention = broker.Config().Brokers, broker.Config().ErasureRetention
	client, err := bus.Open(config)
	require.NoError(t, err)
	do(client)
	require.NoError(t, client.Close())
	require.NoError(t, broker.Close())
}

// sent writes a record as a producer would.
func sent(topic bus.Topic, value []byte) func(*testing.T, configs.Config) {
	return func(t *testing.T, c configs.Config) {
		opened(t, c, func(client *bus.Client) {
			records := []ingest.Outgoing{{Key: []byte("somebody"), Value: value, Pinned: true}}
			require.NoError(t, client.Write(t.Context(), topic, records))
		})
	}
}

// withdrawn writes tombstones for all keys that something begins.
func withdrawn(topic bus.Topic, prefix string) func(*testing.T, configs.Config) {
	return func(t *testing.T, c configs.Config) {
		opened(t, c, func(client *bus.Client) {
			var records []ingest.Outgoing
			require.NoError(t, client.ReadAll(t.Context(), topic, func(rec ingest.Record) error {
				if strings.HasPrefix(string(rec.Key), prefix) {
					records = append(records, ingest.Outgoing{Key: bytes.Clone(rec.Key), Pinned: true, Partition: rec.Partition})
				}
				return nil
			}))
			require.NotEmpty(t, records)
			require.NoError(t, client.Write(t.Context(), topic, records))
		})
	}
}

func gone(path string) func(*testing.T, configs.Config) {
	return func(t *testing.T, c configs.Config) { require.NoError(t, os.RemoveAll(filepath.Join(c.DataDir, path))) }
}

// valueOf changes one of the files that a pattern names, or removes it.
func valueOf(pattern string, at int, change func(*testing.T, []byte) []byte) func(*testing.T, configs.Config) {
	return func(t *testing.T, c configs.Config) {
		names, err := filepath.Glob(filepath.Join(c.DataDir, pattern))
		require.NoError(t, err)
		require.Greater(t, len(names), at)
		if change == nil {
			require.NoError(t, os.Remove(names[at]))
			return
		}
		data, err := os.ReadFile(names[at])
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(names[at], change(t, data), 0o600))
	}
}

// copiedFrom puts the first of some files in the place of the first of others.
func copiedFrom(pattern, other string) func(*testing.T, configs.Config) {
	return func(t *testing.T, c configs.Config) {
		names, err := filepath.Glob(filepath.Join(c.DataDir, other))
		require.NoError(t, err)
		require.NotEmpty(t, names)
		data, err := os.ReadFile(names[0])
		require.NoError(t, err)
		valueOf(pattern, 0, func(*testing.T, []byte) []byte { return data })(t, c)
	}
}

func flipped(_ *testing.T, data []byte) []byte {
	data[len(data)/2] ^= 0x40
	return data
}

// nudged is a checkpoint with another weight.
func nudged(t *testing.T, data []byte) []byte {
	c, err := trainer.DecodeCheckpoint(data)
	require.NoError(t, err)
	c.Steps++
	return trainer.EncodeCheckpoint(c)
}
