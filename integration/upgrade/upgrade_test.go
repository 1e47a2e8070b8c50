package upgrade_test

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/audit"
	"lethe/integration/process"
	"lethe/service"
)

// written is what a commit left and what it would have made of the next
// timestep and a further erasure: figures of its own binary, so that the hashes
// also say that nothing moved since.
type written struct {
	archive                 string
	erasedLater             string
	after, continued, later string
}

var all = []written{{
	archive: "b12c09d.tar.gz", erasedLater: "521552799",
	after:     "4cd160b05c7ecfcd147884a1613504df7a8e2f4d9cb818161a79b79ac33b1166",
	continued: "3230953e67da3975aaa1a8a6b742044c73db7f63487c4546b47d7f26b937dccf",
	later:     "e508a74a9dfa937a8a386565e122d9529a3d0796fa5249161873bc607f8f7ff4",
}, {
	// It wrote FORMAT beside its stores, with train-shard/1 and score-state/1.
	archive: "981f14f.tar.gz", erasedLater: "521552799",
	after:     "4cd160b05c7ecfcd147884a1613504df7a8e2f4d9cb818161a79b79ac33b1166",
	continued: "3230953e67da3975aaa1a8a6b742044c73db7f63487c4546b47d7f26b937dccf",
	later:     "e508a74a9dfa937a8a386565e122d9529a3d0796fa5249161873bc607f8f7ff4",
}}

// settings are those that the archives were made with; what was the default is said.
var settings = []string{"--set", "partition.shards=3", "--set", "trainer.hidden=8", "--set", "trainer.passes=1",
	"--set", "trainer.model=elliptic-gin", "--set", "repair.one_hop=false", "--set", "ingest.normalise="}

// A directory of an earlier commit passes the audit, takes the next timestep,
// forgets one more transaction, and its receipts verify before and after.
func TestADirectoryOfAnEarlierCommitGoesOn(t *testing.T) {
	bin := process.Build(t)
	for _, w := range all {
		t.Run(w.archive, func(t *testing.T) {
			folder := unpack(t, filepath.Join("testdata", w.archive))
			dir, stream := filepath.Join(folder, "data"), filepath.Join(folder, "stream")
			requireReceipts(t, bin, dir, 1)
			require.Equal(t, w.after, verified(t, bin, dir).EnsembleHash)

			s := process.Start(t, bin, dir, process.FreePorts(t), settings...)
			replay(t, s, bin, stream, "5-5")
			s.Await("the next timestep", func(st service.Status) bool { return st.EnsembleHash == w.continued })
			erased := process.Run(t, bin, "erase", "submit", "--brokers", s.Brokers,
				"--node", w.erasedLater, "--request-id", "second", "--wait")
			require.Zero(t, erased.Code, erased.Stderr)
			s.Await("the second erasure", func(st service.Status) bool {
				return st.EnsembleHash == w.later && st.Erasures["verified"] == 2
			})
			require.Zero(t, s.Stop(), s.Log())

			require.Equal(t, w.later, verified(t, bin, dir).EnsembleHash)
			requireReceipts(t, bin, dir, 2)
		})
	}
}

func replay(t *testing.T, s *process.Service, bin, stream, steps string) {
	t.Helper()
	sent := process.Run(t, bin, "replay", "--dataset", stream, "--brokers", s.Brokers, "--steps", steps)
	require.Zero(t, sent.Code, sent.Stderr)
}

// verified audits a directory and trains every model anew.
func verified(t *testing.T, bin, dir string) audit.Report {
	t.Helper()
	r := process.Run(t, bin, append([]string{"verify", "--data-dir", dir, "--fresh", "--json"}, settings...)...)
	require.Zero(t, r.Code, r.Stdout+r.Stderr)
	var report audit.Report
	require.NoError(t, json.Unmarshal([]byte(r.Stdout), &report))
	require.True(t, report.OK)
	return report
}

// requireReceipts checks every receipt of a directory with its public key.
func requireReceipts(t *testing.T, bin, dir string, want int) {
	t.Helper()
	receipts, err := filepath.Glob(filepath.Join(dir, "receipts", "*.json"))
	require.NoError(t, err)
	require.Len(t, receipts, want)
	key := filepath.Join(dir, "keys", "receipt-ed25519.pub.pem")
	for _, receipt := range receipts {
		r := process.Run(t, bin, "receipt", "verify", receipt, "--public-key", key)
		require.Zero(t, r.Code, r.Stdout+r.Stderr)
	}
}

// unpack writes the files of an archive into a folder of the test.
func unpack(t *testing.T, archive string) string {
	t.Helper()
	f, err := os.Open(archive)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	root := t.TempDir()
	for files := tar.NewReader(z); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return root
		}
		require.NoError(t, err)
		require.True(t, filepath.IsLocal(h.Name))
		path := filepath.Join(root, h.Name)
		if h.Typeflag == tar.TypeDir {
			require.NoError(t, os.MkdirAll(path, 0o755))
			continue
		}
		content, err := io.ReadAll(files)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, content, 0o600))
	}
}
