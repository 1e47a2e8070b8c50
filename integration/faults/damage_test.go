package faults_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/integration/process"
)

// A byte of a table is another one, in the stores of each role. Whoever reads it
// ends with exit status 1 and one line that names the file and what to do, which helps.
func damagedTables(t *testing.T, bin string) {
	d := newDeployment(t, bin, filepath.Join(t.TempDir(), "data"))
	require.Zero(t, d.replay("1-4").Code)
	d.learnt(steps)
	d.verified(d.erase("before", d.node(1, 0)))
	require.Zero(t, d.Stop(), d.Log())
	for at, c := range []struct {
		// tables are those of a store, folder is what the line tells to remove.
		tables, folder string
		// asked says that nobody need read all of the store until an erasure is asked for.
		asked bool
	}{
		{"train/shard-0001/g*/*.sst", "train", false},
		{"score/state/g*/*.sst", "score", false},
		{"build/snapshots/t000002.*.graph", "build", true},
		{"build/snapshots/staging/g*/*.sst", "build", true},
		{"build/ledger/g*/*.sst", "build", false},
	} {
		asks := fmt.Sprintf("asks-%d", at)
		// At a start, what stands in the logs of stores is made tables.
		d.start()
		d.learnt(steps)
		require.Zero(t, d.Stop(), d.Log())
		damaged := tablesOf(t, filepath.Join(d.dir, c.tables))
		flip(t, damaged)
		verify := process.Run(t, d.bin, append([]string{"verify", "--data-dir", d.dir}, d.settings()...)...)
		require.Equal(t, 1, verify.Code, verify.Stdout)
		d.tells(c.folder, verify.Stderr)

		s := process.Launch(t, d.bin, d.dir, d.ports, d.settings()...)
		if c.asked {
			d.Service = s
			// A compaction of the store may read it before.
			if s.AwaitPageOrEnd("/readyz", "broker: ok") {
				process.Run(t, d.bin, "erase", "submit", "--node", d.node(1, 1+at), "--request-id", asks, "--brokers", s.Brokers)
			}
		}
		require.Equal(t, 1, s.AwaitEnd(), c.tables)
		d.tells(c.folder, s.LastLine())
		require.NotContains(t, s.Log(), "goroutine ", c.tables)
		require.NotContains(t, s.Log(), "panic", c.tables)
		if c.asked {
			// The graphs are not made again while a request is carried out: a copy is put back.
			flip(t, damaged)
			d.start()
			d.verified(d.erase(asks, d.node(1, 1+at)))
			require.Zero(t, d.Stop(), d.Log())
			continue
		}
		require.NoError(t, os.RemoveAll(filepath.Join(d.dir, c.folder)))
		d.start()
		d.learnt(steps)
		d.verified(d.erase(fmt.Sprintf("after-%d", at), d.node(2, at)))
		require.Zero(t, d.Stop(), d.Log())
	}
	d.start()
	d.audit()
}

// tells checks the one line that a process ends with.
func (d *deployment) tells(folder, line string) {
	d.t.Helper()
	line = strings.TrimSpace(line)
	require.NotContains(d.t, line, "\n")
	path := filepath.Join(d.dir, folder)
	const damaged = `/\S+ is damaged: \S+\.(sst|graph) is not what was written \(`
	require.Regexp(d.t, `^lethe: .*the store in `+path+damaged, line)
	if folder == "build" {
		require.Contains(d.t, line, "(put the folder "+path+" back from a copy, or remove the whole of it and start again")
	} else {
		require.Contains(d.t, line, "(remove the folder "+path+" and start again: it is rebuilt from the topics)")
	}
}

// tablesOf lists the tables that a pattern names.
func tablesOf(t *testing.T, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, names, pattern)
	return names
}

// flip changes a byte of the first block of tables, or changes it back. Those that a store
// has deleted since are passed over.
func flip(t *testing.T, tables []string) {
	t.Helper()
	for _, name := range tables {
		raw, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		require.NoError(t, err)
		raw[10] ^= 0x40
		require.NoError(t, os.WriteFile(name, raw, 0o600))
	}
}
