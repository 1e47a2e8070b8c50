package sso

import (
	"errors"
	"net/http"
	"sync"
	"time"
)

// keysApart is how long is waited before the issuer is asked for its keys once more. Every token that names an unknown
// key would have it asked again, and anybody can make one; a key that the issuer has begun to use is known that much
// later at most.
const keysApart = 10 * time.Second

var errSeldom = errors.New("the issuer was asked for its keys a moment ago")

// seldom lets a request through at most once in keysApart.
type seldom struct {
	next http.RoundTripper
	now  func() time.Time

	mu    sync.Mutex
	asked time.Time
}

// RoundTrip implements http.RoundTripper.
func (s *seldom) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	now := s.now()
	since := now.Sub(s.asked)
	if !s.asked.IsZero() && since >= 0 && since < keysApart {
		s.mu.Unlock()
		return nil, errSeldom
	}
	s.asked = now
	s.mu.Unlock()
	return s.next.RoundTrip(r)
}
