package graphs

import (
	"context"
	"fmt"
	"strings"

	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// search is what to look for, and where the build role can look itself.
type search struct {
	client  *bus.Client
	scanner *scan.Scanner
	// dirs are folders to read byte by byte.
	dirs []string
}

// found is the outcome of one search.
type found struct {
	summary scan.Summary
	// kinds counts the hits by the form that was found.
	kinds map[scan.Kind]int
	// places names what was hit: topics and folders, never keys.
	places map[string]int
	// superseded counts records of graphs, slices and models that a later one
	// under the same key has replaced, but that are still in the log. What was
	// computed from an erased record holds none of its bytes, so this is how an
	// old model that was not compacted away is noticed.
	superseded int
}

// clean reports whether nothing is left of what was searched for.
func (f *found) clean() bool { return f.summary.Hits == 0 && f.superseded == 0 }

func newFound() *found {
	return &found{kinds: make(map[scan.Kind]int), places: make(map[string]int)}
}

// note counts hits at a place.
func (f *found) note(place string, hits []scan.Hit) {
	f.summary.Hits += len(hits)
	for _, h := range hits {
		f.kinds[h.Kind]++
		f.places[place]++
	}
}

// run reads every topic from its start and every byte of the folders.
func (s *search) run(ctx context.Context) (*found, error) {
	f := newFound()
	for _, topic := range bus.Topics() {
		if err := s.topic(ctx, topic, f); err != nil {
			return nil, fmt.Errorf("search topic %s: %w", topic, err)
		}
	}
	for _, dir := range s.dirs {
		report, err := s.scanner.ScanDir(ctx, dir, scan.DirOptions{})
		if err != nil {
			return nil, fmt.Errorf("search folder: %w", err)
		}
		summary := report.Summary()
		summary.Hits = 0
		f.summary = f.summary.Add(summary)
		for _, h := range report.Hits {
			f.note(dir, []scan.Hit{h.Hit})
		}
	}
	return f, nil
}

// topic searches keys, values and headers of every record. The values of
// chunks are joined as long as their keys continue, so that nothing hides
// across the cut.
func (s *search) topic(ctx context.Context, topic bus.Topic, f *found) error {
	var joined []byte
	var joinedKey string
	seen := make(map[string]bool)
	internal := topic == bus.Snapshots || topic == bus.Slices || topic == bus.Models
	flush := func() {
		f.note(string(topic), s.scanner.ScanBytes(joined))
		joined, joinedKey = joined[:0], ""
	}
	err := s.client.ReadAll(ctx, topic, func(rec ingest.Record) error {
		f.summary.Records++
		f.summary.Bytes += int64(len(rec.Key) + len(rec.Value))
		f.note(string(topic), s.scanner.MatchKey(rec.Key))
		f.note(string(topic), s.scanner.ScanBytes(rec.Key))
		for _, h := range rec.Headers {
			f.note(string(topic), s.scanner.ScanBytes(h.Value))
		}
		if internal && !strings.HasPrefix(string(rec.Key), "!") {
			if seen[string(rec.Key)] {
				f.superseded++
			}
			seen[string(rec.Key)] = true
		}
		base := string(rec.Key)
		if at := strings.LastIndexByte(base, '/'); at >= 0 {
			base = base[:at]
		}
		if base != joinedKey {
			flush()
		}
		joined, joinedKey = append(joined, rec.Value...), base
		return nil
	})
	flush()
	return err
}
