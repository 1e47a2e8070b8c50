package translog

import (
	"bytes"
	"fmt"
	"strconv"

	"lethe"
	"lethe/deletions"
)

// artefact names what a digest is committed to of.
type artefact struct {
	kind Kind
	// of are the shard of a slice, the component and group of a model.
	of       [2]int
	timestep lethe.Timestep
}

// commitment is a leaf that commits to a digest.
type commitment interface {
	Leaf
	artefact() artefact
	digest() lethe.Digest
	// replacing returns the leaf as it follows a digest.
	replacing(before lethe.Digest) Leaf
}

func (s Setup) artefact() artefact   { return artefact{kind: KindSetup} }
func (s Setup) digest() lethe.Digest { return s.Digest }
func (s Setup) replacing(before lethe.Digest) Leaf {
	s.Replaces = before
	return s
}

func (s Slice) artefact() artefact {
	return artefact{KindSlice, [2]int{int(s.Shard)}, s.Timestep}
}
func (s Slice) digest() lethe.Digest { return s.Digest }
func (s Slice) replacing(before lethe.Digest) Leaf {
	s.Replaces = before
	return s
}

func (c Checkpoint) artefact() artefact {
	return artefact{KindCheckpoint, [2]int{c.Component, c.Group}, c.Timestep}
}
func (c Checkpoint) digest() lethe.Digest { return c.Digest }
func (c Checkpoint) replacing(before lethe.Digest) Leaf {
	c.Replaces = before
	return c
}

// Commit adds what commits to the digests of setups, slices and checkpoints, in their order
// and in one write, and says in each leaf what it replaces. A digest that is committed to
// already, and was not replaced since, is not again, so that a process that repeats after a
// crash what it has published does no harm. It returns how many leaves that were.
func (l *Log) Commit(list ...Leaf) (int, error) { return l.commit(nil, list) }

// CommitThrough is Commit for what a source said up to a position, which is kept in the
// same write: what is read again after a crash and was replaced since would else be
// committed to once more. It is kept only where leaves are added. Accesses may be among the
// leaves, each of which is added once.
func (l *Log) CommitThrough(source string, next int64, list ...Leaf) (int, error) {
	return l.commit([]deletions.Row{{Key: positionKey(source), Value: strconv.AppendInt(nil, next, 10)}}, list)
}

// Position returns where the source goes on of which CommitThrough has told last, or 0.
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

// Rewind forgets the positions of all sources: a backup was put back, whose topics are not
// those that the positions are of. What the sources say is committed to where it is not what
// was committed to last.
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
		c, ok := leaf.(commitment)
		if leaf.Kind() == KindAccess {
			accesses = append(accesses, leaf)
			continue
		}
		if !ok {
			return 0, fmt.Errorf("a leaf of kind %s commits to no digest", leaf.Kind())
		}
		at := c.artefact()
		before, changed := now[at]
		if !changed {
			before = l.latest[at]
		}
		if before != c.digest() {
			now[at] = c.digest()
			fresh = append(fresh, c.replacing(before))
		}
	}
	unknown, err := l.fresh(accesses)
	if fresh = append(fresh, unknown...); err != nil || len(fresh) == 0 {
		return 0, err
	}
	return len(fresh), l.write(fresh, rows, l.kv.Put)
}
