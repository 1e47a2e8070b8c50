package wire

import "context"

// UnlessStopped drops the error of a role whose context is over: stopping cuts
// off whatever is under way, and that is how a role is meant to end.
func UnlessStopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil //nolint:nilerr // see above
	}
	return err
}
