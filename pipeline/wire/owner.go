package wire

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lethe/ingest"
)

// Owner is who does a part of the work that the processes of a role share, from a point of
// the log on. Whoever takes a part over has a greater generation than all that were heard of,
// so that what an earlier owner says late, because it hung, can be told and left out.
type Owner struct {
	Generation int64 `json:"generation"`
	// Instance is the identity of the owner's data directory. Of two that took the same part
	// over at once, the greater one counts.
	Instance string `json:"instance"`
}

// Before reports whether an owner was replaced by another.
func (o Owner) Before(other Owner) bool {
	return cmp.Or(cmp.Compare(o.Generation, other.Generation), strings.Compare(o.Instance, other.Instance)) < 0
}

// String returns the owner as it stands in a header.
func (o Owner) String() string { return fmt.Sprintf("%d %s", o.Generation, o.Instance) }

// parseOwner reads what String wrote.
func parseOwner(s string) (o Owner, err error) {
	generation, instance, _ := strings.Cut(s, " ")
	o.Instance = instance
	o.Generation, err = strconv.ParseInt(generation, 10, 64)
	if err == nil && (o.Generation <= 0 || o.Instance == "") {
		err = fmt.Errorf("owner %.60q, want a generation from 1 on and an instance", s)
	}
	return o, err
}

// OwnedBy returns records that say who wrote them.
func OwnedBy(o Owner, records []ingest.Outgoing) []ingest.Outgoing {
	out := slices.Clone(records)
	for i := range out {
		header := ingest.Header{Key: ownerHeader, Value: []byte(o.String())}
		out[i].Headers = append(slices.Clip(out[i].Headers), header)
	}
	return out
}

// OwnerOf reads who wrote a record; it says whether the record tells.
func OwnerOf(rec ingest.Record) (Owner, bool) {
	for _, h := range rec.Headers {
		if h.Key == ownerHeader {
			o, err := parseOwner(string(h.Value))
			return o, err == nil
		}
	}
	return Owner{}, false
}

// Fence leaves out records of who was replaced by another. The zero value knows of none.
type Fence struct{ newest Owner }

// Stale notes who wrote a record of a partition, in its order, and reports whether somebody had
// taken that over from him before. One that does not tell is not stale.
func (f *Fence) Stale(o Owner) bool {
	if o == (Owner{}) {
		return false
	}
	if o.Before(f.newest) {
		return true
	}
	f.newest = o
	return false
}

// Counted returns records that say that they come after so many of their owner's: the first is the next one.
func Counted(said int64, records []ingest.Outgoing) []ingest.Outgoing {
	out := slices.Clone(records)
	for i := range out {
		header := ingest.Header{Key: countHeader, Value: strconv.AppendInt(nil, said+int64(i)+1, 10)}
		out[i].Headers = append(slices.Clip(out[i].Headers), header)
	}
	return out
}

// countOf reads which of its owner's records one is, 0 if it does not tell.
func countOf(rec ingest.Record) int64 {
	for _, h := range rec.Headers {
		if n, err := strconv.ParseInt(string(h.Value), 10, 64); h.Key == countHeader && err == nil {
			return n
		}
	}
	return 0
}

// Once leaves out records that were copied: whoever can read a record of lethe's can write it a second time. The zero
// value has read none.
type Once struct {
	by    Owner
	count int64
}

// Again notes a record of those that one owner at a time writes and counts, in their order, and reports whether it
// is left out.
func (o *Once) Again(rec ingest.Record) bool {
	by, tells := OwnerOf(rec)
	if !tells {
		return false
	}
	if by != o.by {
		o.by, o.count = by, 0
	}
	count := countOf(rec)
	if o.count > 0 && count <= o.count {
		return true
	}
	o.count = count
	return false
}
