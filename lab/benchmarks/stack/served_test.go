package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/configs"
	"lethe/dataset"
	"lethe/demo"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/scoring"
	"lethe/scoring/decision"
	"lethe/service"
)

// given is what a transaction is given: the bits of its probability, and the threshold.
type given struct{ probability, threshold float64 }

// What is measured offline is what the service serves, bit for bit: given the same secret, seed and stream, every
// transaction has the same probability and threshold.
func TestMeasuredIsServed(t *testing.T) {
	for name, components := range map[string]string{
		"one component":    "elliptic-gin:4:hidden=8",
		"several networks": "logistic:2,elliptic-gin:4:hidden=8,trees:2:rounds=20",
		"default":          "trees:2:rounds=20,logistic:2",
		"all kinds":        "elliptic-gin:4:hidden=8,trees:2:rounds=20,logistic:2",
	} {
		t.Run(name, func(t *testing.T) {
			c := small(generated(t))
			c.Components, c.From = []string{components}, 2
			measuredIsServed(t, c)
		})
	}
}

// The same of the default ensemble on Bitcoin-OTC.
func TestMeasuredIsServed_BitcoinOTC(t *testing.T) {
	data := os.Getenv("LETHE_DATA")
	if data == "" || testing.Short() {
		t.Skip("a run of the default ensemble on Bitcoin-OTC; needs LETHE_DATA")
	}
	c := small(filepath.Join(data, "bitcoin-otc", "elliptic-format"))
	c.Components, c.Shards, c.Window, c.From, c.To = []string{vars()["components"]}, 20, 10, 2, 49
	measuredIsServed(t, c)
}

func measuredIsServed(t *testing.T, c *cli) {
	t.Helper()
	r, err := newRun(t.Context(), c, decision.Auto())
	require.NoError(t, err)
	want := make(map[lethe.TransactionID]given)
	r.readings[len(r.readings)-1].observe = func(s *step, probabilities []float64, threshold float64) {
		for i, id := range s.nodes {
			want[id] = given{probabilities[i], threshold}
		}
	}
	require.NoError(t, r.through(t.Context()))
	got := served(t, c)
	require.Len(t, got, len(want))
	differ := 0
	for id, g := range got {
		if g != want[id] {
			differ++
		}
	}
	require.Zero(t, differ, "of %d predictions differ", len(got))
}

// served are the predictions of a service with the secret and the seed of a run.
func served(t *testing.T, c *cli) map[lethe.TransactionID]given {
	t.Helper()
	config := configs.Default()
	config.DataDir, config.HTTP.Address, config.Embedded.Port = t.TempDir(), "127.0.0.1:0", 0
	config.Seed, config.Partition.Shards, config.Scoring.LearnTimesteps = c.Seed, c.Shards, c.Window
	config.Trainer.Components = strings.Split(c.Components[0], ",")
	config.Scoring.Reasons, config.Scoring.Provisional = 0, false
	key := demo.SecretOf(c.Seed).Key()
	_, err := configs.LoadOrCreateSecret(config.SecretPath(), bytes.NewReader(key[:]))
	require.NoError(t, err)
	stream, err := dataset.ReadElliptic(t.Context(), os.DirFS(c.Dataset),
		dataset.EllipticOptions{Name: c.Dataset, Lenient: true})
	require.NoError(t, err)
	transactions := 0
	for _, step := range stream.Steps[1:] {
		transactions += len(step.Transactions)
	}
	s, err := service.New(t.Context(), service.Defaults(config, "test", slog.New(slog.DiscardHandler)))
	require.NoError(t, err)
	up := running(t, s)
	_, err = service.Replay(t.Context(), s.Client(), stream, service.ReplayOptions{})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		now, err := s.Status(t.Context())
		return err == nil && now.Predictions == transactions
	}, 10*time.Minute, 20*time.Millisecond)
	out := make(map[lethe.TransactionID]given)
	require.NoError(t, s.Client().ReadAll(t.Context(), bus.Predictions, func(rec ingest.Record) error {
		if rec.Tombstone() || len(rec.Key) > 0 && rec.Key[0] == '!' {
			return nil
		}
		p, err := scoring.DecodePrediction(rec.Value)
		if err != nil {
			return fmt.Errorf("prediction at offset %d: %w", rec.Offset, err)
		}
		out[p.Transaction] = given{p.Probability, p.Threshold}
		return nil
	}))
	up()
	return out
}

// running runs a service until the function that it returns is called.
func running(t *testing.T, s *service.Service) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	return func() {
		cancel()
		require.NoError(t, <-ended)
		require.NoError(t, s.Close())
	}
}
