package openfiles

import (
	"net"

	"golang.org/x/net/netutil"
)

// Listen opens a port for at most so many concurrent connections. net/http retries when file descriptors run out.
func Listen(address string, connections int) (net.Listener, error) {
	port, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	return netutil.LimitListener(port, connections), nil
}
