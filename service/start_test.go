package service_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/configs"
	"lethe/ingest/bus"
	"lethe/ingest/embedded"
	"lethe/internal/testbroker"
	"lethe/pipeline/wire"
	"lethe/service"
	"lethe/service/servicetest"
)

// Nobody else may read what a data directory holds: neither a new one (S8: it was made 0755) nor one that was open to
// other users of the machine before lethe started.
func TestTheDataDirectoryIsItsOwnersAlone(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallConfig(t, filepath.Join(t.TempDir(), "new"))
	for range 2 {
		start(t, c).Stop()
		at, err := os.Stat(c.DataDir)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o700), at.Mode().Perm())
		require.NoError(t, os.Chmod(c.DataDir, 0o755))
	}
}

// The image as it is built listens on all addresses: without a login it says what to do and serves nobody.
func TestNobodyIsServedBeyondThisMachineWithoutALogin(t *testing.T) {
	c := servicetest.SmallConfig(t, t.TempDir())
	c.HTTP.Address, c.HTTP.Insecure = "0.0.0.0:0", true
	require.ErrorContains(t, refused(t, c), "http.tokens_file")
}

// W132: a second process on a data directory must not announce itself to the others: the first took it for a copy of
// its directory, and ended.
func TestASecondProcessOnADataDirectoryLeavesTheFirstAlone(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallConfig(t, filepath.Join(t.TempDir(), "data"))
	broker, _ := testbroker.Start(t, nil)
	c.Kafka.Brokers = broker.Config().Brokers
	first := start(t, c)
	err := refused(t, c)
	require.ErrorIs(t, err, embedded.ErrInUse)
	require.ErrorContains(t, err, "another lethe runs on it")
	first.Replay(servicetest.SmallStream(t, 2, 30, 5))
	first.Stop()
	start(t, c).Stop()
}

// A role that cannot go on ends the service with its error; a service that
// stays up without one of its roles would look healthy and do nothing.
func TestServiceEndsWhenARoleFails(t *testing.T) {
	for _, role := range []string{configs.RoleTrain, configs.RoleScore} {
		t.Run(role, func(t *testing.T) {
			c := servicetest.SmallConfig(t, t.TempDir())
			c.Roles = []string{role}
			s, err := service.New(t.Context(), servicetest.Options(c))
			require.NoError(t, err)
			defer s.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			ended := make(chan error, 1)
			go func() { ended <- s.Run(ctx) }()
			// An erasure by a process with another secret.
			command := wire.Command{RequestID: "r", Phase: wire.PhasePurge, SecretCheck: "another"}
			records, err := command.Records()
			require.NoError(t, err)
			require.NoError(t, s.Client().Write(ctx, bus.Control, records))
			err = <-ended
			require.NoError(t, ctx.Err(), "the service went on without its role")
			require.ErrorContains(t, err, role+" role")
		})
	}
}

// inFirstBatch is behind the header of a log's first batch, which is of 61 bytes.
const inFirstBatch = 100

// A damaged file is named in one line with what to do, and the folder that can be
// rebuilt is rebuilt once it is removed.
func TestADamagedFolderIsNamedWithItsRemedy(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallConfig(t, t.TempDir())
	r := start(t, c)
	before := r.Replay(servicetest.SmallStream(t, 3, 40, 3)).EnsembleHash
	r.Stop()
	for _, damage := range []struct{ files, want string }{
		{"score/state/CURRENT-GEN", "remove the folder " + filepath.Join(c.DataDir, "score")},
		{"score/state/values/m-*", "remove the folder " + filepath.Join(c.DataDir, "score")},
		{"train/shard-0001/CURRENT-GEN", "remove the folder " + filepath.Join(c.DataDir, "train")},
		{"build/ledger/CURRENT-GEN", "put the folder " + filepath.Join(c.DataDir, "build") + " back from a copy"},
		{"build/snapshots/staging/CURRENT-GEN", "put the folder " + filepath.Join(c.DataDir, "build")},
		{"broker/log/partitions/*models*-0/*.dat", "restore the file from a copy"},
	} {
		files, err := filepath.Glob(filepath.Join(c.DataDir, damage.files))
		require.NoError(t, err)
		require.NotEmpty(t, files, damage.files)
		whole, err := os.ReadFile(files[0])
		require.NoError(t, err)
		broken := append([]byte{}, whole...)
		// Near the beginning: in a log, the offset and the epoch of its last batch are in no checksum.
		broken[min(len(broken)/2, inFirstBatch)] ^= 0x40
		require.NoError(t, os.WriteFile(files[0], broken, 0o600))
		require.ErrorContains(t, refused(t, c), damage.want, damage.files)
		require.NoError(t, os.WriteFile(files[0], whole, 0o600))
	}
	require.NoError(t, os.RemoveAll(filepath.Join(c.DataDir, "score")))
	require.NoError(t, os.RemoveAll(filepath.Join(c.DataDir, "train")))
	r = start(t, c)
	after := r.Await(func(s *service.Status) bool { return s.TrainedThrough == 3 })
	require.Equal(t, before, after.EnsembleHash)
}

// The main job on a small stream: every timestep closes, settles, is trained on
// and, but for the first, is scored before its labels were learnt from.
func TestStreamIsScoredAndTrained(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 5, 80, 3)
	s := start(t, servicetest.SmallStack(t, t.TempDir()))
	status := s.Replay(stream)
	totals := stream.Totals()
	require.Equal(t, 5, status.Timesteps.Settled)
	require.Equal(t, totals.Transactions, status.Transactions)
	require.Equal(t, totals.Transactions-len(stream.Steps[0].Transactions), status.Predictions)
	require.Len(t, status.EnsembleHash, 64)
	for _, step := range status.Steps[1:] {
		require.NotNil(t, step.Quality, "timestep %d", step.Timestep)
		require.Positive(t, step.Quality.Labelled)
	}
}
