package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe/audit/challenge"
	"lethe/deletions/disk"
	"lethe/deletions/translog"
	"lethe/internal/command"
)

// signedCheckpoint is that of the log in a data directory, as a file.
func signedCheckpoint(t *testing.T, dataDir string) string {
	t.Helper()
	_, store, err := disk.OpenLedger(vfs.Default, filepath.Join(dataDir, "build"), nil)
	require.NoError(t, err)
	log, err := translog.ReadStored(disk.KV(store))
	require.NoError(t, err)
	require.NoError(t, store.Close())
	path := filepath.Join(t.TempDir(), "checkpoint.txt")
	require.NoError(t, os.WriteFile(path, []byte(log.Checkpoint), 0o600))
	return path
}

// execute runs the command line and returns its exit status and output.
func execute(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = program().Execute(&command.App{Context: t.Context(), Stdout: &out, Stderr: &errs, Version: "test"}, args)
	return status, out.String(), errs.String()
}

// Networks, trees, regressions and the ensemble's version: an auditor who has the signed
// checkpoint and the key alone finds that a deployment which has erased a transaction has
// trained everything without it, and an altered answer is refused.
func TestAnAuditorTrainsTheDemoAnew(t *testing.T) {
	components := []string{"elliptic-gin", "trees:2", "logistic:2"}
	r := smallDemo(t, components...)
	folder := t.TempDir()
	checkpoint := signedCheckpoint(t, r.DataDir)
	asked, answer := filepath.Join(folder, "challenge.json"), filepath.Join(folder, "bundle.lethe")
	key := filepath.Join(r.DataDir, "keys", "receipt-ed25519.pub.pem")
	status, _, said := execute(t, "audit", "draw", "--checkpoint", checkpoint, "--seed", "7",
		"--count", "0", "--meta", "--out", asked)
	require.Zero(t, status, said)
	status, _, said = execute(t, "audit", "export", "--data-dir", r.DataDir, "--challenge", asked, "--out", answer,
		"--set", "kafka.partitions=2", "--set", "partition.shards=4", "--set", "trainer.hidden=8", "--set",
		"trainer.passes=1", "--set", "trainer.components="+strings.Join(components, ","))
	require.Zero(t, status, said)
	status, out, said := execute(t, "audit", "verify", answer, "--challenge", asked, "--public-key", key, "--checkpoint",
		checkpoint, "--json")
	require.Zero(t, status, "%s%s", out, said)
	var report challenge.Report
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	require.True(t, report.OK)
	require.Len(t, report.Pairs, 4*6)
	require.Equal(t, report.Population, len(report.Pairs))
	require.Equal(t, 4*6+2+2+1, report.Models, "networks after every timestep, trees, regressions and the meta-model "+
		"after the newest")
	require.Equal(t, 1, report.Requests)
	require.Zero(t, report.UnderWay)
	require.Equal(t, r.Audit.EnsembleHash, report.Ensemble.String())

	data, err := os.ReadFile(answer)
	require.NoError(t, err)
	b, err := challenge.DecodeBundle(data)
	require.NoError(t, err)
	b.Slices[3] = b.Slices[4]
	require.NoError(t, os.WriteFile(answer, b.Encode(), 0o600))
	status, out, said = execute(t, "audit", "verify", answer, "--challenge", asked, "--public-key", key)
	require.Equal(t, 1, status)
	const want = "the slice of shard 3 at timestep 1 is not the one that the log commits to"
	require.Contains(t, out, "problem: "+want)
	require.Contains(t, said, want)
}
