package search

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/sortedset"
)

// The places besides topics and other roles' folders.
const (
	GraphsFolder   = "graphs"
	ReceiptsFolder = "receipts"
	BrokerFolder   = "broker"
)

// mostFiles bounds Findings.Files.
const mostFiles = 10

// Findings are the results of one search.
type Findings struct {
	// Kinds counts hits by kind.
	Kinds map[scan.Kind]int
	// By are the fingerprints found, by index.
	By map[int]bool
	// Places are the topics and folders searched, in order. Superseded records of graphs, slices and models count too:
	// an old model holds no bytes of a record, so this is how it is noticed.
	Places []*deletions.PlaceSearch
	// Named are the held requests with findings in their own records.
	Named map[string]*Named
	// Open is the first offset behind an open transaction, by partition.
	Open map[bus.TopicPartition]int64
	// Files are some of the files with findings, below the names of their places, for operators.
	Files []string

	// namedIn are the files with findings in the records of held requests.
	namedIn map[string]bool
	// due are the records not cleaned yet.
	due due
	// apart are batches unreadable in some copies only.
	apart []UnreadableAt
}

// Named are the findings in a held request's own records.
type Named struct {
	Records int
	// By are the fingerprints, by index.
	By map[int]bool
}

// due is the last offset to be removed by partition. A cleaner passes over a partition from its start, so earlier
// ones are gone with it.
type due map[bus.TopicPartition]int64

func newFindings() *Findings {
	return &Findings{
		Kinds: make(map[scan.Kind]int), By: make(map[int]bool), Named: make(map[string]*Named),
		Open: make(map[bus.TopicPartition]int64), namedIn: make(map[string]bool), due: make(due),
	}
}

// Total sums up the places.
func (f *Findings) Total() (all scan.Summary, superseded int) {
	for _, p := range f.Places {
		all = all.Add(p.Summary)
		superseded += p.Superseded
	}
	return all, superseded
}

// Clean reports whether nothing was found.
func (f *Findings) Clean() bool {
	all, superseded := f.Total()
	return all.Hits == 0 && superseded == 0
}

// Dirty names the places with findings.
func (f *Findings) Dirty() (names []string) {
	for _, p := range f.Places {
		if p.Hits+p.Superseded > 0 {
			names = append(names, p.Place)
		}
	}
	return names
}

// Unreadable are unreadable batches that may hold any target: in topics not partitioned by ids, or damaged in some
// copies only.
func (f *Findings) Unreadable() (out []UnreadableAt) {
	out = slices.Clone(f.apart)
	for _, p := range f.Places {
		for _, u := range p.Unreadable {
			if topic := bus.Topic(p.Place); !slices.Contains(keyed(), topic) {
				out = append(out, UnreadableAt{topic, u})
			}
		}
	}
	return out
}

// at adds a place.
func (f *Findings) at(place string) *deletions.PlaceSearch {
	p := &deletions.PlaceSearch{Place: place}
	f.Places = append(f.Places, p)
	return p
}

func (f *Findings) add(other *Findings) {
	f.Places = append(f.Places, other.Places...)
	for kind, n := range other.Kinds {
		f.Kinds[kind] += n
	}
	maps.Copy(f.By, other.By)
	maps.Copy(f.Named, other.Named)
	maps.Copy(f.Open, other.Open)
	maps.Copy(f.namedIn, other.namedIn)
	f.Files = sortedset.Add(f.Files, other.Files...)
	f.apart = append(f.apart, other.apart...)
	for at, offset := range other.due {
		f.due.mark(at, offset)
	}
}

// mark counts hits at a place.
func (f *Findings) mark(at *deletions.PlaceSearch, hits []scan.Hit) {
	at.Hits += len(hits)
	for _, h := range hits {
		f.Kinds[h.Kind]++
		f.By[h.Fingerprint] = true
	}
}

// named counts hits in a held request's own record.
func (f *Findings) named(requestID string, hits []scan.Hit) {
	one := f.Named[requestID]
	if one == nil {
		one = &Named{By: make(map[int]bool)}
		f.Named[requestID] = one
	}
	one.Records++
	for _, h := range hits {
		one.By[h.Fingerprint] = true
	}
}

// namedRecords counts the held requests' records so far.
func (f *Findings) namedRecords() (n int) {
	for _, one := range f.Named {
		n += one.Records
	}
	return n
}

// opened records a record in or behind an open transaction.
func (f *Findings) opened(at bus.TopicPartition, rec ingest.Record) {
	if first, known := f.Open[at]; rec.Uncommitted == ingest.BehindOpen && (!known || rec.Offset < first) {
		f.Open[at] = rec.Offset
	}
}

// place adds the report of a place.
func (f *Findings) place(name string, report scan.Report) {
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
			if len(f.Files) < mostFiles {
				f.Files = sortedset.Add(f.Files, path.Join(name, h.Path))
			}
		}
	}
}

// OfClients reports whether a file of the embedded broker has names chosen by clients and no records. They do not
// count, or any client could keep erasures from ending.
func OfClients(file string) bool {
	switch strings.TrimSuffix(path.Base(file), ".tmp") {
	case "groups.log", "pids.log", "session_state.json":
		return true
	default:
		return false
	}
}

func (d due) mark(at bus.TopicPartition, offset int64) { d[at] = max(d[at], offset) }

func (d due) partitions() []bus.TopicPartition {
	return slices.SortedFunc(maps.Keys(d), func(a, b bus.TopicPartition) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
}

// rolled are the partitions that get markers. The marker on erasures.v1 wakes the cleaner of an embedded broker in
// another process.
func (d due) rolled() []bus.TopicPartition {
	list, signal := d.partitions(), bus.TopicPartition{Topic: bus.Erasures}
	if slices.Contains(list, signal) {
		return list
	}
	return append(list, signal)
}
