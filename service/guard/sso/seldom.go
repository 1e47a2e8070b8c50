package sso

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// keysApart is the minimum time between two fetches of the issuer's keys. Every token with an unknown key would
// trigger a fetch, and anyone can make such a token; a new key of the issuer becomes known with at most this delay.
const keysApart = 10 * time.Second

// The reasons why the issuer's keys are unknown. go-oidc returns only the texts of errors.
var (
	errSeldom = errors.New("lethe: the issuer was asked for its keys a moment ago")
	errAway   = errors.New("lethe: the issuer does not tell its keys")
)

// seldom allows at most one request within keysApart.
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
