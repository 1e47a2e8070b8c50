package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"lethe/internal/check"
)

// Usage marks an error as a usage error: the exit status is 2.
func Usage(err error) error { return statusError{err, ExitUsage} }

// Usagef returns a usage error.
func Usagef(format string, args ...any) error { return Usage(fmt.Errorf(format, args...)) }

// statusError ends a command with a specific exit status.
type statusError struct {
	error
	status int
}

func (e statusError) Unwrap() error { return e.error }

// WithStatus marks an error with the exit status of the command.
func WithStatus(err error, status int) error { return statusError{err, status} }

// WrongFlags converts a validation's error into a usage error that names flags: the key
// nodes_per_step becomes --nodes-per-step. Keys of several words stay as they are.
func WrongFlags(err error) error {
	problems := slices.Clone(check.Of(err))
	for i := range problems {
		if strings.ContainsAny(problems[i].Key, " .") {
			continue
		}
		problems[i].Key = "--" + strings.ReplaceAll(problems[i].Key, "_", "-")
	}
	return Usage(errors.New(OneLine(problems)))
}

// OneLine joins the lines of an error that reports several problems.
func OneLine(err error) string {
	return strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ")
}
