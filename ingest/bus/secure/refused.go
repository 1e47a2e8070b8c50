package secure

import (
	"errors"
	"fmt"
)

// ErrRefused marks a connection that an operator must mend: the broker does not take who
// lethe is, lethe does not trust the broker, they do not speak the same, or a file of
// secrets cannot be read. Waiting does not help by itself.
var ErrRefused = errors.New("refused")

// RefusedError says what is wrong with a connection, and where to look.
type RefusedError struct {
	// Address is the broker, host:port.
	Address string
	// Setting is what to look at: a key of the configuration, or a setting of the broker.
	Setting string
	Err     error
}

// Error is one line.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("broker %s: %v (look at %s)", e.Address, e.Err, e.Setting)
}

// Unwrap gives the cause.
func (e *RefusedError) Unwrap() error { return e.Err }

// Is makes every RefusedError an ErrRefused.
func (e *RefusedError) Is(target error) bool { return target == ErrRefused }

// refusal puts the address to what is wrong, if waiting cannot help; other errors stay.
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

// fileError is a failure to read what a setting names.
func fileError(setting string, err error) error { return &RefusedError{Setting: setting, Err: err} }
