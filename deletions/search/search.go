// Package search finds the remains of an erasure. A Search reads the topics and the folders of a process until nothing
// is found or its time is up; or it locates the records that are still to be withdrawn. Each file uses those below it:
//
//	cleaning.go, locate.go   the two kinds of a search; waiting for the cleaners of brokers
//	topic.go, together.go    reading a topic; searching many records side by side
//	search.go                the input of a search
//	findings.go, remains.go  the results of the two kinds
//	looked.go, record.go     records searched before; the parts of a record
//	unreadable.go            batches that cannot be read
package search

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"lethe"
	"lethe/deletions/receipt"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// ErrTimeUp is returned if the search still finds something, or is not complete, within the time.
var ErrTimeUp = errors.New("the time to verify is up")

// Search is the input of a search.
type Search struct {
	// RequestIDs are the requests served.
	RequestIDs []string
	// Prints are the scanner's fingerprints.
	Prints  []scan.Fingerprint
	Scanner *scan.Scanner
	// Locates makes it find, once, the records to be withdrawn. Secret signs their replacements, and Taken are the
	// consumed offsets of transactions.v1.
	Locates bool
	Secret  lethe.Secret
	Taken   map[int]int64
	// Timeout bounds a search that does not locate. Looked are records searched before. Held are held requests:
	// findings in their own records do not count.
	Timeout time.Duration
	Looked  Looked
	Held    map[string]bool
}

// Verdict is the result of a search.
type Verdict struct {
	RequestIDs []string
	// Found is the last complete search, nil for none.
	Found *Findings
	// Located is the result of a search that locates.
	Located *Located
	Err     error
}

// Searcher runs searches. It shares no state with its callers.
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

// Clock is a clock.
type Clock interface {
	Now() time.Time
	// Sleep waits, or returns the context's error.
	Sleep(ctx context.Context, d time.Duration) error
}

// Bus writes topics and reads new records: topics are as long as the history.
type Bus interface {
	bus.Writer
	RollMarkers(ctx context.Context, topics ...bus.Topic) error
	// ReadNew reads the records behind the positions and advances these. Unreadable batches are bus.ErrCorrupt.
	ReadNew(ctx context.Context, t bus.Topic, positions map[int]int64, fn func(ingest.Record) error) error
}

// Topics is a Bus that also reads whole topics; *bus.Client is one.
type Topics interface {
	Bus
	// ReadEvery reads a topic to its present end, including aborted and open transactions. around gets unreadable
	// batches.
	ReadEvery(ctx context.Context, t bus.Topic, fn func(ingest.Record) error, around func(*bus.Gap)) error
	// ReadCopies is ReadEvery of every broker's copy. It returns the brokers, or none (and bus.OneCopy for fn) if one
	// has the only copy.
	ReadCopies(
		ctx context.Context, t bus.Topic, fn func(broker int32, rec ingest.Record) error,
		around func(broker int32, gap *bus.Gap),
	) ([]int32, error)
	// Holds reports whether any broker still has the record at an offset.
	Holds(ctx context.Context, tp bus.TopicPartition, offset int64) (bool, error)
}

// Log reads topics from the files of this process's broker, so that every byte is read once.
type Log interface {
	// EachSegment calls fn for every file of a topic, in order for each partition. They have all that was acknowledged
	// before.
	EachSegment(ctx context.Context, topic bus.Topic, fn func(Segment) error) error
}

// Segment is a part of a partition to be searched.
type Segment struct {
	// Path is below the broker's folder. Files only grow.
	Path string
	Info fs.FileInfo
	Data []byte
	// Compressed means that the records in Data are compressed.
	Compressed bool
	// Records calls fn for every record. They have their bytes until the next segment.
	Records func(fn func(ingest.Record) error) error
}

// Place is a place besides the topics that may hold a copy.
type Place struct {
	Name string
	// Search searches it at a pace, except clean files.
	Search func(ctx context.Context, scanner *scan.Scanner, pacer *scan.Pacer, clean scan.Clean) (scan.Report, error)
}

// Folder is a folder as a place.
func Folder(name string, folder fs.FS) Place {
	return Place{name, func(
		ctx context.Context, scanner *scan.Scanner, pacer *scan.Pacer, clean scan.Clean,
	) (scan.Report, error) {
		return scanner.ScanDirAt(ctx, folder, pacer, clean)
	}}
}

// Receipts is the folder of receipts as a place, decoded too.
func Receipts(folder fs.FS) Place { return Folder(ReceiptsFolder, receipt.Readable(folder)) }

// underway is a repeated search. Clean topics are not read again, as later records are withdrawn on arrival. Folders
// are searched once the topics are clean.
type underway struct {
	Searcher
	*Search
	deadline time.Time
	topics   map[bus.Topic]*Findings
	// searched are the segments of the broker's log that were searched as parts of topics.
	searched scan.Clean
}

func (s Searcher) begin(search *Search) *underway {
	return &underway{
		Searcher: s, Search: search, deadline: s.Clock.Now().Add(search.Timeout),
		topics: make(map[bus.Topic]*Findings), searched: make(scan.Clean),
	}
}

// asking calls brokers without using up the time to verify: an unreachable broker is waited for and fails no
// request.
func (u *underway) asking(ask func() error) error {
	began := u.Clock.Now()
	err := ask()
	u.deadline = u.deadline.Add(max(0, u.Clock.Now().Sub(began)))
	return err
}
