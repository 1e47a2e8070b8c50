// Package outbound posts to addresses that users have configured or sent: receivers of alerts, requesters of
// erasures. An address of a private network is rejected at connection time, after name resolution, unless the
// operator allows it. A link-local address is never allowed, because cloud machines serve their credentials there.
// Redirects are not followed.
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

// ErrAddress rejects a connection to an address.
var ErrAddress = errors.New("nothing is sent to this address")

// CheckURL checks the text of a URL and describes the required form. The address that its name resolves to is checked
// at connection time.
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

// checkAddress rejects addresses outside the public network, unless allowed.
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

// Client returns a client that connects only to allowed addresses and follows no redirect, which could lead
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

// Bare returns the error of a Client without the URL, which may be confidential.
func Bare(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}
