package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"lethe/internal/check"
)

// usageError marks wrong use: the exit status is 2.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// Usage marks an error as one of wrong use.
func Usage(err error) error { return usageError{err} }

// Usagef returns an error of wrong use.
func Usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// statusError ends a command with an exit status of its own.
type statusError struct {
	error
	status int
}

func (e statusError) Unwrap() error { return e.error }

// WithStatus marks an error as one that ends the command with an exit status.
func WithStatus(err error, status int) error { return statusError{err, status} }

// WrongFlags returns an error of wrong use that names the flags of a validation's
// error: the flag of nodes_per_step is --nodes-per-step. A key of several words is
// none.
func WrongFlags(err error) error {
	problems := slices.Clone(check.Of(err))
	for i := range problems {
		if strings.ContainsAny(problems[i].Key, " .") {
			continue
		}
		problems[i].Key = "--" + strings.ReplaceAll(problems[i].Key, "_", "-")
	}
	return usageError{errors.New(OneLine(problems))}
}

// OneLine joins the lines of an error that reports several problems at once.
func OneLine(err error) string {
	return strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ")
}
