package check

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// WebAddress reports whether text is a complete URL with one of the schemes and without user and password, which
// would end up in logs. It returns the host and port.
func WebAddress(text string, schemes ...string) (host string, ok bool) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || !slices.Contains(schemes, u.Scheme) {
		return "", false
	}
	return u.Host, true
}

// IsLoopback reports whether a host, with or without a port, is this machine.
func IsLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if host == "localhost" {
		return true
	}
	at, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && at.Unmap().IsLoopback()
}
