package swapstore

import (
	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Size configures a store for its load.
type Size struct {
	// CacheBytes bounds the memory for memory tables and table blocks. Blocks get the remainder after two memory tables.
	CacheBytes int64
	// MemTableBytes is the size of a memory table before it is flushed.
	MemTableBytes uint64
	// FilterBits is the number of bits per key in the Bloom filters that save Lookup from reading
	// tables without a key; 0 means no filters.
	FilterBits int
	// GatheredTables is the number of overlapping level-0 tables that triggers a compaction; 0 means Pebble's default.
	// Keys in random order are rewritten with the whole level at each compaction, so more tables mean fewer bytes
	// written, and more filters to query.
	GatheredTables int
	// BatchBytes bounds the batch memory that is kept for reuse; 0 means Pebble's default of one megabyte.
	BatchBytes int
}

// Small is the size for one of many stores in a process.
func Small() Size {
	const cacheBytes, memTableBytes = 1 << 20, 4 << 20
	return Size{CacheBytes: cacheBytes, MemTableBytes: memTableBytes}
}

// Busy is the size for a store with constant writes, each preceded by a lookup of its key.
func Busy() Size {
	const cacheBytes, memTableBytes, filterBits, gatheredTables, batchBytes = 80 << 20, 32 << 20, 10, 12, 16 << 20
	return Size{
		CacheBytes: cacheBytes, MemTableBytes: memTableBytes, FilterBits: filterBits, GatheredTables: gatheredTables,
		BatchBytes: batchBytes,
	}
}

const (
	maxOpenFiles = 256
	// blockBytes is the size of a table's blocks: stores are mostly read in order, and every block costs a system
	// call.
	blockBytes = 32 << 10
	// The newest format with row-oriented tables. Later formats store keys by column and may share
	// their prefixes, so that a search of the files for a whole key would miss them.
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
		// Pebble compacts at half of the threshold, and stops writes if compactions do not keep up.
		const half, stopAt, oneLevelBytes = 2, 8, 1 << 30
		p.L0CompactionThreshold, p.L0StopWritesThreshold = half*size.GatheredTables, stopAt*size.GatheredTables
		p.LBaseMaxBytes = oneLevelBytes // lower levels would mean one more rewrite
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
