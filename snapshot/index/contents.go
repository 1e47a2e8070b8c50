package index

import (
	"errors"

	"lethe"
	"lethe/internal/keyfilter"
	"lethe/snapshot/stored"
)

// contents is a filter: it answers "certainly unique" for most contents.
type contents struct {
	// seen holds the contents of all transactions. repeated holds those that seen may already have had when they were
	// added, so a content that two transactions share is in both.
	seen, repeated *keyfilter.Filter
	// holders caches the result of recent searches for a content, until a transaction with that content arrives.
	holders map[Content]holders
}

// holders are the transactions that had a content when it was searched for. The index shows whether each still has
// it.
type holders struct {
	list []lethe.Pseudonym
	// all means that no other transaction has it.
	all bool
}

func newContents() contents {
	// Room for as many contents as known transactions, 16 bits each. At that size about 0.1 % of unique contents
	// appear repeated; for those the store must be scanned, which takes time in proportion to the history.
	const seenBytes, repeatedBytes = 32 << 20, 6 << 20
	return contents{keyfilter.New(seenBytes), keyfilter.New(repeatedBytes), make(map[Content]holders)}
}

// meet adds the content of an entry. Adding the same entry twice makes it appear repeated, which costs time but is
// correct.
func (c *contents) meet(content Content) {
	if key := keyfilter.Key(content); c.seen.MayHave(key) {
		c.repeated.Add(key)
	} else {
		c.seen.Add(key)
	}
}

// MayHave reports whether a transaction may have a content; false positives are possible, false
// negatives are not.
func (x *Index) MayHave(content Content) bool {
	return !x.Learnt() || x.contents.seen.MayHave(keyfilter.Key(content))
}

// Had records that a transaction has a content. If the content is certainly not repeated, no
// other transaction has it.
func (x *Index) Had(content Content, by lethe.Pseudonym) {
	if x.Learnt() && !x.contents.repeated.MayHave(keyfilter.Key(content)) {
		x.contents.hold(content, holders{[]lethe.Pseudonym{by}, true})
	}
}

// hold caches which transactions have a content.
func (c *contents) hold(content Content, by holders) {
	const most = 1 << 16 // a few megabytes
	if len(c.holders) >= most {
		clear(c.holders)
	}
	c.holders[content] = by
}

// Stay returns, for each content, whether a transaction that the erasure leaves unchanged has it. Contents that
// memory cannot decide are looked up in one scan of the whole index. Errors: stored.ErrCorrupt, those of the store.
func (x *Index) Stay(asked []Content, gone stored.Erasure) (map[Content]bool, error) {
	stays, doubt := make(map[Content]bool), make(map[Content]*holders)
	for _, content := range asked {
		if _, again := stays[content]; again {
			continue
		}
		is, sure, err := x.stayed(content, gone)
		if err != nil {
			return nil, err
		}
		if stays[content] = is; !sure {
			doubt[content] = new(holders)
		}
	}
	if len(doubt) == 0 {
		return stays, nil
	}
	if err := x.look(doubt, stays, gone); err != nil {
		return nil, err
	}
	for content, h := range doubt {
		h.all = !stays[content]
		x.contents.hold(content, *h)
	}
	return stays, nil
}

// look scans the entries for transactions that have the undecided contents.
func (x *Index) look(doubt map[Content]*holders, stays map[Content]bool, gone stored.Erasure) error {
	left := len(doubt)
	err := x.store.Scan([]byte{Kind}, func(key, value []byte) error {
		entry, err := Decode(value)
		h := doubt[entry.Content]
		if err != nil || h == nil || stays[entry.Content] {
			return err
		}
		p := lethe.Pseudonym(key[1:])
		if !gone.Keeps(p) {
			h.list = append(h.list, p)
			return nil
		}
		h.list, stays[entry.Content] = []lethe.Pseudonym{p}, true
		if left--; left == 0 {
			return errStop
		}
		return nil
	})
	if errors.Is(err, errStop) {
		return nil
	}
	return err
}

// stayed is Stay for one content; sure is false if it needs a scan of the entries.
func (x *Index) stayed(content Content, gone stored.Erasure) (is, sure bool, err error) {
	h := x.contents.holders[content]
	var others []lethe.Pseudonym
	for _, p := range h.list {
		if !gone.Keeps(p) {
			others = append(others, p)
			continue
		}
		entry, known, err := Lookup(x.store.Get, p)
		if is = known && entry.Content == content; is || err != nil {
			return is, is, err
		}
	}
	if h.all {
		x.contents.hold(content, holders{others, true})
	}
	return false, h.all, nil
}
