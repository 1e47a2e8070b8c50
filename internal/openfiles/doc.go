// Package openfiles divides the limit of open files between lethe and the clients of its two ports.
package openfiles

import "errors"

// ErrUnknown marks an operating system without such a limit.
var ErrUnknown = errors.New("the limit of open files is not known on this operating system")
