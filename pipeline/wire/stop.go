package wire

import "context"

// UnlessStopped ignores the error of a role whose context has ended: stopping interrupts all work.
func UnlessStopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil //nolint:nilerr // see above
	}
	return err
}
