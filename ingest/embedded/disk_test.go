package embedded

import (
	"log/slog"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
)

// What could not be stored is told until the disk takes writes again, and logged once.
func TestARefusingDiskIsTold(t *testing.T) {
	b, err := Start(t.TempDir(), Config{CleanOnDemand: true}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()
	require.NoError(t, b.Refusing())
	b.log.Logf(kfake.LogLevelWarn, "persist batch %s-%d: %v", "t", 0, syscall.ENOSPC)
	b.dir += "/gone"
	require.ErrorContains(t, b.Refusing(), "no space left")
	b.dir = b.dir[:len(b.dir)-len("/gone")]
	require.NoError(t, b.Refusing())
	require.NoError(t, b.Refusing())
}

// A compaction that has no room is not begun: half done, it would stop the broker.
func TestACompactionNeedsRoom(t *testing.T) {
	b := &Broker{dir: t.TempDir()}
	require.NoError(t, b.roomFor(0))
	err := b.roomFor(1 << 60)
	require.ErrorIs(t, err, ErrNoRoom)
	require.ErrorIs(t, err, syscall.ENOSPC)
}
