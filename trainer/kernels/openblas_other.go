//go:build !linux || !(amd64 || arm64) || static

package kernels

import "errors"

// newOpenBLAS reports that this build cannot load a library.
func newOpenBLAS() (Set, error) {
	return nil, errors.New("this build of lethe cannot load OpenBLAS")
}
