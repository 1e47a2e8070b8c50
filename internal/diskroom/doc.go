// Package diskroom tells how much room a file system has.
package diskroom

import "errors"

// Room is the space of a file system, for those who are not root.
type Room struct{ FreeBytes, TotalBytes uint64 }

// ErrUnknown says that it cannot be told on this operating system: go on without.
var ErrUnknown = errors.New("what file systems have is not known on this operating system")
