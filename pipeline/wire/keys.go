package wire

import (
	"fmt"
	"strconv"
	"strings"

	"lethe"
	"lethe/ingest"
)

// Kind is a kind of message.
type Kind string

// The kinds of message.
const (
	KindSnapshot Kind = "snapshot"
	KindManifest Kind = "manifest"
	KindSlice    Kind = "slice"
	KindModel    Kind = "model"
)

// Key identifies a message. Shard is 0 for snapshots and manifests, which are of a whole timestep.
type Key struct {
	Kind     Kind
	Shard    lethe.ShardID
	Timestep lethe.Timestep
}

// perShard reports whether messages of the kind belong to one shard.
func (k Kind) perShard() bool {
	return k == KindSlice || k == KindModel
}

// String returns the key without the chunk number.
func (k Key) String() string {
	if k.Kind.perShard() {
		return fmt.Sprintf("%s/%d/%d", k.Kind, k.Shard, k.Timestep)
	}
	return fmt.Sprintf("%s/%d", k.Kind, k.Timestep)
}

// ParseKey parses the result of Key.String.
func ParseKey(s string) (Key, error) {
	parts := strings.Split(s, "/")
	k := Key{Kind: Kind(parts[0])}
	want := 2
	switch k.Kind {
	case KindSlice, KindModel:
		want = 3
	case KindSnapshot, KindManifest:
	default:
		return Key{}, fmt.Errorf("message key %q is of no known kind", s)
	}
	if len(parts) != want {
		return Key{}, fmt.Errorf("message key %q has %d parts, want %d", s, len(parts), want)
	}
	if k.Kind.perShard() {
		shard, err := strconv.ParseUint(parts[1], 10, 32)
		if err != nil {
			return Key{}, fmt.Errorf("message key %q: shard: %w", s, err)
		}
		k.Shard = lethe.ShardID(shard)
	}
	t, err := strconv.ParseInt(parts[want-1], 10, 64)
	if err != nil {
		return Key{}, fmt.Errorf("message key %q: timestep: %w", s, err)
	}
	k.Timestep = lethe.Timestep(t)
	return k, nil
}

// PartitionOf returns the topic partition that carries a shard.
func PartitionOf(shard lethe.ShardID, partitions int) int { return int(shard) % partitions }

// PartOf returns the artefact and revision of a chunk, or of a tombstone with revision 0. of is false for other
// records, and for those that are not the deployment's own.
func PartOf(rec ingest.Record) (key Key, r lethe.Revision, of bool) {
	if rec.Unauthenticated != "" {
		return key, 0, false
	}
	name := string(rec.Key)
	key, err := ParseKey(name[:max(0, strings.LastIndexByte(name, '/'))])
	for _, h := range rec.Headers {
		n, parseErr := strconv.ParseUint(string(h.Value), 10, 32)
		if h.Key == revisionHeader && parseErr == nil {
			r = lethe.Revision(n)
		}
	}
	return key, r, err == nil
}

// RevisionOf is PartOf without deletions.
func RevisionOf(rec ingest.Record) (key Key, r lethe.Revision, found bool) {
	key, r, found = PartOf(rec)
	return key, r, found && r > 0
}
