package wire

import (
	"encoding/json"
	"fmt"
	"strings"

	"lethe/deletions/ledgercopy"
	"lethe/ingest"
)

const (
	leaderFormat  = "lethe-leader/1"
	leaderPrefix  = "!leader/"
	barrierFormat = "lethe-barrier/1"
	barrierKey    = "!barrier"
)

// Leader says which data directory leads a role from here on, before it says anything else. It
// travels on control.v1 as a control record; the newest of each role counts.
type Leader struct {
	Format string `json:"format"`
	Role   string `json:"role"`
	// Identity is that of the data directory.
	Identity string `json:"identity"`
	// From is where topics that it alone writes ended when it took over, by <topic>/<partition>: what others who led
	// before wrote there from that position on is late. Earlier versions do not tell.
	From map[string]int64 `json:"from,omitempty"`
}

// Record returns the leader as a record of control.v1.
func (l Leader) Record() (ingest.Outgoing, error) {
	l.Format = leaderFormat
	value, err := json.Marshal(l)
	if err != nil {
		return ingest.Outgoing{}, fmt.Errorf("leader of role %s: %w", l.Role, err)
	}
	return ingest.Outgoing{Key: []byte(leaderPrefix + l.Role), Value: value}, nil
}

// ParseLeader reads a record of control.v1; it says whether there is a leader in it.
func ParseLeader(rec ingest.Record) (l Leader, found bool, err error) {
	found, err = parseControl(rec, leaderPrefix, &l, func() (format, key string) { return l.Format, l.Role }, leaderFormat)
	return l, found, err
}

// Led says who leads, and from where on others who led before are late. Its zero value tells of nobody.
type Led struct {
	By   Owner
	From map[string]int64
}

// LedBehind reads a record of control.v1 that says who leads graphs; it says whether one does, and tells from where on.
func LedBehind(rec ingest.Record) (l Led, tells bool) {
	said, found, err := ParseLeader(rec)
	if !found || err != nil || said.Role != leadsGraphs {
		return l, false
	}
	l.By, tells = OwnerOf(rec)
	l.From = said.From
	return l, tells && len(said.From) > 0
}

// IsLeader reports whether a record of control.v1 with such a key says who leads a role.
func IsLeader(key, role string) bool { return key == leaderPrefix+role }

// The roles that one process leads, as their leaders call them.
const (
	leadsGraphs = "graphs"
	leadsScore  = "score"
)

// LedBy tells which role's leader alone writes records of control.v1 with such a key, or "".
func LedBy(key []byte) string {
	role, leads := strings.CutPrefix(string(key), leaderPrefix)
	switch {
	case leads:
		return role
	case string(key) == servedKey:
		return leadsScore
	case strings.HasPrefix(string(key), commandPrefix), ledgercopy.IsCopy(key):
		return leadsGraphs
	default:
		return ""
	}
}

// Barrier is written to control.v1 by who wants to know everything that was written there
// before: when it comes back, that has been read.
type Barrier struct {
	Format string `json:"format"`
	// Name tells it from others.
	Name string `json:"name"`
}

// Record returns the barrier as a record of control.v1.
func (b Barrier) Record() (ingest.Outgoing, error) {
	b.Format = barrierFormat
	value, err := json.Marshal(b)
	if err != nil {
		return ingest.Outgoing{}, fmt.Errorf("barrier: %w", err)
	}
	return ingest.Outgoing{Key: []byte(barrierKey), Value: value}, nil
}

// ParseBarrier reads a record of control.v1; it says whether there is a barrier in it.
func ParseBarrier(rec ingest.Record) (b Barrier, found bool, err error) {
	if string(rec.Key) != barrierKey || rec.Tombstone() {
		return b, false, nil
	}
	if err = proven(rec); err == nil {
		err = json.Unmarshal(rec.Value, &b)
	}
	if err == nil && b.Format != barrierFormat {
		err = fmt.Errorf("format %.40q, want %q", b.Format, barrierFormat)
	}
	if err != nil {
		return b, false, fmt.Errorf("%s/%d@%d: barrier: %w", rec.Topic, rec.Partition, rec.Offset, err)
	}
	return b, true, nil
}
