package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"lethe/internal/diskroom"
)

// kfake answers a write that it could not put on disk with an error of no meaning,
// and goes on. What it says in its log is kept, so that it can be told why.

// probeBytes is a little more than a file system keeps back in a block.
const probeBytes = 64 << 10

// Refusing returns why the last write that the broker refused could not be stored, or
// nil once the disk takes writes again.
func (b *Broker) Refusing() error {
	err := b.log.refused()
	if err == nil {
		return nil
	}
	if probeErr := b.probe(); probeErr != nil {
		return fmt.Errorf("%w (now: %w)", err, probeErr)
	}
	b.log.forgive()
	return nil
}

// probe writes a file into the log's folder.
func (b *Broker) probe() error {
	path := filepath.Join(b.dir, "probe")
	err := os.WriteFile(path, make([]byte, probeBytes), 0o600)
	if removeErr := os.Remove(path); !errors.Is(removeErr, os.ErrNotExist) {
		err = errors.Join(err, removeErr)
	}
	return err
}

// ErrNoRoom marks a compaction that was not begun, because the disk has too little
// room for the log a second time. It may be tried again.
var ErrNoRoom = fmt.Errorf("the disk has no room for a compaction: %w", syscall.ENOSPC)

// roomFor reports ErrNoRoom unless so many bytes can be written into the log's folder.
func (b *Broker) roomFor(bytes int64) error {
	// Where the room is not known, the compaction tells.
	if room, err := diskroom.Of(b.dir); err == nil && room.FreeBytes < uint64(bytes)+probeBytes {
		return fmt.Errorf("%w: %d bytes are needed, %d are free", ErrNoRoom, bytes, room.FreeBytes)
	}
	return nil
}
