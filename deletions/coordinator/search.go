package coordinator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/receipt"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// errTimeUp says that something was still found, or that no search was done,
// when the time to verify was up.
var errTimeUp = errors.New("the time to verify is up")

// Search is what should be gone, and how long it may take until it is: deleting a
// record only asks the log's cleaner to remove it.
type Search struct {
	// requestIDs are the requests that it serves, prints what the scanner looks for.
	requestIDs []string
	prints     []scan.Fingerprint
	scanner    *scan.Scanner
	// secret signs what is published again.
	secret  lethe.Secret
	timeout time.Duration
	// looked are records that were looked at before.
	looked looked
	// held are the requests that wait for a hold: what their own records in erasures.v1 name is
	// told, not counted as left.
	held map[string]bool
	// locates says that records are looked for that are to be withdrawn, once.
	locates bool
	taken   map[int]int64 // by partition, how far the graphs have taken transactions.v1
}

// Searcher looks for what should be gone, until nothing is found or the time is
// up. It touches no state of the coordinator, and may run beside it.
type Searcher struct {
	Bus    Topics
	Places []Place
	// Log, if not nil, is where the topics are. The place called BrokerFolder holds it.
	Log   Log
	Clock Clock
	// Compact, if not nil, makes the broker's cleaner run at once.
	Compact func() error
	// Pacer keeps the search from taking more than its share, or is nil.
	Pacer *scan.Pacer
}

// Place is somewhere beside the topics where a copy could be. Its search touches
// nothing that a step changes.
type Place struct {
	Name string
	// Search looks into it at a pace. seen is what an earlier call has seen, for a
	// place that can tell what has changed since.
	Search func(ctx context.Context, scanner *scan.Scanner, pacer *scan.Pacer, seen *scan.Seen) (scan.Report, error)
}

// The places of a deployment beside the topics and the folders of the other roles.
const (
	GraphsFolder   = "graphs"
	ReceiptsFolder = "receipts"
	BrokerFolder   = "broker"
)

// Folder is a folder as a place: every file of it is read byte by byte.
func Folder(name string, folder fs.FS) Place {
	return Place{name, func(
		ctx context.Context, scanner *scan.Scanner, pacer *scan.Pacer, seen *scan.Seen,
	) (scan.Report, error) {
		return scanner.ScanDirAt(ctx, folder, pacer, seen)
	}}
}

// Receipted is the folder of the receipts as a place: what they say is searched as well.
func Receipted(folder fs.FS) Place { return Folder(ReceiptsFolder, receipt.Readable(folder)) }

// Verdict is the outcome of a search.
type Verdict struct {
	requestIDs []string
	// found is the last search that came to its end, nil if none did.
	found *findings
	// located is what was found by a search that locates.
	located *located
	err     error
}

// Run searches. When the context ends, so does the search, and the verdict says
// no more than that.
func (s Searcher) Run(ctx context.Context, search *Search) Verdict {
	if search.locates {
		return s.locate(ctx, search)
	}
	v := Verdict{requestIDs: search.requestIDs}
	under := s.begin(search.scanner)
	under.looked, under.held, under.deadline = search.looked, search.held, s.Clock.Now().Add(search.timeout)
	if s.Compact == nil {
		v.found, v.err = under.afterCleaning(ctx)
	} else {
		v.found, v.err = under.cleaning(ctx)
	}
	return v
}

// underway is a search that is repeated until nothing is found. A topic in which
// nothing was found is not read again: whatever comes in later for what is erased is
// withdrawn as it comes. Folders are searched when the topics are clean, and each
// time after, but for the files that have not changed.
type underway struct {
	Searcher
	scanner  *scan.Scanner
	deadline time.Time
	topics   map[bus.Topic]*findings
	seen     map[string]*scan.Seen
	looked   looked
	held     map[string]bool
}

func (s Searcher) begin(scanner *scan.Scanner) *underway {
	return &underway{
		Searcher: s, scanner: scanner, topics: make(map[bus.Topic]*findings), seen: make(map[string]*scan.Seen),
	}
}

// look searches once more.
func (u *underway) look(ctx context.Context) (*findings, error) {
	all := newFindings()
	for _, topic := range bus.Topics() {
		if known := u.topics[topic]; known == nil || !known.clean() {
			u.topics[topic] = newFindings()
			if err := u.topic(ctx, topic, u.topics[topic]); err != nil {
				delete(u.topics, topic)
				return nil, fmt.Errorf("search topic %s: %w", topic, err)
			}
		}
		all.add(u.topics[topic])
	}
	if !all.clean() {
		return all, nil
	}
	for _, place := range u.Places {
		report, err := place.Search(ctx, u.scanner, u.Pacer, u.seenIn(place.Name))
		if err != nil {
			return nil, fmt.Errorf("search %s: %w", place.Name, err)
		}
		all.place(place.Name, report)
	}
	return all, nil
}

// seenIn is what was seen of a place so far.
func (u *underway) seenIn(place string) *scan.Seen {
	if u.seen[place] == nil {
		u.seen[place] = scan.NewSeen(u.Clock.Now)
	}
	return u.seen[place]
}

// findings is what one search found.
type findings struct {
	// kinds counts the hits by the form that was found.
	kinds map[scan.Kind]int
	// by are the fingerprints by which they were found, by their position in the search.
	by map[int]bool
	// places are what was searched, in this order: topics and folders. Superseded records
	// of graphs, slices and models count too. What was computed from an erased record
	// holds none of its bytes, so this is how an old model that was not compacted away is
	// noticed.
	places []*deletions.PlaceSearch
	// named are the requests that wait for a hold in whose own records something was found, and
	// namedIn the files with these records.
	named   map[string]*named
	namedIn map[string]bool
	// due are the records that a broker's cleaner has yet to remove.
	due due
	// open is, by partition, the first offset that an open transaction keeps from being read.
	open map[bus.TopicPartition]int64
	// apart are batches that cannot be read in some brokers' copies alone.
	apart []unreadableAt
}

// noteOpen takes a record that may stand in or behind an open transaction.
func (f *findings) noteOpen(at bus.TopicPartition, rec ingest.Record) {
	if first, known := f.open[at]; rec.Uncommitted == ingest.BehindOpen && (!known || rec.Offset < first) {
		f.open[at] = rec.Offset
	}
}

func newFindings() *findings {
	return &findings{
		kinds: make(map[scan.Kind]int), by: make(map[int]bool),
		named: make(map[string]*named), namedIn: make(map[string]bool), due: make(due),
		open: make(map[bus.TopicPartition]int64),
	}
}

// at adds a place.
func (f *findings) at(place string) *deletions.PlaceSearch {
	p := &deletions.PlaceSearch{Place: place}
	f.places = append(f.places, p)
	return p
}

// total sums up all places.
func (f *findings) total() (all scan.Summary, superseded int) {
	for _, p := range f.places {
		all = all.Add(p.Summary)
		superseded += p.Superseded
	}
	return all, superseded
}

// clean reports whether nothing is left of what was searched for.
func (f *findings) clean() bool {
	all, superseded := f.total()
	return all.Hits == 0 && superseded == 0
}

// anybodys are the unreadable batches that may hold any target: those of topics whose keys do not say in which
// partition a target is, and those that are damaged in some copies alone.
func (f *findings) anybodys() (out []unreadableAt) {
	out = slices.Clone(f.apart)
	for _, p := range f.places {
		for _, u := range p.Unreadable {
			if topic := bus.Topic(p.Place); !slices.Contains(keyed(), topic) {
				out = append(out, unreadableAt{topic, u})
			}
		}
	}
	return out
}

// add takes over what was found elsewhere.
func (f *findings) add(other *findings) {
	f.places = append(f.places, other.places...)
	for kind, n := range other.kinds {
		f.kinds[kind] += n
	}
	maps.Copy(f.by, other.by)
	maps.Copy(f.named, other.named)
	maps.Copy(f.namedIn, other.namedIn)
	maps.Copy(f.open, other.open)
	f.apart = append(f.apart, other.apart...)
	for at, offset := range other.due {
		f.due.note(at, offset)
	}
}

// note counts hits at a place.
func (f *findings) note(at *deletions.PlaceSearch, hits []scan.Hit) {
	at.Hits += len(hits)
	for _, h := range hits {
		f.kinds[h.Kind]++
		f.by[h.Fingerprint] = true
	}
}

// place counts what the search of a place looked at and found.
func (f *findings) place(name string, report scan.Report) {
	here := f.at(name)
	here.Summary = report.Summary()
	here.Hits = 0
	for _, h := range report.Hits {
		if name == BrokerFolder && OfClients(h.Path) {
			here.ClientNames++
			continue
		}
		// The log of a broker may hold records of later timesteps that carry a subject, and those
		// of requests that wait; what its records say was looked at as topics.
		if name != BrokerFolder || h.Kind != scan.KindSubjectKey && !f.namedIn[h.Path] {
			f.note(here, []scan.Hit{h.Hit})
		}
	}
}

// dirty names the places where something is left.
func (f *findings) dirty() (names []string) {
	for _, p := range f.places {
		if p.Hits+p.Superseded > 0 {
			names = append(names, p.Place)
		}
	}
	return names
}
