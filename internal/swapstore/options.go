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

// pebbleOptions returns the options of one generation.
func pebbleOptions(fs vfs.FS) *pebble.Options {
	p := &pebble.Options{
		FS:                 fs,
		CacheSize:          cacheBytes,
		MemTableSize:       memTableBytes,
		MaxOpenFiles:       maxOpenFiles,
		FormatMajorVersion: formatVersion,
		Logger:             silent{},
	}
	for i := range p.Levels {
		p.Levels[i].BlockRestartInterval = 1
		p.Levels[i].Compression = func() *block.CompressionProfile { return block.NoCompression }
	}
	return p
}

// silent is Pebble's logger: its messages may quote keys.
type silent struct{}

// Infof says nothing.
func (silent) Infof(string, ...any) {}

// Errorf says nothing: what concerns a caller is returned to it.
func (silent) Errorf(string, ...any) {}

// Fatalf is called when Pebble can no longer write its log or its manifest,
// and must not return. Going on would lose acknowledged writes, whereas a
// crash is what the store is built to survive.
func (silent) Fatalf(string, ...any) {
	panic("swapstore: the log or the manifest cannot be written; restart once the disk takes writes")
}
