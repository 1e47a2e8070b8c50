package opendsr

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"time"

	"lethe/internal/outbound"
)

// call identifies a callback: a change of a request's status for an address.
type call struct{ id, url, status string }

// attempts counts failed attempts of a callback.
type attempts struct {
	tries int
	next  time.Time
}

// look is the maximum interval between checks for due callbacks.
const look = 30 * time.Second

// Run makes callbacks until the context ends.
func (s *Service) Run(ctx context.Context) error {
	failed := make(map[call]attempts)
	for {
		var feed <-chan struct{}
		if v := s.o.View(); v != nil {
			_, feed = v.Feed().Now()
		}
		wait := s.callAll(ctx, failed)
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-feed:
		case <-s.changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// Close does nothing: Run cleans up.
func (s *Service) Close() error {
	s.client.CloseIdleConnections()
	return nil
}

// callAll makes the callbacks that are due, and returns when the next one may be due.
func (s *Service) callAll(ctx context.Context, failed map[call]attempts) time.Duration {
	wait := look
	for _, id := range s.state.ids() {
		known, at, err := s.find(id)
		if err != nil {
			continue // it is checked again later
		}
		status := at.word
		done := status == statusCompleted || status == statusCancelled
		for _, url := range known.CallbackURLs {
			c := call{id, url, status}
			if known.Accepted[url] == status {
				continue
			}
			if left := failed[c].next.Sub(s.o.Now()); left > 0 {
				wait, done = min(wait, left), false
				continue
			}
			if !s.callOne(ctx, c, known, at, failed) {
				wait, done = min(wait, failed[c].next.Sub(s.o.Now())), false
				continue
			}
			known.Accepted[url] = status
		}
		if ctx.Err() != nil {
			return 0
		}
		if err := s.note(id, known, done); err != nil {
			s.o.Logger.Error("whom OpenDSR has called back could not be kept", "error", err)
		}
		if done {
			maps.DeleteFunc(failed, func(c call, _ attempts) bool { return c.id == id })
		}
	}
	return max(wait, time.Millisecond)
}

// note persists completed callbacks, and deletes a request once all addresses have accepted its
// final status.
func (s *Service) note(id string, known kept, done bool) error {
	before, found := s.state.get(id)
	switch {
	case !found:
		return nil
	case done:
		return s.state.drop(id)
	case maps.Equal(before.Accepted, known.Accepted):
		return nil
	default:
		return s.state.put(id, known)
	}
}

// callOne makes a callback once. It returns true when it was accepted or is given up.
func (s *Service) callOne(
	ctx context.Context, c call, known kept, at standing, failed map[call]attempts,
) bool {
	err := s.post(ctx, c, known, at)
	if err == nil {
		delete(failed, c)
		return true
	}
	a := failed[c]
	a.tries++
	if a.tries >= s.o.Tries {
		s.o.Logger.Error("a callback of OpenDSR is given up: the controller has to request the status", "request_id", c.id,
			"status", c.status, "tries", a.tries, "error", err)
		delete(failed, c)
		return true
	}
	const most = 8 // doublings
	a.next = s.o.Now().Add(s.o.FirstWait << min(a.tries-1, most))
	failed[c] = a
	return false
}

func (s *Service) post(ctx context.Context, c call, known kept, at standing) error {
	what := s.answerOf(c.id, known, at)
	what.CallbackURL = c.url
	body, err := json.Marshal(what)
	if err != nil {
		return fmt.Errorf("callback: %w", err)
	}
	headers, err := s.signedHeaders(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header = headers
	response, err := s.client.Do(r)
	if err != nil {
		return outbound.Bare(err)
	}
	defer response.Body.Close()                                 //nolint:errcheck // nothing was written
	io.Copy(io.Discard, io.LimitReader(response.Body, maxBody)) //nolint:errcheck // only the status counts
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return fmt.Errorf("status %d", response.StatusCode)
	}
	return nil
}
