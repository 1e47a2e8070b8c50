package translog

import (
	"bytes"
	"fmt"
	"strconv"

	"lethe"
	"lethe/deletions"
)

// artefact identifies the subject of a digest.
type artefact struct {
	kind Kind
	// of are a slice's shard, or a model's component and group.
	of       [2]int
	timestep lethe.Timestep
}

// commitment returns the artefact of a leaf, its digest, and the leaf as successor of another digest; ok is false for
// leaves without a digest.
func commitment(leaf Leaf, before lethe.Digest) (of artefact, digest lethe.Digest, next Leaf, ok bool) {
	switch l := leaf.(type) {
	case Setup:
		l.Replaces = before
		return artefact{kind: KindSetup}, l.Digest, l, true
	case Slice:
		l.Replaces = before
		return artefact{KindSlice, [2]int{int(l.Shard)}, l.Timestep}, l.Digest, l, true
	case Checkpoint:
		l.Replaces = before
		return artefact{KindCheckpoint, [2]int{l.Component, l.Group}, l.Timestep}, l.Digest, l, true
	default:
		return of, digest, nil, false
	}
}

// Commit adds setups, slices and checkpoints in one write, each with the digest it replaces, and returns the number
// added. A current digest is not committed to again, so that repetition after a crash is harmless.
func (l *Log) Commit(list ...Leaf) (int, error) { return l.commit(nil, list) }

// CommitThrough is Commit for the records of a source up to a position, which is stored in the same write if leaves
// are added: after a crash, a digest replaced since would be committed to again. Accesses are added once each.
func (l *Log) CommitThrough(source string, next int64, list ...Leaf) (int, error) {
	return l.commit([]deletions.Row{{Key: positionKey(source), Value: strconv.AppendInt(nil, next, 10)}}, list)
}

// Position returns the position stored by CommitThrough for a source, or 0.
func (l *Log) Position(source string) (next int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := positionKey(source)
	err = l.kv.Scan(key, func(found, value []byte) error {
		if !bytes.Equal(found, key) {
			return nil
		}
		var err error
		next, err = strconv.ParseInt(string(value), 10, 64)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("transparency log: position of %s: %w", source, err)
	}
	return next, nil
}

// Rewind drops all positions after a restore: they are of other topics.
func (l *Log) Rewind() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var rows []deletions.Row
	err := l.kv.Scan([]byte(positionPrefix), func(key, _ []byte) error {
		rows = append(rows, deletions.Row{Key: bytes.Clone(key), Value: []byte("0")})
		return nil
	})
	if err == nil && len(rows) > 0 {
		err = l.kv.Put(rows...)
	}
	if err != nil {
		return fmt.Errorf("transparency log: positions: %w", err)
	}
	return nil
}

const positionPrefix = logPrefix + "read/"

func positionKey(source string) []byte { return []byte(positionPrefix + source) }

func (l *Log) commit(rows []deletions.Row, list []Leaf) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.load(); err != nil {
		return 0, err
	}
	var fresh, accesses []Leaf
	now := make(map[artefact]lethe.Digest)
	for _, leaf := range list {
		if leaf.Kind() == KindAccess {
			accesses = append(accesses, leaf)
			continue
		}
		at, digest, _, ok := commitment(leaf, lethe.Digest{})
		if !ok {
			return 0, fmt.Errorf("a leaf of kind %s commits to no digest", leaf.Kind())
		}
		before, changed := now[at]
		if !changed {
			before = l.latest[at]
		}
		if before != digest {
			now[at] = digest
			_, _, next, _ := commitment(leaf, before)
			fresh = append(fresh, next)
		}
	}
	unknown, err := l.fresh(accesses)
	if fresh = append(fresh, unknown...); err != nil || len(fresh) == 0 {
		return 0, err
	}
	return len(fresh), l.write(fresh, rows, l.kv.Put)
}
