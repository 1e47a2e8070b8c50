//go:build !linux && !darwin

package diskroom

// Of returns ErrUnknown on this operating system.
func Of(string) (Room, error) { return Room{}, ErrUnknown }

// MostFiles is not known here.
func MostFiles() int { return 0 }
