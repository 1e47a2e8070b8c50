package service_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
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
	"lethe/deletions/disk"
	"lethe/service"
	"lethe/service/servicetest"
)

// Verify says what is missing of a directory, and what does not belong together.
func TestVerifyNamesWhatIsMissing(t *testing.T) {
	if testing.Short() {
		t.Skip("checks many copies of a folder, one after the other")
	}
	t.Parallel()
	stream := servicetest.SmallStream(t, 3, 50, 41)
	c := servicetest.SmallStack(t, t.TempDir())
	s := start(t, c)
	s.Replay(stream)
	ids := servicetest.LabelledIllicit(stream, 2)
	require.Equal(t, deletions.Verified, s.Erase("one", lethe.ScopeStubs, ids[0]))
	require.Equal(t, deletions.Verified, s.Erase("two", lethe.ScopeStubs, ids[1]))
	s.Stop()
	servicetest.Audited(t, audit.Options{Config: c})

	one, two := "receipts/one.json", "receipts/two.json"
	removed := func(path string) func(*testing.T, string) {
		return func(t *testing.T, dir string) { require.NoError(t, os.RemoveAll(filepath.Join(dir, path))) }
	}
	for want, spoil := range map[string]func(t *testing.T, dir string){
		"its receipt $DIR/receipts/one.json is missing":        removed(one),
		"the key $DIR/keys/receipt-ed25519.pub.pem is missing": removed("keys/receipt-ed25519.pub.pem"),
		"$DIR/build/ledger is missing":                         removed("build/ledger"),
		"$DIR/build/snapshots is missing":                      removed("build/snapshots"),
		"the broker's log $DIR/broker is missing":              removed("broker"),
		"signature: it does not belong to payload and header":  signed(two, `"dead_letters":0`, `"dead_letters":1`),
		"counts is not what the ledger says":                   signed(two, `"dead_letters":0`, `"dead_letters":1`),
		"request one: its receipt in receipts.v1 is missing":   swapped(one, two),
		"request_id is not what the ledger says":               swapped(one, two),
		"three.json is of no request that the ledger knows":    duplicated(one, "receipts/three.json"),
		"request one was carried out, says erasure-status.v1":  forgotten,
		"receipt $DIR/receipts/one.json is of no request":      forgotten,
		"notes.txt holds the id of an erased record at byte": written("train/notes.txt",
			"about "+string(ids[0])),
		"transactions.v1/0 ends at 0 in the broker's log, but was read":     cut("broker/log/partitions/*transactions.v1-0"),
		"slices.v1/0 ends at 0 in the broker's log, but was read":           cut("broker/log/partitions/*slices.v1-0"),
		"models.v1/0 ends at 0 in the broker's log, but was read":           cut("broker/log/partitions/*models.v1-0"),
		"data/broker: read snapshots.v1: topic or partition does not exist": removed("broker/log"),
	} {
		t.Run(want, func(t *testing.T) {
			changed := copied(t, c)
			spoil(t, changed.DataDir)
			report, err := audit.Check(t.Context(), audit.Options{Config: changed})
			require.NoError(t, err)
			require.False(t, report.OK)
			require.Contains(t, strings.Join(report.Problems, "\n"), strings.ReplaceAll(want, "$DIR", changed.DataDir))
		})
	}
}

// What is damaged is named with its folder and a remedy; a store's own checksums
// are looked at for everything that it holds.
func TestVerifyNamesWhatIsDamaged(t *testing.T) {
	if testing.Short() {
		t.Skip("checks many copies of a folder, one after the other")
	}
	t.Parallel()
	stream := servicetest.SmallStream(t, 3, 50, 41)
	c := servicetest.SmallConfig(t, t.TempDir())
	s := start(t, c)
	s.Replay(stream)
	require.Equal(t, deletions.Verified, s.Erase("one", lethe.ScopeStubs, servicetest.LabelledIllicit(stream, 1)[0]))
	s.Stop()
	for want, spoil := range map[string]func(t *testing.T, dir string){
		"$DIR/build/ledger: corrupt store directory: pointer file":            blanked("build/ledger/CURRENT-GEN"),
		"$DIR/build/snapshots/staging: corrupt store directory: pointer file": blanked("build/snapshots/staging/CURRENT-GEN"),
		"the store in $DIR/build/snapshots is damaged: t000002.":              blanked("build/snapshots/t000002.*.graph"),
		"$DIR/train/shard-0001: corrupt store directory: pointer file":        blanked("train/shard-0001/CURRENT-GEN"),
		"$DIR/broker: loading persisted state: parsing topics.json":           blanked("broker/log/topics.json"),
		"(remove the folder $DIR/score and start again":                       blanked("score/state/values/m-*"),
		"score role: ": blanked("score/state/values/r-*"),
		"$DIR/train/shard-0001: corrupt store directory: FORMAT": blanked("train/shard-0001/FORMAT"),
		"$DIR/view/state: corrupt store directory: FORMAT":       blanked("view/state/FORMAT"),
		"$DIR/view/state: open generation":                       lost("view/state/g*/MANIFEST-*"),
		"$DIR/broker/log/partitions/":                            blanked("broker/log/partitions/*slices.v1-0/*.dat"),
		"the log is corrupt: $DIR/broker/log/":                   blanked("broker/log/partitions/*models.v1-1/*.dat"),
	} {
		t.Run(want, func(t *testing.T) {
			changed := copied(t, c)
			spoil(t, changed.DataDir)
			_, err := audit.Check(t.Context(), audit.Options{Config: changed})
			require.ErrorContains(t, err, strings.ReplaceAll(want, "$DIR", changed.DataDir))
			require.Regexp(t, "from a copy|remove the folder .*/(train|score|view) and start again", err.Error())
		})
	}
}

// copied is the configuration of a copy of the data directory.
func copied(t *testing.T, c configs.Config) configs.Config {
	t.Helper()
	from := c.DataDir
	c.DataDir = filepath.Join(t.TempDir(), "data")
	require.NoError(t, os.CopyFS(c.DataDir, os.DirFS(from)))
	require.NoError(t, os.Chmod(filepath.Join(c.DataDir, "keys", "receipt-ed25519.pem"), 0o600))
	return c
}

// blanked overwrites the first third of a file, which a pattern names.
func blanked(pattern string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		require.NoError(t, err)
		require.NotEmpty(t, names)
		data, err := os.ReadFile(names[0])
		require.NoError(t, err)
		clear(data[:len(data)/3])
		require.NoError(t, os.WriteFile(names[0], data, 0o600))
	}
}

// lost removes a file, which a pattern names.
func lost(pattern string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		require.NoError(t, err)
		require.NotEmpty(t, names)
		require.NoError(t, os.Remove(names[0]))
	}
}

// cut empties the log of a partition, which a pattern names.
func cut(pattern string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		names, err := filepath.Glob(filepath.Join(dir, pattern, "*"))
		require.NoError(t, err)
		require.NotEmpty(t, names)
		for _, name := range names {
			require.NoError(t, os.Remove(name))
		}
	}
}

// signed alters what the signature of a receipt is over.
func signed(path, old, text string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		name := filepath.Join(dir, path)
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		var document map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(data, &document))
		var payload string
		require.NoError(t, json.Unmarshal(document["payload"], &payload))
		says, err := base64.RawURLEncoding.DecodeString(payload)
		require.NoError(t, err)
		changed := bytes.Replace(says, []byte(old), []byte(text), 1)
		require.NotEqual(t, says, changed)
		document["payload"], err = json.Marshal(base64.RawURLEncoding.EncodeToString(changed))
		require.NoError(t, err)
		data, err = json.Marshal(document)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(name, data, 0o600))
	}
}

func swapped(one, two string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		aside := filepath.Join(dir, "aside")
		require.NoError(t, os.Rename(filepath.Join(dir, one), aside))
		require.NoError(t, os.Rename(filepath.Join(dir, two), filepath.Join(dir, one)))
		require.NoError(t, os.Rename(aside, filepath.Join(dir, two)))
	}
}

func duplicated(from, to string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		data, err := os.ReadFile(filepath.Join(dir, from))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, to), data, 0o600))
	}
}

func written(path, text string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, path), []byte(text), 0o600))
	}
}

// forgotten puts an empty ledger in the place of the true one.
func forgotten(t *testing.T, dir string) {
	build := service.RoleDir(dir, configs.RoleBuild)
	require.NoError(t, os.RemoveAll(filepath.Join(build, "ledger")))
	_, store, err := disk.OpenLedger(vfs.Default, build, nil)
	require.NoError(t, err)
	require.NoError(t, store.Close())
}
