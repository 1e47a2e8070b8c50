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

// errTimeUp: something was still found, or nothing was searched, within the time.
var errTimeUp = errors.New("the time to verify is up")

// Search is what to search for.
type Search struct {
	// requestIDs are the requests served, prints the scanner's fingerprints.
	requestIDs []string
	prints     []scan.Fingerprint
	scanner    *scan.Scanner
	// secret signs republished records.
	secret  lethe.Secret
	timeout time.Duration
	// looked are records searched before.
	looked looked
	// held are held requests: findings in their own records do not count.
	held map[string]bool
	// locates says to find records to be withdrawn, once.
	locates bool
	taken   map[int]int64 // by partition, how far the graphs have taken transactions.v1
}

// Searcher searches until nothing is found or the time is up. It shares no state with the coordinator.
type Searcher struct {
	Bus    Topics
	Places []Place
	// Log, if not nil, has the topics; it is in the place BrokerFolder.
	Log   Log
	Clock Clock
	// Compact, if not nil, runs the broker's cleaner.
	Compact func() error
	// Pacer may be nil.
	Pacer *scan.Pacer
}

// Place is a place besides the topics that may hold a copy.
type Place struct {
	Name string
	// Search searches it at a pace. seen has the state of earlier calls.
	Search func(ctx context.Context, scanner *scan.Scanner, pacer *scan.Pacer, seen *scan.Seen) (scan.Report, error)
}

// The places besides topics and other roles' folders.
const (
	GraphsFolder   = "graphs"
	ReceiptsFolder = "receipts"
	BrokerFolder   = "broker"
)

// Folder is a folder as a place.
func Folder(name string, folder fs.FS) Place {
	return Place{name, func(
		ctx context.Context, scanner *scan.Scanner, pacer *scan.Pacer, seen *scan.Seen,
	) (scan.Report, error) {
		return scanner.ScanDirAt(ctx, folder, pacer, seen)
	}}
}

// Receipted is the folder of receipts as a place, decoded too.
func Receipted(folder fs.FS) Place { return Folder(ReceiptsFolder, receipt.Readable(folder)) }

// Verdict is what became of a search.
type Verdict struct {
	requestIDs []string
	// found is the last complete search, nil for none.
	found *findings
	// located is the result of a search that locates.
	located *located
	err     error
}

// Run searches until done or the context ends.
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

// underway is a repeated search. Clean topics are not read again, as later records are withdrawn on arrival. Folders
// are searched once the topics are clean, later only their changed files.
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

func (u *underway) seenIn(place string) *scan.Seen {
	if u.seen[place] == nil {
		u.seen[place] = scan.NewSeen(u.Clock.Now)
	}
	return u.seen[place]
}

// findings are the results of one search.
type findings struct {
	// kinds counts hits by kind.
	kinds map[scan.Kind]int
	// by are the fingerprints found, by index.
	by map[int]bool
	// places are the topics and folders searched, in order. Superseded records of graphs, slices and models count too:
	// an old model holds no bytes of a record, so this is how it is noticed.
	places []*deletions.PlaceSearch
	// named are the held requests with findings in their own records, namedIn the files with these.
	named   map[string]*named
	namedIn map[string]bool
	// due are the records not cleaned yet.
	due due
	// open is the first offset behind an open transaction, by partition.
	open map[bus.TopicPartition]int64
	// apart are batches unreadable in some copies only.
	apart []unreadableAt
}

// addOpen records a record in or behind an open transaction.
func (f *findings) addOpen(at bus.TopicPartition, rec ingest.Record) {
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

func (f *findings) total() (all scan.Summary, superseded int) {
	for _, p := range f.places {
		all = all.Add(p.Summary)
		superseded += p.Superseded
	}
	return all, superseded
}

// clean reports whether nothing was found.
func (f *findings) clean() bool {
	all, superseded := f.total()
	return all.Hits == 0 && superseded == 0
}

// anybodys are unreadable batches that may hold any target: in topics not partitioned by ids, or damaged in some
// copies only.
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
		f.due.mark(at, offset)
	}
}

// mark counts hits at a place.
func (f *findings) mark(at *deletions.PlaceSearch, hits []scan.Hit) {
	at.Hits += len(hits)
	for _, h := range hits {
		f.kinds[h.Kind]++
		f.by[h.Fingerprint] = true
	}
}

// place adds the report of a place.
func (f *findings) place(name string, report scan.Report) {
	here := f.at(name)
	here.Summary = report.Summary()
	here.Hits = 0
	for _, h := range report.Hits {
		if name == BrokerFolder && OfClients(h.Path) {
			here.ClientNames++
			continue
		}
		// A broker's log may hold later records with a subject, and held requests. Its records were searched as topics.
		if name != BrokerFolder || h.Kind != scan.KindSubjectKey && !f.namedIn[h.Path] {
			f.mark(here, []scan.Hit{h.Hit})
		}
	}
}

// dirty names the places with findings.
func (f *findings) dirty() (names []string) {
	for _, p := range f.places {
		if p.Hits+p.Superseded > 0 {
			names = append(names, p.Place)
		}
	}
	return names
}
