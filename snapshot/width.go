package snapshot

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/internal/sortedset"
	"lethe/snapshot/index"
	"lethe/snapshot/stored"
)

// Unless it is configured, the number of features, or width, of the stream is that
// of its first timestep that is large enough to tell. Until then transactions of any
// width are candidates, kept with their origin, and take part in nothing.

// widths is staging as far as candidates go.
type widths struct{ *staging }

// enough is the number of transactions from which on a timestep decides.
const enough = 10

// candidate is a transaction of one width. For each id and width the last one counts.
type candidate struct {
	entry  index.Entry
	id     lethe.TransactionID
	row    []byte
	origin Origin
}

func (c candidate) encode() []byte {
	return appendOrigin(stored.AppendBlob(stored.AppendString(c.entry.Encode(), string(c.id)), c.row), c.origin)
}

func decodeCandidate(value []byte) (candidate, error) {
	c := stored.Over(value)
	out := candidate{entry: index.Entry{Timestep: lethe.Timestep(c.Uint64())}}
	c.Bytes(out.entry.Content[:])
	out.id, out.row, out.origin = lethe.TransactionID(c.Text()), c.Blob(), originFrom(&c)
	return out, c.Done("candidate")
}

// candidate takes a transaction before the width is known, and asks the same questions in
// the same order as after: one delivered again is a duplicate, be it late or not.
func (b *Batch) candidate(
	p lethe.Pseudonym, tr lethe.Transaction, arrived index.Entry, at arrival, o Origin,
) (Verdict, error) {
	key := candidateKey(p, len(tr.Features))
	value, known, err := b.get(key)
	if err != nil {
		return Verdict{}, err
	}
	if known {
		old, err := decodeCandidate(value)
		same := old.entry == arrived
		columns, erased := b.staging.suppressed.Redacted(tr.ID)
		if err == nil && erased && old.entry.Timestep == arrived.Timestep {
			same, err = becomes(b, old.row, columns, arrived) // as isKnown does
		}
		switch {
		case err != nil:
			return Verdict{}, err
		case same:
			return Verdict{Outcome: Duplicate}, nil
		case old.entry.Timestep != arrived.Timestep:
			return conflict(o, tr.Timestep, old.entry.Timestep), nil
		}
	}
	if late, isLate := b.refused(at); isLate {
		return refuse(o, ReasonLate, late), nil
	}
	if detail, refused := (beginning{b}).refused(tr.Timestep); refused {
		return refuse(o, ReasonTooManyOpen, detail), nil
	}
	if !known {
		b.infos[tr.Timestep] = oneMore(b.info(tr.Timestep))
	}
	b.set(key, candidate{arrived, tr.ID, stored.Row{ID: tr.ID, Features: tr.Features}.Encode(), o}.encode())
	return Verdict{Outcome: Accepted}, nil
}

// FeatureCount returns the number of features of every transaction, or 0 while it is
// not known.
func (s *Store) FeatureCount() int { return s.staging.featureCount }

// TellFeatureCount returns the number of features if it is not known and can be told now, else 0. Once it is fixed
// (see FixFeatureCount) no record and no erasure moves it, and transactions of another number are refused (see
// Letters).
//
// It is told by the first timestep that may close and has ten transactions or more:
// the most frequent number among them, the smallest of equals. A smaller timestep
// waits for a later one that can tell. One that control records in every partition
// name tells together with those before it, as soon as they have ten between them.
func (s *Store) TellFeatureCount() (int, error) {
	if s.staging.featureCount > 0 {
		return 0, nil
	}
	width, err := widths{s.staging}.tellWidth()
	return width, widthError(err)
}

// FixFeatureCount fixes the number of features, unless one is known.
func (m Marks) FixFeatureCount(width int) error {
	if m.staging.featureCount > 0 {
		return nil
	}
	return widthError(widths{m.staging}.fixWidth(width))
}

func widthError(err error) error {
	if err != nil {
		return fmt.Errorf("number of features: %w", err)
	}
	return nil
}

// tellWidth returns the width that can be told now, or 0.
func (s widths) tellWidth() (int, error) {
	named, err := s.named()
	if err != nil {
		return 0, err
	}
	for _, i := range s.timesteps() {
		if i.Nodes >= enough && i.Timestep < s.watermark(Transactions) {
			named = sortedset.Add(named, i.Timestep)
		}
	}
	for _, t := range named {
		width, err := s.mostFrequent(t, s.info(t).Nodes >= enough)
		if err != nil || width > 0 {
			return width, err
		}
	}
	return 0, nil
}

// named returns the timesteps that control records in every partition name, ascending.
func (s widths) named() ([]lethe.Timestep, error) {
	partitions := make(map[lethe.Timestep]int)
	err := s.Scan([]byte{kindControl}, func(key, _ []byte) error {
		t, err := timestepOf(key)
		partitions[t]++
		return err
	})
	maps.DeleteFunc(partitions, func(_ lethe.Timestep, n int) bool { return n < s.options.TransactionPartitions })
	return slices.Sorted(maps.Keys(partitions)), err
}

// mostFrequent returns the width that most candidates of a timestep have or, unless
// it decides alone, of those up to it; 0 if they are too few for one of them not to
// decide alone.
func (s widths) mostFrequent(t lethe.Timestep, alone bool) (int, error) {
	votes := make(map[int]int)
	err := s.Scan([]byte{kindCandidate}, func(key, value []byte) error {
		c, err := decodeCandidate(value)
		if at := c.entry.Timestep; err == nil && (at == t || at < t && !alone) {
			votes[widthOf(key)]++
		}
		return err
	})
	best, all := 0, 0
	for width, n := range votes {
		all += n
		if m := votes[best]; n > m || n == m && width < best {
			best = width
		}
	}
	if all < enough {
		return 0, err
	}
	return best, err
}

// settleWidth deals with the candidates of a store whose width was configured since.
func (s widths) settleWidth() error {
	found := false
	err := s.Scan([]byte{kindCandidate}, func(_, _ []byte) error {
		found = true
		return errStop
	})
	if !found {
		return err
	}
	return s.fixWidth(s.featureCount)
}

// fixWidth makes transactions of the candidates of a width, and letters of the others.
func (s widths) fixWidth(width int) error {
	c := s.change()
	err := s.Scan([]byte{kindCandidate}, func(key, value []byte) error {
		found, err := decodeCandidate(value)
		if err != nil {
			return err
		}
		c.drop(key)
		p, t := lethe.Pseudonym(key[1:1+stored.PseudonymBytes]), found.entry.Timestep
		if n := widthOf(key); n != width {
			detail := fmt.Sprintf("%d features, want %d", n, width)
			letter := Letter{Refusal: Refusal{found.origin, ReasonFeatureCount, detail}}
			c.letters = append(c.letters, storedLetter{[]lethe.Pseudonym{p}, letter})
			i := c.info(t)
			i.Nodes--
			c.infos[t] = i
			return nil
		}
		c.set(index.Key(p), found.entry.Encode())
		c.set(timestepKey(kindRow, t, p), found.row)
		return nil
	})
	if err != nil {
		return err
	}
	err = s.Scan([]byte{kindControl}, func(key, _ []byte) error {
		c.drop(key)
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(c.letters, func(a, b storedLetter) int { return compareOrigins(a.letter.Origin, b.letter.Origin) })
	c.set([]byte{kindFeatureCount}, binary.BigEndian.AppendUint32(nil, uint32(width)))
	if err := c.apply(); err != nil {
		return err
	}
	s.featureCount = width
	return nil
}

// compareOrigins orders records of a partition as they stand in its log.
func compareOrigins(a, b Origin) int {
	return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Offset, b.Offset))
}

func widthOf(key []byte) int { return int(binary.BigEndian.Uint32(key[len(key)-widthBytes:])) }

// alike reports whether a candidate of another transaction than those that go has a
// content. Candidates are not in the index, and there are some only until the width is
// known.
func (s widths) alike(content index.Content, gone stored.Erasure) (found bool, err error) {
	err = s.Scan([]byte{kindCandidate}, func(key, value []byte) error {
		c, err := decodeCandidate(value)
		if err != nil || c.entry.Content != content || gone.Nodes[lethe.Pseudonym(key[1:1+stored.PseudonymBytes])] {
			return err
		}
		found = true
		return errStop
	})
	if errors.Is(err, errStop) {
		err = nil
	}
	return found, err
}

// candidates calls fn for all that are of a transaction.
func (s widths) candidates(p lethe.Pseudonym, fn func(candidate) error) error {
	return s.Scan(stored.Key(kindCandidate, p), func(_, value []byte) error {
		c, err := decodeCandidate(value)
		if err != nil {
			return err
		}
		return fn(c)
	})
}
