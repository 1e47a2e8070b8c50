package secure

import (
	"errors"
	"fmt"
)

// ErrRefused marks a connection problem that an operator must fix: the broker rejects lethe's
// credentials, lethe does not trust the broker, their protocols differ, or a file of secrets cannot
// be read. Waiting alone does not help.
var ErrRefused = errors.New("refused")

// RefusedError names the cause of a failed connection and the setting to check.
type RefusedError struct {
	// Address is the broker, host:port.
	Address string
	// Setting is a key of the configuration, or a setting of the broker.
	Setting string
	Err     error
}

// Error is one line.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("broker %s: %v (look at %s)", e.Address, e.Err, e.Setting)
}

// Unwrap returns the cause.
func (e *RefusedError) Unwrap() error { return e.Err }

// Is makes every RefusedError an ErrRefused.
func (e *RefusedError) Is(target error) bool { return target == ErrRefused }

// refusal adds the address to an error that waiting cannot fix; other errors are returned
// unchanged.
func refusal(address string, err error) error {
	var refused *RefusedError
	if errors.As(err, &refused) {
		return &RefusedError{address, refused.Setting, refused.Err}
	}
	if setting, cause := tlsSetting(err); setting != "" {
		return &RefusedError{address, setting, cause}
	}
	return err
}

// fileError is a failure to read the file of a setting.
func fileError(setting string, err error) error { return &RefusedError{Setting: setting, Err: err} }
