package wire

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lethe/ingest"
)

// Owner is the process that has a part of a shared role, or leads it, from a point of the log on. A new owner has a
// greater generation than all before, so that late records of a previous owner are recognised.
type Owner struct {
	Generation int64 `json:"generation"`
	// Instance is the identity of the owner's data directory. Of two owners of one generation the greater one is valid.
	Instance string `json:"instance"`
}

// Before reports whether an owner was replaced by another one.
func (o Owner) Before(other Owner) bool {
	return cmp.Or(cmp.Compare(o.Generation, other.Generation), strings.Compare(o.Instance, other.Instance)) < 0
}

// String returns the owner as a header.
func (o Owner) String() string { return fmt.Sprintf("%d %s", o.Generation, o.Instance) }

// parseOwner parses the result of String.
func parseOwner(s string) (o Owner, err error) {
	generation, instance, _ := strings.Cut(s, " ")
	o.Instance = instance
	o.Generation, err = strconv.ParseInt(generation, 10, 64)
	if err == nil && (o.Generation <= 0 || o.Instance == "") {
		err = fmt.Errorf("owner %.60q, want a generation from 1 on and an instance", s)
	}
	return o, err
}

// OwnedBy returns records with their owner in a header.
func OwnedBy(o Owner, records []ingest.Outgoing) []ingest.Outgoing {
	out := slices.Clone(records)
	for i := range out {
		header := ingest.Header{Key: ownerHeader, Value: []byte(o.String())}
		out[i].Headers = append(slices.Clip(out[i].Headers), header)
	}
	return out
}

// OwnerOf returns the owner in a record's header, if there is one.
func OwnerOf(rec ingest.Record) (Owner, bool) {
	for _, h := range rec.Headers {
		if h.Key == ownerHeader {
			o, err := parseOwner(string(h.Value))
			return o, err == nil
		}
	}
	return Owner{}, false
}

// Fence identifies records of owners that were replaced. The zero value has read none.
type Fence struct{ newest Owner }

// Stale adds the owner of a record, in the order of a partition, and reports whether a later owner came before. A
// record without an owner is not stale.
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

// Counted returns records numbered by a header, from the number behind the owner's previous ones on.
func Counted(last int64, records []ingest.Outgoing) []ingest.Outgoing {
	out := slices.Clone(records)
	for i := range out {
		header := ingest.Header{Key: countHeader, Value: strconv.AppendInt(nil, last+int64(i)+1, 10)}
		out[i].Headers = append(slices.Clip(out[i].Headers), header)
	}
	return out
}

// countOf returns the number of a record, or 0.
func countOf(rec ingest.Record) int64 {
	for _, h := range rec.Headers {
		if n, err := strconv.ParseInt(string(h.Value), 10, 64); h.Key == countHeader && err == nil {
			return n
		}
	}
	return 0
}

// Once identifies copies of numbered records: any reader of a record can write it again. The zero value has read none.
type Once struct {
	by    Owner
	count int64
}

// Again adds a record, in the order of its partition, and reports whether it is a copy.
func (o *Once) Again(rec ingest.Record) bool {
	by, found := OwnerOf(rec)
	if !found {
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
