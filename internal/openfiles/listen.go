package openfiles

import (
	"net"

	"golang.org/x/net/netutil"
)

// Listen opens a port for as many connections at a time. net/http waits out a lack of file descriptors.
func Listen(address string, connections int) (net.Listener, error) {
	port, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	return netutil.LimitListener(port, connections), nil
}
