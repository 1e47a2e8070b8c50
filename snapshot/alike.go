package snapshot

import (
	"bytes"
	"errors"
	"fmt"

	"lethe"
	"lethe/internal/keyfilter"
	"lethe/snapshot/stored"
)

// Who has the same features as others is told by the index, which has a hash of those of
// everyone. Filters in memory answer most questions, for reading it takes as long as the
// history is long.

// contents tells of most contents that no two transactions have them.
type contents struct {
	// seen are those that transactions had, and repeated those of them that came when seen may have had them already:
	// what two transactions have is in both.
	seen, repeated *keyfilter.Filter
	// holders are of contents that were asked for lately, until a transaction comes that has one of them.
	holders map[contentHash]holders
}

// holders are transactions that had a content when it was looked for. Of each the index tells whether it still has.
type holders struct {
	list []lethe.Pseudonym
	// all says that nobody else has it.
	all bool
}

func newContents() contents {
	// As many contents as strangers has memory for transactions, 16 bits each. Of so many, one in a thousand that nobody
	// repeats is taken for repeated: to ask the index instead takes as long as the history is.
	const seenBytes, repeatedBytes = 32 << 20, 6 << 20
	return contents{keyfilter.New(seenBytes), keyfilter.New(repeatedBytes), make(map[contentHash]holders)}
}

// meet learns the content of an entry of the index. Met twice, the same entry makes it a repeated one, which costs time
// and no more.
func (c *contents) meet(hash contentHash) {
	if key := keyfilter.Key(hash); c.seen.MayHave(key) {
		c.repeated.Add(key)
	} else {
		c.seen.Add(key)
	}
}

// know learns a key that is about to be stored, or is, if it is one of the index.
func (s *strangers) know(key []byte) {
	if key[0] == kindIndex && len(key) == 1+stored.PseudonymBytes {
		s.known.Add(lethe.Pseudonym(key[1:]))
	}
}

// meet learns an entry that is about to be stored, if it is one of the index. The content of one that load comes to
// later is left to it.
func (s *strangers) meet(key, value []byte) {
	s.know(key)
	if key[0] != kindIndex {
		return
	}
	hash := contentHash(value[timestepBytes:])
	delete(s.contents.holders, hash)
	if s.from == nil || bytes.Compare(key, s.from) < 0 {
		s.contents.meet(hash)
	}
}

// owners is staging as far as who has which content goes.
type owners struct{ *staging }

// learnt returns contents, and whether all are learnt: before, they tell of none that it is not there.
func (s owners) learnt() (c *contents, all bool) {
	c = &s.strangers.contents
	const mostHolders = 1 << 16 // a few megabytes
	if len(c.holders) > mostHolders {
		clear(c.holders)
	}
	return c, s.strangers.from == nil
}

// replacedKey is for a content that a transaction had before it was corrected.
func replacedKey(hash contentHash) []byte { return append([]byte{kindReplaced}, hash[:]...) }

// ContentOf is a keyed hash of features, by which HasContents knows them.
func ContentOf(secret lethe.Secret, features []float32) [len(contentHash{})]byte {
	return hashContent(secret, features)
}

// HasContents reports of features whether a transaction has them, or had them before it was
// corrected: then they may still be in the files of staging. It reads the index, once, if memory does not
// tell.
func (m Marks) HasContents(list [][len(contentHash{})]byte) ([]bool, error) {
	s, out := m.staging, make([]bool, len(list))
	c, all := owners{s}.learnt()
	var asked []contentHash
	for i, content := range list {
		_, found, err := s.Get(replacedKey(content))
		if err == nil && !found {
			found, err = widths{s}.alike(content, stored.Erasure{})
		}
		if err != nil {
			return nil, fmt.Errorf("who has a content: %w", err)
		}
		if out[i] = found; !found && (!all || c.seen.MayHave(content)) {
			asked = append(asked, content)
		}
	}
	has, err := owners{s}.stay(asked, stored.Erasure{})
	if err != nil {
		return nil, fmt.Errorf("who has %d contents: %w", len(asked), err)
	}
	for i, content := range list {
		out[i] = out[i] || has[content]
	}
	return out, nil
}

// markShared notes which of the located have the features of a transaction that
// is not among them.
func (s *staging) markShared(located []Located) error {
	gone, own := (stored.Erasure{Removal: RemovalOf(located)}), make(map[int]contentHash)
	var asked []contentHash
	for i, l := range located {
		if !l.Known || l.Kind == lethe.PaymentTarget {
			continue
		}
		entry, known, err := lookup(s.Get, l.Pseudonym)
		if err != nil {
			return err
		}
		if known {
			own[i], asked = entry.hash, append(asked, entry.hash)
		}
		err = widths{s}.candidates(l.Pseudonym, func(c candidate) error {
			shared, err := widths{s}.alike(c.entry.hash, gone)
			located[i].Shared = located[i].Shared || shared
			return err
		})
		if err != nil {
			return err
		}
	}
	if len(asked) == 0 {
		return nil
	}
	c, all := owners{s}.learnt()
	for i, hash := range own {
		if all && !c.repeated.MayHave(keyfilter.Key(hash)) {
			c.holders[hash] = holders{[]lethe.Pseudonym{located[i].Pseudonym}, true}
		}
	}
	stays, err := owners{s}.stay(asked, gone)
	for i, hash := range own {
		located[i].Shared = located[i].Shared || stays[hash]
	}
	return err
}

// stay returns which contents a transaction in the index has that stays as it is.
func (s owners) stay(asked []contentHash, gone stored.Erasure) (map[contentHash]bool, error) {
	stays, doubt := make(map[contentHash]bool), make(map[contentHash]*holders)
	for _, hash := range asked {
		if _, again := stays[hash]; again {
			continue
		}
		is, sure, err := s.stayed(hash, gone)
		if err != nil {
			return nil, err
		}
		if stays[hash] = is; !sure {
			doubt[hash] = new(holders)
		}
	}
	if len(doubt) == 0 {
		return stays, nil
	}
	left := len(doubt)
	err := s.Scan([]byte{kindIndex}, func(key, value []byte) error {
		entry, err := decodeIndex(value)
		h := doubt[entry.hash]
		if err != nil || h == nil || stays[entry.hash] {
			return err
		}
		p := lethe.Pseudonym(key[1:])
		if !gone.Keeps(p) {
			h.list = append(h.list, p)
			return nil
		}
		h.list, stays[entry.hash] = []lethe.Pseudonym{p}, true
		if left--; left == 0 {
			return errStop
		}
		return nil
	})
	if err != nil && !errors.Is(err, errStop) {
		return nil, err
	}
	for hash, h := range doubt {
		h.all = !stays[hash]
		s.strangers.contents.holders[hash] = *h
	}
	return stays, nil
}

// stayed is stay of one content, as far as it is sure of that without going through the index.
func (s owners) stayed(hash contentHash, gone stored.Erasure) (is, sure bool, err error) {
	h := s.strangers.contents.holders[hash]
	var others []lethe.Pseudonym
	for _, p := range h.list {
		if !gone.Keeps(p) {
			others = append(others, p)
			continue
		}
		entry, known, err := lookup(s.Get, p)
		if is = known && entry.hash == hash; is || err != nil {
			return is, is, err
		}
	}
	if h.all {
		s.strangers.contents.holders[hash] = holders{others, true}
	}
	return false, h.all, nil
}
