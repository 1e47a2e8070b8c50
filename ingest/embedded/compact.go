package embedded

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Compact compacts every compacted topic now: of each partition's records, except those of its
// newest write, only the newest of each key remains, and tombstones are removed. When it returns
// without error, no file of the directory contains the removed bytes. Write a marker after a
// tombstone (bus.Client.RollMarkers), so that the tombstone is not the newest write.
//
// The broker handles no requests while it runs. The error is ErrDamaged, ErrNoRoom, ErrClosed or
// names the partitions that could not be read.
func (b *Broker) Compact() error {
	b.files.Lock()
	defer b.files.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return ErrClosed
	}
	if b.down != nil {
		return b.down
	}
	began := time.Now()
	defer func() { b.compacted, b.compacting = time.Now(), time.Since(began) }()
	begun, done := make(chan struct{}), make(chan error, 1)
	turnErr := b.inTurn(func() {
		close(begun)
		done <- b.compact()
	})
	select {
	case <-begun:
		// The response may be lost before fn has returned: fn itself may stop the broker.
		return <-done
	default:
		return turnErr
	}
}

// compact runs while no request is being handled.
func (b *Broker) compact() error {
	if err := b.roomFor(b.size().all); err != nil {
		return fmt.Errorf("embedded broker: compact the log in %s: %w", b.dir, err)
	}
	if err := secure(b.dir); err != nil {
		return fmt.Errorf("embedded broker: keep the log in %s during compaction: %w", b.dir, err)
	}
	b.log.takeFailures()
	b.cluster.Compact()
	skipped, lost := b.log.takeFailures()
	if len(lost) > 0 {
		return b.damaged(lost)
	}
	if err := discard(b.dir); err != nil {
		return fmt.Errorf("embedded broker: drop the old log in %s: %w", b.dir, err)
	}
	// Measured before the next write: the cleaner considers these bytes compacted.
	b.left = b.size()
	if len(skipped) > 0 {
		return fmt.Errorf("embedded broker: compact: %w", errors.Join(skipped...))
	}
	return nil
}

// inTurn runs fn while the broker handles no request, so that no write happens between linking the
// log's files and compacting them. kfake handles one request at a time and lets a control function
// delay one: the request here is an election of leaders for no partitions, which no other client
// sends and which has no effect. While a control function runs, kfake still accepts calls such as
// Cluster.Compact.
func (b *Broker) inTurn(fn func()) error {
	conn, err := b.door.Dial()
	if err != nil {
		return fmt.Errorf("embedded broker: ask for a turn at %s: %w", b.address, err)
	}
	cluster := b.cluster // fn may close it
	cluster.ControlKey(int16(kmsg.ElectLeaders), func(kmsg.Request) (kmsg.Response, error, bool) {
		fn()
		cluster.DropControl()
		return nil, nil, false
	})
	_, err = conn.Write(electNobody())
	if err == nil {
		_, err = io.ReadFull(conn, make([]byte, 4))
	}
	if err = errors.Join(err, conn.Close()); err != nil {
		return fmt.Errorf("embedded broker: ask for a turn at %s: %w", b.address, err)
	}
	return nil
}

// electNobody is version 0 of the ElectLeaders request, without partitions.
func electNobody() []byte {
	m := kmsg.NewPtrElectLeadersRequest()
	m.Topics = []kmsg.ElectLeadersRequestTopic{} // nil would mean all
	return kmsg.NewRequestFormatter().AppendRequest(nil, m, 1)
}
