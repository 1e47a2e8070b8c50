package configs_test

import (
	"os"
	"path/filepath"
	"testing"

	"lethe/configs"
)

// A file is either refused or a configuration that is valid.
func FuzzLoad(f *testing.F) {
	f.Add([]byte("partition:\n  shards: 3\ntrainer: {model: logistic, schedule: window}\nrepair: {one_hop: true}\n"))
	f.Add([]byte("erasure:\n  verify_timeout: 1m30s\nkafka: {brokers: [a:1, b:2]}\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), "lethe.yaml")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := configs.Load(configs.LoadOptions{File: path})
		if err != nil {
			return
		}
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
	})
}
