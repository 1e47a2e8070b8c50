package check

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// WebAddress reports whether a text is a whole address of the web of one of some schemes, without a user and a
// password, which would end up in logs, and returns its host and port.
func WebAddress(text string, schemes ...string) (host string, ok bool) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || !slices.Contains(schemes, u.Scheme) {
		return "", false
	}
	return u.Host, true
}

// IsLoopback reports whether a host, with a port or without, is this machine.
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
