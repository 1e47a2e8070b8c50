// Package diskroom reports the free space of a file system.
package diskroom

import "errors"

// Room is the space of a file system, as available without root rights.
type Room struct{ FreeBytes, TotalBytes uint64 }

// ErrUnknown is returned on operating systems without this information; callers should continue
// without it.
var ErrUnknown = errors.New("what file systems have is not known on this operating system")
