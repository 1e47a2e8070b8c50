// Package servicetest runs small deployments for the tests of the service and of its tools.
//
//	config.go    configurations of deployments that train in a moment
//	running.go   a running service
//	requests.go  requests to erase
//	topics.go    the content of topics
//	stream.go    streams, and where records of them could be left
//	inbox.go     a receiver of alerts
//	http.go      questions to the HTTP port
package servicetest

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/configs"
	"lethe/trainer"
)

// SmallConfig is a deployment that trains in a moment: few shards with one narrow
// network each and a short window. The secret is fixed so that runs can be compared.
func SmallConfig(t testing.TB, dir string) configs.Config {
	t.Helper()
	return small(t, configs.PerShard(), dir)
}

// SmallDefault is the default configuration on as little as SmallConfig.
func SmallDefault(t testing.TB, dir string) configs.Config {
	t.Helper()
	return small(t, configs.Default(), dir)
}

// SmallStack is SmallDefault with a network per shard in the ensemble: every kind of model.
func SmallStack(t testing.TB, dir string) configs.Config {
	t.Helper()
	c := SmallDefault(t, dir)
	c.Trainer.Components = append([]string{trainer.Defaults().Model}, c.Trainer.Components...)
	return c
}

func small(t testing.TB, c configs.Config, dir string) configs.Config {
	t.Helper()
	secret := filepath.Join(t.TempDir(), "secret")
	_, err := configs.LoadOrCreateSecret(secret, Zeros{})
	require.NoError(t, err)
	c.DataDir = dir
	c.SecretFile = secret
	c.HTTP.Address = "127.0.0.1:0"
	c.Embedded.Port = 0
	c.Embedded.CleanInterval = 100 * time.Millisecond
	c.Kafka.Partitions = 2
	c.Partition.Shards = 4
	c.Trainer.Hidden = 8
	c.Trainer.WindowTimesteps = 3
	c.Trainer.Passes = 1
	c.Erasure.VerifyTimeout = 30 * time.Second
	return c
}

// OwnSecret is SmallStack with the secret in the data directory.
func OwnSecret(t testing.TB) configs.Config {
	t.Helper()
	c := SmallStack(t, filepath.Join(t.TempDir(), "data"))
	c.SecretFile = ""
	return c
}

// Zeros makes keys that are the same in every test.
type Zeros struct{}

func (Zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(i + 1)
	}
	return len(p), nil
}
