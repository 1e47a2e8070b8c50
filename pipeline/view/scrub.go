package view

import (
	"bytes"
	"context"
	"fmt"

	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/internal/swapstore"
	"lethe/pipeline/role"
)

// searched searches the role's files, writes the store anew if something is in them, and
// acknowledges what is left.
func (l *logic) searched(ctx context.Context, e *erasure, step deletions.Step, note *int) (role.Output, error) {
	summary, err := search(ctx, l, e)
	if err == nil && summary.Hits > 0 {
		if err = scrub(ctx, l, e.scanner); err == nil {
			summary, err = search(ctx, l, e)
		}
	}
	if err != nil {
		return role.Output{}, err
	}
	a := newAck(l, e.command, step)
	a.Scan = &summary
	return role.Acknowledge(a, note)
}

func search(ctx context.Context, l *logic, e *erasure) (scan.Summary, error) {
	return e.command.Search(ctx, l.o.Secret, swapstore.Files(l.o.FS, l.o.Dir), l.o.Pacer)
}

// scrub writes the store anew, so that no byte stays of what was deleted or replaced. Of what
// others wrote and their next message replaces, entries that still name something erased are
// left out.
func scrub(ctx context.Context, l *logic, scanner *scan.Scanner) error {
	err := l.store.Rewrite(ctx, func(src swapstore.Reader, dst swapstore.Writer) error {
		return src.Scan(nil, func(key, value []byte) error {
			made := bytes.HasPrefix(key, []byte(reasonsPrefix)) || bytes.HasPrefix(key, []byte(manifestPrefix)) ||
				bytes.HasPrefix(key, []byte(letterPrefix))
			if made && len(scanner.ScanBytes(value)) > 0 {
				return nil
			}
			return dst.Set(key, value)
		})
	})
	if err != nil {
		return fmt.Errorf("write the store anew: %w", err)
	}
	return nil
}
