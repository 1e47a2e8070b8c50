package index

import (
	"errors"

	"lethe"
	"lethe/internal/keyfilter"
	"lethe/snapshot/stored"
)

// contents tells of most contents that no two transactions have them.
type contents struct {
	// seen are those that transactions had, and repeated those of them that came when seen may have had them already:
	// what two transactions have is in both.
	seen, repeated *keyfilter.Filter
	// holders are of contents that were asked for lately, until a transaction comes that has one of them.
	holders map[Content]holders
}

// holders are transactions that had a content when it was looked for. Of each the index tells whether it still has.
type holders struct {
	list []lethe.Pseudonym
	// all says that nobody else has it.
	all bool
}

func newContents() contents {
	// As many contents as there is memory for transactions, 16 bits each. Of so many, one in a thousand that nobody
	// repeats is taken for repeated: to ask the store instead takes as long as the history is.
	const seenBytes, repeatedBytes = 32 << 20, 6 << 20
	return contents{keyfilter.New(seenBytes), keyfilter.New(repeatedBytes), make(map[Content]holders)}
}

// meet learns the content of an entry. Met twice, the same entry makes it a repeated one, which costs time
// and no more.
func (c *contents) meet(content Content) {
	if key := keyfilter.Key(content); c.seen.MayHave(key) {
		c.repeated.Add(key)
	} else {
		c.seen.Add(key)
	}
}

// MayHave reports whether a transaction may have a content. If one has, it is reported.
func (x *Index) MayHave(content Content) bool {
	return !x.Learnt() || x.contents.seen.MayHave(keyfilter.Key(content))
}

// Had notes that a transaction has a content: unless it may be repeated, nobody else has.
func (x *Index) Had(content Content, by lethe.Pseudonym) {
	if x.Learnt() && !x.contents.repeated.MayHave(keyfilter.Key(content)) {
		x.contents.hold(content, holders{[]lethe.Pseudonym{by}, true})
	}
}

// hold notes who has a content.
func (c *contents) hold(content Content, by holders) {
	const most = 1 << 16 // a few megabytes
	if len(c.holders) >= most {
		clear(c.holders)
	}
	c.holders[content] = by
}

// Stay returns which contents a transaction has that stays as it is. It reads all of the index, once, if memory does
// not tell. Errors: stored.ErrCorrupt, those of the store.
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

// look goes through the entries for who has the contents that are in doubt.
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

// stayed is Stay of one content, as far as it is sure of that without going through the entries.
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
