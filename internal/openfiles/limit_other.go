//go:build !linux && !darwin

package openfiles

// Limit reports ErrUnknown.
func Limit() (uint64, error) { return 0, ErrUnknown }
