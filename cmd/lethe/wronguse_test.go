package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/configs"
	"lethe/internal/testbroker"
	"lethe/service/servicetest"
)

func TestWrongUse_NamesValueBoundAndRemedy(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for want, args := range map[string][]string{
		"--until is -2: want a timestep of 0 to 2^53, or -1 for the latest": {
			"erase", "submit", "--subject", "s", "--until=-2",
		},
		"--until is 9007199254740993: want a timestep of 0 to 2^53": {
			"erase", "plan", "--subject", "s", "--until", "9007199254740993",
		},
		"--scope is galaxy: want one of":                 {"erase", "submit", "--node", "a", "--scope", "galaxy"},
		"--until is 5, without a subject that it is for": {"erase", "submit", "--node", "a", "--until", "5"},
		"--node number 2 is not valid: want 1 to 256 bytes": {
			"erase", "submit", "--node", "a", "--node", "b c",
		},
		"--subject number 1 is not valid: want 1 to 256 bytes": {
			"hold", "set", "--subject", "a\x00", "--reason", "r",
		},
		"--edge number 1 is not of the form A>B":   {"erase", "submit", "--edge", "a b>c"},
		"--feature: features_of 0 has column 4096": {"erase", "submit", "--feature", "a>4096"},
		" a data directory of lethe?)":             {"trace", "--timestep", "1", "--data-dir", t.TempDir()},
		"(name the data directory of the process that plays erasure": {
			"log", "rotate-key", "--data-dir", t.TempDir(),
		},
		"data directory " + file + " cannot be made: it, or what it is to be in, is a file (choose another": {
			"run", "--data-dir", file, "--http-address", "127.0.0.1:0", "--set", "embedded.port=0",
		},
		file + " cannot be used: open " + file + ": not a directory (name a new folder with --data-dir)": {
			"backup", "restore", file, "--data-dir", file, "--without-ledger",
		},
	} {
		status, _, said := execute(t, args...)
		require.NotZero(t, status, want)
		require.Contains(t, said, want)
	}
}

// An empty id, as from a variable of a script that is not set, ended the program with the trace of a nil pointer.
func TestTrace_EmptyID_IsRefused(t *testing.T) {
	c := servicetest.OwnSecret(t)
	_, err := configs.LoadOrCreateSecret(filepath.Join(c.DataDir, "keys", "secret"), servicetest.Zeros{})
	require.NoError(t, err)
	for _, flag := range []string{"--transaction", "--request"} {
		status, _, said := execute(t, "trace", "--data-dir", c.DataDir, flag, "")
		require.Equal(t, 2, status)
		require.Contains(t, said, "the one given is empty or no id")
	}
}

func TestTopicsACLs_BrokerWithoutACLs_IsNamed(t *testing.T) {
	broker, _ := testbroker.Start(t, nil)
	status, _, said := execute(t, "topics", "acls", "--apply", "--brokers", broker.Config().Brokers[0])
	require.Equal(t, 1, status)
	require.Contains(t, said, "create ACLs: the broker ends the connection (that of lethe run has no ACLs")
}

// W143: an empty file, as of a copy that failed, was taken for no checkpoint at all, and the log for one that goes on
// from it.
func TestLogVerify_EmptyCheckpoint_IsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "checkpoint.txt")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	status, _, said := execute(t, "log", "verify", "--data-dir", t.TempDir(), "--checkpoint", file)
	require.Equal(t, 1, status)
	require.Contains(t, said, file+" is empty")
}

// W142: striking off the data directory of the only process ended the deployment for good: the process stopped, and was
// refused at every start.
func TestMembersStrike_OwnDirectory_IsRefused(t *testing.T) {
	c := servicetest.OwnSecret(t)
	s := servicetest.Start(t, c)
	own, err := configs.LoadOrCreateInstance(c.DataDir, nil)
	require.NoError(t, err)
	for _, role := range []string{"graphs", "train"} {
		status, _, said := execute(t, "members", "strike", own[:8], "--role", role, "--data-dir", c.DataDir,
			"--brokers", s.Brokers()[0])
		require.Equal(t, 1, status)
		require.Contains(t, said, "not lost: instance "+own+" is the data directory "+c.DataDir)
	}
	s.Stop()
	servicetest.Start(t, c).Stop()
}
