package kill_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/configs"
	"lethe/ingest"
)

// canaries are the forms in which a transaction could be left, written down
// from the dataset: the search knows nothing of lethe's own.
func (s *setup) canaries(t *testing.T, id lethe.TransactionID) map[string][]byte {
	t.Helper()
	secret, err := configs.LoadOrCreateSecret(s.secret, nil)
	require.NoError(t, err)
	p := secret.Pseudonym(id)
	out := map[string][]byte{
		"id": []byte(id), "pseudonym": p[4:], "pseudonym in hexadecimal": []byte(hex.EncodeToString(p[4:])),
	}
	for _, step := range s.stream.Steps {
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
			out["features"] = row
			out["features as text"] = value[bytes.IndexByte(value, '[') : bytes.IndexByte(value, ']')+1]
		}
	}
	require.Len(t, out, 5, "the transaction is not in the dataset")
	return out
}

// residue lists what is left of a transaction in the data directory. The
// service must not be running: its files change.
func (d *deployment) residue(id lethe.TransactionID) []string {
	d.t.Helper()
	gone := d.canaries(d.t, id)
	var out []string
	require.NoError(d.t, filepath.WalkDir(d.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for name, c := range gone {
			if bytes.Contains(data, c) || bytes.Contains([]byte(path), c) {
				relative, _ := filepath.Rel(d.dir, path)
				out = append(out, name+" in "+relative)
			}
		}
		return nil
	}))
	return out
}
