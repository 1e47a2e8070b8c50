package sso

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// keysApart is how long is waited before the issuer is asked for its keys once more. Every token that names an unknown
// key would have it asked again, and anybody can make one; a key that the issuer has begun to use is known that much
// later at most.
const keysApart = 10 * time.Second

// What keeps the issuer's keys from being known. go-oidc returns the texts of errors alone.
var (
	errSeldom = errors.New("lethe: the issuer was asked for its keys a moment ago")
	errAway   = errors.New("lethe: the issuer does not tell its keys")
)

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
	response, err := s.next.RoundTrip(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errAway, err)
	}
	return response, nil
}
