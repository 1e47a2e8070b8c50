package trees_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/dataset"
	"lethe/partition"
	"lethe/scoring"
	"lethe/trainer/trees"
)

// otcShards is the number of shards of every figure in docs/models.md.
const otcShards = 20

// otcStep is one timestep of the Bitcoin-OTC stream, cut into shards.
type otcStep struct {
	graph  *lethe.Snapshot
	slices []*lethe.Slice
}

// readOTC partitions the stream of Bitcoin-OTC as the service does. It skips
// the test where the data is absent.
func readOTC(t testing.TB, oneHop bool) []otcStep {
	t.Helper()
	folder := os.Getenv("LETHE_DATA")
	if folder == "" {
		folder = filepath.Join("..", "..", "..", "shared", "data")
	}
	folder = filepath.Join(folder, "bitcoin-otc", "elliptic-format")
	if _, err := os.Stat(folder); errors.Is(err, os.ErrNotExist) {
		t.Skipf("no folder %s: set LETHE_DATA to run this test", folder)
	}
	stream, err := dataset.LoadElliptic(t.Context(), folder)
	require.NoError(t, err)
	out := make([]otcStep, len(stream.Steps))
	for i := range stream.Steps {
		s := snapshotOf(&stream.Steps[i], stream.FeatureCount)
		g, err := partition.FromSnapshot(s)
		require.NoError(t, err)
		a, _, err := partition.Run(t.Context(), g, partition.Options{Shards: otcShards, Seed: 1})
		require.NoError(t, err)
		if oneHop {
			s = lethe.OneHop(s)
		}
		cut, err := partition.Slices(s, lethe.NoTimestep, a, otcShards, partition.RepairOptions{Seed: 1})
		require.NoError(t, err)
		out[i] = otcStep{graph: s, slices: cut}
	}
	return out
}

func snapshotOf(step *dataset.Step, features int) *lethe.Snapshot {
	var secret lethe.Secret
	s := &lethe.Snapshot{Timestep: step.Timestep, FeatureCount: features}
	labels, rows := map[lethe.TransactionID]lethe.Label{}, map[lethe.TransactionID][]float32{}
	for _, l := range step.Labels {
		labels[l.ID] = l.Label
	}
	for _, tx := range step.Transactions {
		rows[tx.ID] = tx.Features
		s.Nodes = append(s.Nodes, lethe.SnapshotNode{Pseudonym: secret.Pseudonym(tx.ID), ID: tx.ID, Label: labels[tx.ID]})
	}
	slices.SortFunc(s.Nodes, func(a, b lethe.SnapshotNode) int { return a.Pseudonym.Compare(b.Pseudonym) })
	at := map[lethe.TransactionID]uint32{}
	for i, n := range s.Nodes {
		at[n.ID] = uint32(i)
		s.Features = append(s.Features, rows[n.ID]...)
	}
	for _, p := range step.Payments {
		s.Payments = append(s.Payments, lethe.Edge{A: at[p.Source], B: at[p.Target]})
	}
	slices.SortFunc(s.Payments, lethe.Edge.Compare)
	s.Payments = slices.Compact(s.Payments)
	return s
}

var _ = scoring.AUC
var _ = trees.Fit
