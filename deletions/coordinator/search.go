package coordinator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
)

const (
	// rollInterval is how often the logs are rolled while compaction is waited
	// for: Apache Kafka does not compact a segment that is still written to.
	rollInterval = 5 * time.Second
	// searchInterval is how long compaction is given between two searches.
	searchInterval = 700 * time.Millisecond
)

// errTimeUp says that something was still found, or that no search was done,
// when the time to verify was up.
var errTimeUp = errors.New("the time to verify is up")

// Search is what should be gone, and how long it may take until it is: deleting a
// record only asks the log's cleaner to remove it.
type Search struct {
	requestID string
	scanner   *scan.Scanner
	// others is what the other roles have searched.
	others  scan.Summary
	timeout time.Duration
}

// Searcher looks for what should be gone, until nothing is found or the time is
// up. It touches no state of the coordinator, and may run beside it.
type Searcher struct {
	Bus    Bus
	Places []Place
	Clock  Clock
	// Compact, if not nil, makes the broker's cleaner run at once.
	Compact func() error
}

// Place is somewhere beside the topics where a copy could be. Its search touches
// nothing that a step changes.
type Place struct {
	Name   string
	Search func(ctx context.Context, scanner *scan.Scanner) (scan.Report, error)
}

// Folder is a folder as a place: every file of it is read byte by byte.
func Folder(name, dir string) Place {
	return Place{name, func(ctx context.Context, scanner *scan.Scanner) (scan.Report, error) {
		return scanner.ScanDir(ctx, os.DirFS(dir))
	}}
}

// Verdict is the outcome of a search.
type Verdict struct {
	requestID string
	// found is the last search that came to its end, nil if none did.
	found *findings
	err   error
}

// Run searches. When the context ends, so does the search, and the verdict says
// no more than that.
func (s Searcher) Run(ctx context.Context, search *Search) Verdict {
	v := Verdict{requestID: search.requestID}
	deadline := s.Clock.Now().Add(search.timeout)
	var rolled time.Time
	for v.found == nil || !v.found.clean() {
		now := s.Clock.Now()
		if !now.Before(deadline) {
			v.err = errTimeUp
			break
		}
		if now.Sub(rolled) >= rollInterval {
			if v.err = s.roll(ctx); v.err != nil {
				break
			}
			rolled = now
		}
		if v.err = s.Clock.Sleep(ctx, searchInterval); v.err != nil {
			break
		}
		found, err := s.once(ctx, search.scanner)
		if err != nil {
			v.err = err
			break
		}
		v.found = found
	}
	if v.found != nil {
		v.found.summary = v.found.summary.Add(search.others)
	}
	return v
}

// roll makes what was written so far old enough to be compacted.
func (s Searcher) roll(ctx context.Context) error {
	if err := s.Bus.RollMarkers(ctx, bus.Topics()...); err != nil {
		return err
	}
	if s.Compact == nil {
		return nil
	}
	if err := s.Compact(); err != nil {
		return fmt.Errorf("compact the embedded broker's log: %w", err)
	}
	return nil
}

// once reads every topic from its start and searches every place.
func (s Searcher) once(ctx context.Context, scanner *scan.Scanner) (*findings, error) {
	f := newFindings()
	for _, topic := range bus.Topics() {
		if err := s.topic(ctx, topic, scanner, f); err != nil {
			return nil, fmt.Errorf("search topic %s: %w", topic, err)
		}
	}
	for _, place := range s.Places {
		report, err := place.Search(ctx, scanner)
		if err != nil {
			return nil, fmt.Errorf("search %s: %w", place.Name, err)
		}
		f.place(place.Name, report)
	}
	return f, nil
}

// topic searches keys, values and headers of every record. The values of chunks
// are joined as long as their keys continue, so that nothing hides across the
// cut.
func (s Searcher) topic(ctx context.Context, topic bus.Topic, scanner *scan.Scanner, f *findings) error {
	var joined []byte
	var joinedKey string
	seen := make(map[string]bool)
	internal := topic == bus.Snapshots || topic == bus.Slices || topic == bus.Models
	flush := func() {
		f.note(string(topic), scanner.ScanBytes(joined))
		joined, joinedKey = joined[:0], ""
	}
	err := s.Bus.ReadAll(ctx, topic, func(rec ingest.Record) error {
		f.summary.Records++
		f.summary.Bytes += int64(len(rec.Key) + len(rec.Value))
		f.note(string(topic), scanner.MatchKey(rec.Key))
		f.note(string(topic), scanner.ScanBytes(rec.Key))
		for _, h := range rec.Headers {
			f.note(string(topic), scanner.ScanBytes(h.Value))
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

// findings is what one search found.
type findings struct {
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

func newFindings() *findings {
	return &findings{kinds: make(map[scan.Kind]int), places: make(map[string]int)}
}

// clean reports whether nothing is left of what was searched for.
func (f *findings) clean() bool { return f.summary.Hits == 0 && f.superseded == 0 }

// note counts hits at a place.
func (f *findings) note(place string, hits []scan.Hit) {
	f.summary.Hits += len(hits)
	for _, h := range hits {
		f.kinds[h.Kind]++
		f.places[place]++
	}
}

// place counts what the search of a place looked at and found.
func (f *findings) place(name string, report scan.Report) {
	summary := report.Summary()
	summary.Hits = 0
	f.summary = f.summary.Add(summary)
	for _, h := range report.Hits {
		f.note(name, []scan.Hit{h.Hit})
	}
}
