package score

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe/internal/swapstore"
)

// CarrySuppressed begins the store of a role in one folder with what the store in another one knows of
// erasures: keyed hashes of what nothing may be said of. Nothing else of it is taken.
func CarrySuppressed(fsys vfs.FS, from, to string) (err error) {
	if _, err := fsys.Stat(stateDir(from)); err != nil {
		return fmt.Errorf("score role: %w", err)
	}
	before, err := openStore(fsys, from)
	if err != nil {
		return fmt.Errorf("score role: %w", err)
	}
	defer func() { err = errors.Join(err, before.Close()) }()
	type row struct{ key, value []byte }
	var rows []row
	for _, prefix := range []string{suppressedPrefix, subjectPrefix, redactedPrefix} {
		if err := before.Scan([]byte(prefix), func(key, value []byte) error {
			rows = append(rows, row{bytes.Clone(key), bytes.Clone(value)})
			return nil
		}); err != nil {
			return fmt.Errorf("score role: %w", err)
		}
	}
	after, err := openStore(fsys, to)
	if err != nil {
		return fmt.Errorf("score role: %w", err)
	}
	err = after.Apply(func(w swapstore.Writer) error {
		for _, r := range rows {
			if err := w.Set(r.key, r.value); err != nil {
				return err
			}
		}
		return nil
	})
	if err = errors.Join(err, after.Close()); err != nil {
		return fmt.Errorf("score role: %w", err)
	}
	return nil
}
