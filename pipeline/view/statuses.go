package view

import (
	"bytes"

	"lethe/internal/swapstore"
	"lethe/pipeline/wire"
)

// takeStatuses stores the statuses of requests. All of them are read at every start, so that
// those that are known are not written again.
func (l *logic) takeStatuses(notices []wire.Notice) error {
	fresh := make(map[string][]byte)
	for _, n := range notices {
		if n.Status == nil {
			continue
		}
		value, err := n.Status.Encode()
		if err != nil {
			return err
		}
		key := statusPrefix + n.Status.Key()
		known, _, err := l.store.Get([]byte(key))
		if err != nil {
			return err
		}
		if delete(fresh, key); !bytes.Equal(known, value) {
			fresh[key] = value
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	err := l.store.Apply(func(w swapstore.Writer) error {
		for key, value := range fresh {
			if err := w.Set([]byte(key), value); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		l.feed.tell(Erasures)
	}
	return err
}
