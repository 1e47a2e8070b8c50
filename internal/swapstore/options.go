package swapstore

import (
	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Size is what a store is made for.
type Size struct {
	// CacheBytes bounds the memory for table blocks and what is gathered, which comes first: blocks
	// have what two times MemTableBytes leave.
	CacheBytes int64
	// MemTableBytes is how much is gathered in memory before a table is written.
	MemTableBytes uint64
	// FilterBits are those of a key in the Bloom filters that keep Lookup from reading tables
	// which do not hold a key; 0 for no filters.
	FilterBits int
	// GatheredTables is how many tables of what was gathered lie over each other before they are compacted, 0 for
	// what Pebble does by itself. Keys that come in no order are written anew with all that there is each
	// time, so that more tables are fewer bytes written, and more filters to ask.
	GatheredTables int
	// BatchBytes is for how much of what one Apply writes memory is kept for the next; 0 for Pebble's megabyte.
	BatchBytes int
}

// Small is the size of a store of which one process holds many.
func Small() Size {
	const cacheBytes, memTableBytes = 1 << 20, 4 << 20
	return Size{CacheBytes: cacheBytes, MemTableBytes: memTableBytes}
}

// Busy is the size of a store that is written to all the time, and asked of every key that is
// written whether it is there.
func Busy() Size {
	const cacheBytes, memTableBytes, filterBits, gatheredTables, batchBytes = 80 << 20, 32 << 20, 10, 12, 16 << 20
	return Size{
		CacheBytes: cacheBytes, MemTableBytes: memTableBytes, FilterBits: filterBits, GatheredTables: gatheredTables,
		BatchBytes: batchBytes,
	}
}

const (
	maxOpenFiles = 256
	// blockBytes is how much of a table is written and read at a time: what stores hold is mostly read in
	// order, and every block costs a system call.
	blockBytes = 32 << 10
	// The newest format whose tables hold one row after the other. Later ones
	// store keys by column and may share their prefixes, which a search of the
	// files for a whole key would miss.
	formatVersion = pebble.FormatFlushableIngestExcises
)

// pebbleOptions returns the options of one generation in a folder.
func pebbleOptions(fs vfs.FS, dir string, size Size) *pebble.Options {
	log := logger{dir, remedyOf(fs)}
	p := &pebble.Options{
		FS:                 sparse{fs},
		CacheSize:          size.CacheBytes,
		MemTableSize:       size.MemTableBytes,
		MaxOpenFiles:       maxOpenFiles,
		FormatMajorVersion: formatVersion,
		Logger:             log,
		EventListener:      &pebble.EventListener{BackgroundError: log.background},
	}
	if size.GatheredTables > 0 {
		// Pebble compacts at half of the threshold, and stops writes where compacting does not keep up.
		const half, stopAt, oneLevelBytes = 2, 8, 1 << 30
		p.L0CompactionThreshold, p.L0StopWritesThreshold = half*size.GatheredTables, stopAt*size.GatheredTables
		p.LBaseMaxBytes = oneLevelBytes // what is below it would be written once more
	}
	for i := range p.Levels {
		p.Levels[i].BlockRestartInterval = 1
		p.Levels[i].BlockSize = blockBytes
		p.Levels[i].Compression = func() *block.CompressionProfile { return block.NoCompression }
		if size.FilterBits > 0 {
			p.Levels[i].FilterPolicy = bloom.FilterPolicy(size.FilterBits)
		}
	}
	return p
}
