//go:build !linux && !darwin

package diskroom

// Of returns ErrUnknown on this operating system.
func Of(string) (Room, error) { return Room{}, ErrUnknown }

// Same returns ErrUnknown on this operating system.
func Same(string, string) (bool, error) { return false, ErrUnknown }

// MostFiles returns 0, unknown, on this operating system.
func MostFiles() int { return 0 }
