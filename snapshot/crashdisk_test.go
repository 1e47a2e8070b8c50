package snapshot_test

import (
	"math/rand/v2"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// crashDisk is a disk that remembers what a sudden stop would have left.
type crashDisk struct {
	mu sync.Mutex
	// disk is the one in use.
	disk *vfs.MemFS
	// countdown is the number of writes until the stop; 0 means none is due.
	countdown int
	percent   int
	survivor  *vfs.MemFS
}

func (c *crashDisk) fs() vfs.FS {
	disk := c.disk
	return errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		if disk != c.disk || c.countdown == 0 || op.Kind.ReadOrWrite() != errorfs.OpIsWrite {
			return nil
		}
		if c.countdown--; c.countdown == 0 {
			c.survivor = c.clone()
		}
		return nil
	}))
}

func (c *crashDisk) clone() *vfs.MemFS {
	return c.disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: c.percent, RNG: rand.New(rand.NewPCG(1, 2))})
}

// arm lets the machine stop after some writes of the next action.
func (c *crashDisk) arm(writes, percent int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.countdown, c.percent, c.survivor = writes, percent, nil
}

// stopped reports whether the machine has stopped, whatever still runs on it.
func (c *crashDisk) stopped() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.survivor != nil
}

// stop replaces the disk by what is left of it. Without a stop during the
// action the machine stops after it.
func (c *crashDisk) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.survivor == nil {
		c.survivor = c.clone()
	}
	c.disk, c.survivor, c.countdown = c.survivor, nil, 0
}
