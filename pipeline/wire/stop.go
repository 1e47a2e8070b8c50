package wire

import (
	"context"
	"fmt"
)

// UnlessStopped names the role in an error, or drops the error of a role whose
// context is over: stopping cuts off whatever is under way, and that is how a
// role is meant to end.
func UnlessStopped(ctx context.Context, role string, err error) error {
	if stopped := ctx.Err() != nil; err == nil || stopped {
		return nil //nolint:nilerr // see above
	}
	return fmt.Errorf("%s: %w", role, err)
}
