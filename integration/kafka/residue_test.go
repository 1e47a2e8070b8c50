package kafka_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/configs"
	"lethe/ingest"
)

// trace is one form in which a transaction could be left in a file. It is
// written down from the dataset, with nothing of lethe's own scanner.
type trace struct {
	name  string
	bytes []byte
}

func (l *lab) traces(t *testing.T, id lethe.TransactionID) []trace {
	t.Helper()
	secret, err := configs.LoadOrCreateSecret(l.secret(), nil)
	require.NoError(t, err)
	pseudonym := secret.Pseudonym(id)
	out := []trace{
		{"id", []byte(id)},
		{"pseudonym", pseudonym[4:]},
		{"pseudonym in hexadecimal", []byte(hex.EncodeToString(pseudonym[4:]))},
	}
	for _, step := range l.stream.Steps {
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
			out = append(out, trace{"feature bytes", row}, trace{"features as text", text})
		}
	}
	require.Len(t, out, 5, "the transaction is not in the dataset")
	return out
}

// search lists which traces stand in the files of the folders.
func search(t *testing.T, list []trace, dirs ...string) []string {
	t.Helper()
	var out []string
	for _, dir := range dirs {
		require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if os.IsNotExist(err) {
				// The broker and lethe remove files while this runs.
				return nil
			}
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil && !os.IsNotExist(err) {
				return err
			}
			for _, c := range list {
				if bytes.Contains(data, c.bytes) || strings.Contains(path, string(c.bytes)) {
					out = append(out, c.name+" in "+filepath.Base(dir)+"/"+filepath.Base(path))
				}
			}
			return nil
		}))
	}
	return slices.Compact(out)
}

// logs are the folders of the deployment's partitions in the broker, if it is
// known where the broker keeps them.
func (d *deployment) logs() []string {
	root := outside.dir
	if root == "" {
		d.t.Log("LETHE_BROKER_DIR is not set: the broker's files are not searched")
		return nil
	}
	found, err := filepath.Glob(filepath.Join(root, d.prefix+"*"))
	require.NoError(d.t, err)
	require.NotEmpty(d.t, found, "no partition of ours in %s", root)
	return found
}

// requireGone fails if a trace is found. The broker keeps the files that
// compaction replaced for file.delete.delay.ms, a second, so the first look may
// be too early.
func (d *deployment) requireGone(list []trace, dataDirs ...string) {
	d.t.Helper()
	dirs := append(d.logs(), dataDirs...)
	var left []string
	for range 10 {
		if left = search(d.t, list, dirs...); len(left) == 0 {
			return
		}
		time.Sleep(500 * time.Millisecond)
	}
	require.Empty(d.t, left)
}
