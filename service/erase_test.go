package service_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/configs"
	"lethe/dataset"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/service"
)

// erase publishes a request and waits until it ends.
func (r *running) erase(id string, scope lethe.Scope, nodes ...lethe.TransactionID) deletions.State {
	r.t.Helper()
	before, err := r.Status(r.t.Context())
	require.NoError(r.t, err)
	key, value, err := ingest.EncodeErasure(lethe.ErasureRequest{RequestID: id, Nodes: nodes, Scope: scope}, time.Time{})
	require.NoError(r.t, err)
	require.NoError(r.t, r.Client().Write(r.t.Context(), bus.Erasures, []ingest.Outgoing{{Key: key, Value: value}}))
	ended := func(st *service.Status) int {
		return st.Erasures[deletions.Verified] + st.Erasures[deletions.Rejected]
	}
	after := r.await(func(st *service.Status) bool { return ended(st) > ended(before) })
	if after.Erasures[deletions.Rejected] > before.Erasures[deletions.Rejected] {
		return deletions.Rejected
	}
	return deletions.Verified
}

// canary is what must not be found of a transaction: written down by the test
// itself, from the dataset, not by what lethe says of it.
type canary struct {
	name  string
	bytes []byte
}

func canaries(t testing.TB, c configs.Config, s *dataset.Stream, id lethe.TransactionID) []canary {
	t.Helper()
	secret, err := configs.LoadOrCreateSecret(c.SecretFile, nil)
	require.NoError(t, err)
	p := secret.Pseudonym(id)
	out := []canary{
		{"raw id", []byte(id)},
		{"pseudonym", p[4:]},
		{"pseudonym in hexadecimal", []byte(hex.EncodeToString(p[4:]))},
	}
	for _, step := range s.Steps {
		for _, tx := range step.Transactions {
			if tx.ID != id {
				continue
			}
			var row []byte
			for _, v := range tx.Features {
				row = binary.LittleEndian.AppendUint32(row, math.Float32bits(v))
			}
			_, value, err := ingest.EncodeTransaction(tx)
			require.NoError(t, err)
			text := value[bytes.IndexByte(value, '[') : bytes.IndexByte(value, ']')+1]
			out = append(out, canary{"feature bytes", row}, canary{"features as text", text})
		}
	}
	require.Len(t, out, 5, "the transaction is not in the dataset")
	return out
}

// residue lists where the canaries stand in the files of a folder. A running
// service replaces files meanwhile; one that is gone holds nothing.
func residue(t testing.TB, dir string, list []canary) []string {
	t.Helper()
	var out []string
	files := 0
	gone := func(err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return gone(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return gone(err)
		}
		files++
		for _, c := range list {
			if bytes.Contains(data, c.bytes) || bytes.Contains([]byte(path), c.bytes) {
				rel, _ := filepath.Rel(dir, path)
				out = append(out, c.name+" in "+rel)
			}
		}
		return nil
	}))
	require.Greater(t, files, 10, "there is hardly a file to search")
	return out
}

func TestErasureLeavesNoByteAndASignedReceipt(t *testing.T) {
	stream := smallStream(t, 5, 80, 3)
	c := smallConfig(t, t.TempDir())
	s := start(t, c)
	before := s.replay(stream)
	id := labelledIllicit(stream, 3)[0]
	list := canaries(t, c, stream, id)
	require.NotEmpty(t, residue(t, c.DataDir, list), "the search finds nothing even before the erasure")

	require.Equal(t, deletions.Verified, s.erase("gdpr-1", lethe.ScopeStubs, id))
	require.Empty(t, residue(t, c.DataDir, list))
	after := s.await(func(*service.Status) bool { return true })
	require.NotEqual(t, before.EnsembleHash, after.EnsembleHash)
	require.Equal(t, before.Transactions-1, after.Transactions)
	require.Equal(t, before.Predictions-1, after.Predictions)
	s.stop()
	require.Empty(t, residue(t, c.DataDir, list), "after the service has stopped")

	signed, err := os.ReadFile(filepath.Join(service.ReceiptsDir(c.DataDir), "gdpr-1.json"))
	require.NoError(t, err)
	receipt, verification, err := deletions.Verify(signed, nil)
	require.NoError(t, err)
	require.True(t, verification.Valid, "%v", verification.Problems)
	require.Equal(t, before.EnsembleHash, receipt.EnsembleBefore.String())
	require.Equal(t, after.EnsembleHash, receipt.EnsembleAfter.String())
	require.Equal(t, []lethe.Timestep{3}, receipt.Timesteps)
	require.Zero(t, receipt.Scan.Hits)
	require.Positive(t, receipt.Scan.Records)
}
