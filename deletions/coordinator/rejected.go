package coordinator

import (
	"context"

	"lethe/deletions"
)

// rejected announces a rejection again when the request comes again: a crash may
// have prevented it the first time.
func (s *states) rejected(ctx context.Context, e deletions.Entry) (deletions.Entry, error) {
	return e, s.out.announce(ctx, e)
}
