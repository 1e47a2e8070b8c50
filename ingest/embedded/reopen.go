package embedded

import (
	"context"
	"fmt"
	"time"
)

// The pauses between attempts to open the log again.
const (
	firstReopenPause = 250 * time.Millisecond
	maxReopenPause   = 5 * time.Second
)

// reopen restores the log after a compaction that failed, and listens at the same address again, as
// soon as the disk allows it. Clients see a broker that restarts.
func (b *Broker) reopen() {
	for pause := firstReopenPause; ; pause = min(2*pause, maxReopenPause) {
		select {
		case <-b.stop:
			return
		case <-time.After(pause):
		}
		err := b.tryReopen()
		if err == nil {
			b.logger.Info("the embedded broker listens again", "address", b.address)
			return
		}
		b.logger.Error("open the embedded broker's log again", "error", err)
	}
}

// awaitReopened waits until the log of a compaction that failed is restored. While the caller holds files, no other
// compaction can fail.
func (b *Broker) awaitReopened(ctx context.Context) error {
	for {
		b.mu.Lock()
		down := b.down
		b.mu.Unlock()
		if down == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-b.stop:
			return ErrClosed
		case <-time.After(firstReopenPause):
		}
	}
}

// tryReopen returns why the log could not be opened.
func (b *Broker) tryReopen() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.probe(); err != nil {
		return err
	}
	if err := b.open(); err != nil {
		return err
	}
	b.down = nil
	return nil
}

// damaged stops the broker after a compaction that lost the files of partitions. Writes must wait
// until the log is restored: the restoration would discard them. The caller holds mu.
func (b *Broker) damaged(lost []error) error {
	b.cluster.Close()
	b.cluster = nil
	b.down = fmt.Errorf("embedded broker: %w in %s, in %d partitions: %w (the log is put back as it was once the disk "+
		"takes writes)", ErrDamaged, b.dir, len(lost), lost[0])
	b.done.Go(b.reopen)
	return b.down
}
