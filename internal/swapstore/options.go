package swapstore

import (
	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/vfs"
)

const (
	defaultCacheBytes = 1 << 20
	memTableBytes     = 4 << 20
	maxOpenFiles      = 256
	// The newest format whose tables hold one row after the other. Later ones
	// store keys by column and may share their prefixes, which a search of the
	// files for a whole key would miss.
	formatVersion = pebble.FormatFlushableIngestExcises
)

// Options say how a store is opened. The zero value is good for production.
type Options struct {
	// FS is the file system; nil means the operating system's.
	FS vfs.FS
	// Format is what the store's keys and values mean. Open refuses another one
	// with ErrFormat.
	Format Format
	// CacheBytes bounds the memory for table blocks; 0 means 1 MiB. Small is the
	// default because one process holds many stores.
	CacheBytes int64
}

// EnsureDefaults returns a copy with the unset fields filled in.
func (o Options) EnsureDefaults() Options {
	if o.FS == nil {
		o.FS = vfs.Default
	}
	if o.CacheBytes <= 0 {
		o.CacheBytes = defaultCacheBytes
	}
	return o
}

// pebbleOptions returns the options of one generation.
func (o Options) pebbleOptions() *pebble.Options {
	p := &pebble.Options{
		FS:                 o.FS,
		CacheSize:          o.CacheBytes,
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
