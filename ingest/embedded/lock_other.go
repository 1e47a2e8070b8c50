//go:build !unix || solaris || aix

package embedded

import "errors"

type dirLock struct{}

func lockDir(string) (*dirLock, error) {
	return nil, errors.New("the embedded broker needs file locks, which this system does not have; use an external broker")
}

func (*dirLock) release() error { return nil }
