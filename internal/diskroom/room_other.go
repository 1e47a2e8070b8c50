//go:build !linux && !darwin

package diskroom

// Of is not known here.
func Of(string) (Room, error) { return Room{}, ErrUnknown }

// Same is not known here.
func Same(string, string) (bool, error) { return false, ErrUnknown }

// MostFiles is not known here.
func MostFiles() int { return 0 }
