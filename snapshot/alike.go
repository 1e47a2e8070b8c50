package snapshot

import (
	"fmt"

	"lethe"
	"lethe/snapshot/index"
	"lethe/snapshot/stored"
)

// HasContents reports, for each content hash, whether a transaction has these features or had them before a
// correction; replaced features may still be in the files of staging. Contents that memory cannot exclude are
// looked up in one scan of the index.
func (m Marks) HasContents(list []index.Content) ([]bool, error) {
	s, out := m.staging, make([]bool, len(list))
	var asked []index.Content
	for i, content := range list {
		_, found, err := s.Get(index.ReplacedKey(content))
		if err != nil {
			return nil, fmt.Errorf("who has a content: %w", err)
		}
		if out[i] = found; !found && s.index.MayHave(content) {
			asked = append(asked, content)
		}
	}
	has, err := s.index.Stay(asked, stored.Erasure{})
	if err != nil {
		return nil, fmt.Errorf("who has %d contents: %w", len(asked), err)
	}
	for i, content := range list {
		out[i] = out[i] || has[content]
	}
	return out, nil
}

// markShared sets Shared on each located target whose features also belong to a transaction that
// is not a target.
func (s *staging) markShared(located []Located) error {
	gone, own := (stored.Erasure{Removal: RemovalOf(located)}), make(map[int]index.Content)
	var asked []index.Content
	for i, l := range located {
		if !l.Known || l.Kind == lethe.PaymentTarget {
			continue
		}
		entry, known, err := index.Lookup(s.Get, l.Pseudonym)
		if err != nil {
			return err
		}
		if known {
			own[i], asked = entry.Content, append(asked, entry.Content)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	for i, content := range own {
		s.index.Had(content, located[i].Pseudonym)
	}
	stays, err := s.index.Stay(asked, gone)
	for i, content := range own {
		located[i].Shared = located[i].Shared || stays[content]
	}
	return err
}
