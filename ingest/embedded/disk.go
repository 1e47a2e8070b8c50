package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"lethe/internal/diskroom"
)

// kfake answers a write that it could not store with an unspecific error, and continues. Its log
// messages are stored, so that the cause can be reported.

// probeBytes is larger than what a file system can store within allocated blocks.
const probeBytes = 64 << 10

// Refusing returns why the last rejected write could not be stored, or nil once the disk accepts
// writes again.
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

// probe writes a file into the log's directory.
func (b *Broker) probe() error {
	path := filepath.Join(b.dir, "probe")
	err := os.WriteFile(path, make([]byte, probeBytes), 0o600)
	if removeErr := os.Remove(path); !errors.Is(removeErr, os.ErrNotExist) {
		err = errors.Join(err, removeErr)
	}
	return err
}

// ErrNoRoom means that a compaction was not started, because the disk has no space for a second
// copy of the log. It may be retried.
var ErrNoRoom = fmt.Errorf("the disk has no room for a compaction: %w", syscall.ENOSPC)

// roomFor returns ErrNoRoom unless so many bytes can be written into the log's directory.
func (b *Broker) roomFor(bytes int64) error {
	// If the free space is unknown, the compaction itself fails when there is too little.
	if room, err := diskroom.Of(b.dir); err == nil && room.FreeBytes < uint64(bytes)+probeBytes {
		return fmt.Errorf("%w: %d bytes are needed, %d are free", ErrNoRoom, bytes, room.FreeBytes)
	}
	return nil
}
