package mixedstore

import (
	"context"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe/internal/swapstore"
)

// Convert makes a mixed store of a swapstore of an earlier format, which held all
// values itself. change copies what it holds, in ascending order, under the keys
// of today; what it leaves out is gone. If there is no store of that format,
// nothing is done. If the process is killed during it, it begins again when it is called again.
func Convert(
	fs vfs.FS, dir string, from, to swapstore.Format, change func(old swapstore.Reader, w swapstore.Writer) error,
	prefixes ...string,
) error {
	return swapstore.Convert(fs, dir, from, to, func(old *swapstore.Store) error {
		f, err := openFiles(fs, dir, prefixes)
		if err != nil {
			return err
		}
		return old.Rewrite(context.Background(), func(src swapstore.Reader, dst swapstore.Writer) error {
			if err := change(src, routed{dst, f}); err != nil {
				return err
			}
			return f.sync()
		})
	})
}

// routed writes some keys to files.
type routed struct {
	swapstore.Writer
	files *files
}

// Set implements swapstore.Writer.
func (r routed) Set(key, value []byte) error {
	if r.files.has(key) {
		return r.files.set(key, value)
	}
	return r.Writer.Set(key, value)
}
