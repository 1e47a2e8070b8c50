package snapshot

import (
	"context"
	"maps"

	"lethe"
	"lethe/internal/swapstore"
)

// erase writes staging anew without the transactions. It always writes, even if
// it holds none of them: bytes of what was deleted before may still be in its
// files.
func (s *staging) erase(ctx context.Context, gone erasure) error {
	infos, err := s.infosWithout(gone)
	if err != nil {
		return err
	}
	err = s.Rewrite(ctx, func(src swapstore.Reader, dst swapstore.Writer) error {
		return src.Scan(nil, func(key, value []byte) error {
			drop, err := dropFromStaging(gone, key, value)
			if err != nil || drop {
				return err
			}
			if key[0] == kindInfo {
				t, err := timestepOf(key)
				if err != nil {
					return err
				}
				if infos[t].empty() {
					return nil
				}
				value = infos[t].encode()
			}
			return dst.Set(key, value)
		})
	})
	if err != nil {
		return err
	}
	maps.DeleteFunc(infos, func(_ lethe.Timestep, i Info) bool { return i.empty() })
	s.infos = infos
	return nil
}

// infosWithout returns what will be known of every timestep.
func (s *staging) infosWithout(gone erasure) (map[lethe.Timestep]Info, error) {
	infos := maps.Clone(s.infos)
	lose := map[byte]func(*Info){
		kindRow:     func(i *Info) { i.Nodes-- },
		kindPayment: func(i *Info) { i.Payments-- },
		kindLabel:   func(i *Info) { i.Labels-- },
	}
	for kind, change := range lose {
		err := s.scanThrough(kind, maxTimestep, func(at lethe.Timestep, about []lethe.Pseudonym, _ []byte) error {
			if gone.names(about) {
				i := infos[at]
				change(&i)
				infos[at] = i
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return infos, nil
}

// dropFromStaging reports whether an entry goes with the transactions, or with
// the notes of rewriting that end here.
func dropFromStaging(gone erasure, key, value []byte) (bool, error) {
	switch key[0] {
	case kindIndex:
		return gone.isIn(key, 1)
	case kindRow, kindPayment, kindLabel:
		return gone.isIn(key, 1+timestepBytes)
	case kindRefusal:
		r, err := decodeRefusal(value)
		return gone.names(r.about), err
	case kindRewriting:
		return true, nil
	}
	return false, nil
}
