package checkpoints_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/dataset"
	"lethe/lab/checkpoints"
	"lethe/lab/networks"
	"lethe/lab/protocol"
	"lethe/trainer/kernels"
)

const (
	shards = 4
	// childFolder names the environment variable that makes the test a child that is killed.
	childFolder = "LETHE_TEST_CHECKPOINTS"
)

// train trains a small ensemble and returns what was measured but for the seconds, and how many
// shards were resumed.
func train(t *testing.T, seed uint64, kept protocol.Checkpoints) (outcome string, resumed int, err error) {
	t.Helper()
	options := dataset.GenerateDefaults()
	options.Steps, options.NodesPerStep, options.Seed = 8, 60, 3
	stream, err := dataset.Generate(options)
	require.NoError(t, err)
	s := protocol.StreamDefaults(networks.EllipticGINMLP3, protocol.Static, protocol.SplitFor(8))
	s.Shards, s.Hidden, s.Epochs, s.Seed = shards, 8, 3, seed
	out, err := protocol.RunStream(t.Context(), stream, s, protocol.Runtime{
		Kernels: kernels.Default(), Workers: 1, Now: time.Now, Checkpoints: kept,
		Resumed: func(lethe.ShardID, int) { resumed++ },
	})
	if err != nil {
		return "", resumed, err
	}
	out.PartitionSeconds, out.TrainSeconds = 0, 0
	text, err := json.Marshal(out)
	require.NoError(t, err)
	return string(text), resumed, nil
}

// stuck says so when two shards are kept, and comes no further.
type stuck struct {
	protocol.Checkpoints
	saved int
}

func (s *stuck) Save(trained *protocol.Trained) error {
	err := s.Checkpoints.Save(trained)
	if s.saved++; s.saved == 2 {
		fmt.Println("two shards are kept")
		select {}
	}
	return err
}

// A run that was killed goes on with the shards that it had not trained, and ends with what a run
// in one piece ends with.
func TestKilledRunGoesOn(t *testing.T) {
	if folder := os.Getenv(childFolder); folder != "" {
		_, _, err := train(t, 1, &stuck{Checkpoints: checkpoints.Folder(folder)})
		require.NoError(t, err)
		return
	}
	want, resumed, err := train(t, 1, nil)
	require.NoError(t, err)
	require.Zero(t, resumed)

	folder := filepath.Join(t.TempDir(), "new", "folder")
	killed(t, folder)
	for _, already := range []int{2, shards} {
		got, resumed, err := train(t, 1, checkpoints.Folder(folder))
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Equal(t, already, resumed)
	}

	other, resumed, err := train(t, 2, checkpoints.Folder(folder))
	require.NoError(t, err)
	require.Zero(t, resumed, "shards of another seed were taken")
	require.NotEqual(t, want, other)
}

// killed runs the test as a child and kills it when two shards are kept.
func killed(t *testing.T, folder string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	child := exec.CommandContext(ctx, os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), childFolder+"="+folder)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "two shards are kept" {
	}
	require.NoError(t, child.Process.Kill())
	require.ErrorContains(t, child.Wait(), "killed")
}

// A file that is not what was written is no shard, whatever its name says.
func TestDamagedFilesAreRefused(t *testing.T) {
	folder := t.TempDir()
	_, _, err := train(t, 1, checkpoints.Folder(folder))
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(folder, "*.checkpoint"))
	require.NoError(t, err)
	require.Len(t, files, shards)
	whole, err := os.ReadFile(files[1])
	require.NoError(t, err)
	other, err := os.ReadFile(files[2])
	require.NoError(t, err)
	flipped := append([]byte(nil), whole...)
	flipped[len(flipped)/2] ^= 1
	for name, content := range map[string][]byte{
		"cut short": whole[:len(whole)/2], "empty": nil, "flipped": flipped, "another shard's": other,
	} {
		require.NoError(t, os.WriteFile(files[1], content, 0o600))
		_, _, err := train(t, 1, checkpoints.Folder(folder))
		require.ErrorIs(t, err, canonical.ErrCorrupt, name)
		require.ErrorContains(t, err, "remove the file to have the shard trained again", name)
	}
	require.NoError(t, os.Remove(files[1]))
	_, resumed, err := train(t, 1, checkpoints.Folder(folder))
	require.NoError(t, err)
	require.Equal(t, shards-1, resumed)
}
