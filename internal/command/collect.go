package command

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// collectPercent lets the heap grow to three times the live memory.
	collectPercent = 200
	// smallMemoryBytes is the limit of that: above, memory may exceed the live memory by a half, as with GOGC=50.
	smallMemoryBytes = 880 << 20
	// liveInterval is the interval of readings of the live memory; a reading takes microseconds.
	liveInterval = 250 * time.Millisecond
)

// CollectSeldom has the garbage collector run seldom while memory is small, and more often when it is not, until the
// context ends. Collections were a tenth of the processor time of a replay. It changes nothing if GOGC or GOMEMLIMIT is
// set.
func CollectSeldom(ctx context.Context) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(collectPercent)
	go func() {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		ticker := time.NewTicker(liveInterval)
		defer ticker.Stop()
		for before := int64(0); ; {
			metrics.Read(live)
			if limit := memoryLimit(live[0].Value.Uint64()); limit != before { // setting it stops all goroutines
				debug.SetMemoryLimit(limit)
				before = limit
			}
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	}()
}

// memoryLimit returns the memory at which the collector runs, whatever the heap has grown by.
func memoryLimit(liveBytes uint64) int64 {
	return max(smallMemoryBytes, int64(liveBytes)/2*3)
}
