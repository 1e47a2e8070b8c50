package check

import (
	"net/url"
	"slices"
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
