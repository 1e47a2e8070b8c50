package swapstore

import (
	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/vfs"
)

const (
	// cacheBytes bounds the memory for table blocks. It is small because one
	// process holds many stores.
	cacheBytes    = 1 << 20
	memTableBytes = 4 << 20
	maxOpenFiles  = 256
	// The newest format whose tables hold one row after the other. Later ones
	// store keys by column and may share their prefixes, which a search of the
	// files for a whole key would miss.
	formatVersion = pebble.FormatFlushableIngestExcises
)

// pebbleOptions returns the options of one generation in a folder.
func pebbleOptions(fs vfs.FS, dir string) *pebble.Options {
	log := logger{dir, remedyOf(fs)}
	p := &pebble.Options{
		FS:                 sparse{fs},
		CacheSize:          cacheBytes,
		MemTableSize:       memTableBytes,
		MaxOpenFiles:       maxOpenFiles,
		FormatMajorVersion: formatVersion,
		Logger:             log,
		EventListener:      &pebble.EventListener{BackgroundError: log.background},
	}
	for i := range p.Levels {
		p.Levels[i].BlockRestartInterval = 1
		p.Levels[i].Compression = func() *block.CompressionProfile { return block.NoCompression }
	}
	return p
}
