// Package outbound posts to addresses that somebody has named: a receiver of alerts, or whoever asked
// for an erasure. An address of a private network is refused when a connection is made, whatever its name
// resolved to before, unless the operator allows it; one of the local link never is allowed, for cloud
// machines hand out their credentials there. Redirects are not followed.
package outbound

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"
)

// ErrAddress refuses to connect to an address.
var ErrAddress = errors.New("nothing is sent to this address")

// CheckURL says what is wrong with an address as it is written. Where its name leads is seen when a
// connection is made.
func CheckURL(text string, allowPrivate bool) error {
	at, err := url.Parse(text)
	switch {
	case err != nil || at.Host == "":
		return errors.New("https://host/path")
	case at.User != nil:
		return errors.New("an address without a password in it: what is sent is signed")
	case at.Scheme == "http" && !allowPrivate:
		return errors.New("https://…: plain HTTP only goes with allow_private")
	case at.Scheme != "https" && at.Scheme != "http":
		return errors.New("https://host/path")
	}
	if ip, err := netip.ParseAddr(at.Hostname()); err == nil {
		return checkAddress(ip, allowPrivate)
	}
	return nil
}

// checkAddress refuses what is not of the public network, unless it is allowed.
func checkAddress(ip netip.Addr, allowPrivate bool) error {
	ip = ip.Unmap().WithZone("")
	private := false
	for _, r := range reserved() {
		if !r.prefix.Contains(ip) {
			continue
		}
		if r.never {
			return fmt.Errorf("%w: it is of %s", ErrAddress, r.what)
		}
		private = true
		if inner, found := r.embedded(ip); found {
			if err := checkAddress(inner, true); err != nil {
				return err
			}
		}
	}
	if private && !allowPrivate {
		return fmt.Errorf("%w: it is of a private network (a setting allow_private allows that)", ErrAddress)
	}
	return nil
}

// Client returns a client that connects where it may, and follows no redirect: a receiver could send it
// elsewhere.
func Client(allowPrivate bool, timeout time.Duration) *http.Client {
	dialer := &net.Dialer{
		Timeout: timeout,
		Control: func(_, address string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(address)
			if err != nil {
				return fmt.Errorf("%w: %w", ErrAddress, err)
			}
			return checkAddress(at.Addr(), allowPrivate)
		},
	}
	return &http.Client{
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSHandshakeTimeout: timeout, MaxIdleConns: 1, IdleConnTimeout: time.Minute,
			ForceAttemptHTTP2: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       timeout,
	}
}

// Bare is an error of a Client without the address that was asked, which may hold what only its owner is
// to know.
func Bare(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}
