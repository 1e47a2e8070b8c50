package opendsr

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"lethe/internal/statefile"
)

const stateFormat = "lethe-opendsr/1"

// kept is the stored data of a request until the final status was delivered.
type kept struct {
	Controller   string    `json:"controller_id"`
	Received     time.Time `json:"received_time"`
	Expected     time.Time `json:"expected_completion_time"`
	CallbackURLs []string  `json:"status_callback_urls,omitempty"`
	// Accepted is the last status that each callback address has accepted, or that was given up.
	Accepted map[string]string `json:"told,omitempty"`
	// Spelling is the request's id as it was sent, and Version the specification's version for
	// callbacks.
	Spelling string `json:"subject_request_id,omitempty"`
	Version  string `json:"api_version,omitempty"`
	// Ignored are the kinds of identities that lethe does not store.
	Ignored []string `json:"ignored_identities,omitempty"`
}

// firstVersion is the default version of the specification.
const firstVersion = "1.0"

// controller names the caller in responses. It is unknown without authentication, or once all callbacks are
// made.
func (k kept) controller() string { return cmp.Or(k.Controller, "controller") }

// state is the stored state: requests by their ids.
type state struct {
	mu   sync.Mutex
	file *statefile.File
	of   map[string]kept
}

type stateFile struct {
	Format   string          `json:"format"`
	Requests map[string]kept `json:"requests"`
}

func readState(path string) (*state, error) {
	s := &state{file: statefile.At(path, stateFormat), of: make(map[string]kept)}
	var f stateFile
	if _, err := s.file.Read(&f); err != nil {
		return nil, fmt.Errorf("state of OpenDSR: %w", err)
	}
	for id, k := range f.Requests {
		if k.Accepted == nil { // no callback has been made yet
			k.Accepted = make(map[string]string)
		}
		s.of[id] = k
	}
	return s, nil
}

func (s *state) get(id string) (kept, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, found := s.of[id]
	k.Accepted = maps.Clone(k.Accepted)
	return k, found
}

func (s *state) put(id string, k kept) error {
	return s.change(func(of map[string]kept) { of[id] = k })
}

func (s *state) drop(id string) error {
	return s.change(func(of map[string]kept) { delete(of, id) })
}

// change persists a change first: a change that cannot be written is discarded, and does not block others.
func (s *state) change(do func(of map[string]kept)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := maps.Clone(s.of)
	do(of)
	if err := s.file.Write(stateFile{stateFormat, of}); err != nil {
		return err
	}
	s.of = of
	return nil
}

func (s *state) ids() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.of))
}
