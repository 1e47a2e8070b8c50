package command

import (
	"fmt"
	"strings"
)

// usageError marks wrong use: the exit status is 2.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// Usage marks an error as one of wrong use.
func Usage(err error) error { return usageError{err} }

// Usagef returns an error of wrong use.
func Usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// OneLine joins the lines of an error that reports several problems at once.
func OneLine(err error) string {
	return strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ")
}
