package snapshot

import (
	"errors"
	"maps"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/snapshot/closed"
	"lethe/snapshot/index"
	"lethe/snapshot/lacking"
	"lethe/snapshot/openrows"
	"lethe/snapshot/stored"
	"lethe/snapshot/subjects"
	"lethe/snapshot/suppressed"
)

// StagingFolder is the folder of open timesteps below that of a Store.
const StagingFolder = "staging"

// TimestepFiles returns the beginning of the names of a closed timestep's files in the folder of a Store.
func TimestepFiles(t lethe.Timestep) string { return closed.Prefix(t) }

// staging holds the records of open timesteps, late records that wait to join a closed one,
// payments and labels that are in no graph, unconfirmed letters, and the metadata of every
// timestep, partition and erased transaction.
type staging struct {
	*swapstore.Store
	*timesteps
	options Options
	// rows are the transaction rows, those in the store and those in files.
	rows *openrows.Rows

	// The following fields mirror the store.

	featureCount int
	offsets      map[TopicPartition]int64
	suppressed   *suppressed.List
	// payments and labels bound the entries that wait for transactions.
	payments, labels *lacking.Records
	// index locates transactions. Index.Meet must see every stored entry.
	index *index.Index
	// subjects locates the carriers of a subject.
	subjects subjects.Index

	// epoch counts changes; a batch of an older epoch is stale.
	epoch int
}

// Apply is Store.Apply; it makes all open batches stale.
func (s *staging) Apply(fn func(w swapstore.Writer) error) error {
	s.epoch++
	return s.Store.Apply(fn)
}

// Outdate makes all open batches stale.
func (s *staging) Outdate() { s.epoch++ }

// changes are applied to staging atomically.
type changes struct {
	staging *staging
	// writes holds the values to set; nil deletes the key.
	writes map[string][]byte
	// prefixes are deleted before the writes; files are the row files among them.
	prefixes [][]byte
	files    openrows.Files
	infos    map[lethe.Timestep]Info
	letters  []storedLetter
	// unjudged are the timesteps of payments and labels that were judged and now wait again.
	unjudged []lethe.Timestep
	// unsynced means that the changes need not be durable yet.
	unsynced bool
}

func (s *staging) change() *changes {
	return &changes{staging: s, writes: make(map[string][]byte), infos: make(map[lethe.Timestep]Info)}
}

func (c *changes) set(key, value []byte) { c.writes[string(key)] = value }
func (c *changes) drop(key []byte)       { c.writes[string(key)] = nil }
func (c *changes) dropAll(prefix []byte) { c.prefixes = append(c.prefixes, prefix) }

// dropped reports whether the changes delete the entry.
func (c *changes) dropped(key []byte) bool {
	value, found := c.writes[string(key)]
	return found && value == nil
}

// info returns the timestep's info after the changes.
func (c *changes) info(t lethe.Timestep) Info {
	if i, found := c.infos[t]; found {
		return i
	}
	return c.staging.Info(t)
}

// count counts n entries of staging more: as late if the timestep is past the state at which such an entry joins it.
func (c *changes) count(kind byte, t lethe.Timestep, n int) {
	i := c.info(t)
	joins, of := lethe.Open, &i.Nodes
	switch kind {
	case kindPayment:
		of = &i.Payments
	case kindLabel:
		joins, of = lethe.Closed, &i.Labels
	}
	if i.State > joins {
		of = &i.Waiting
	}
	*of += n
	c.infos[t] = i
}

// timesteps returns all infos after the changes, ascending.
func (c *changes) timesteps() []Info {
	all := maps.Clone(c.staging.infos)
	maps.Copy(all, c.infos)
	return ascending(all)
}

// newest returns the newest timestep that will have reached a state, or NoTimestep.
func (c *changes) newest(state lethe.State) lethe.Timestep { return newestOf(c.timesteps(), state) }

// apply stores the changes durably, unless unsynced. The info of an empty timestep is deleted.
func (c *changes) apply() error {
	s := c.staging
	number, err := s.nextLetter()
	if err != nil {
		return err
	}
	for _, l := range c.letters {
		c.set(letterKey(number), l.encode())
		number++
	}
	for t, i := range c.infos {
		if key := timestepKey(kindInfo, t); i.empty() {
			c.drop(key)
		} else {
			c.set(key, i.encode())
		}
	}
	if err := c.commit(); err != nil {
		return err
	}
	maps.Copy(s.infos, c.infos)
	maps.DeleteFunc(s.infos, func(_ lethe.Timestep, i Info) bool { return i.empty() })
	return nil
}

// commit stores the writes.
func (c *changes) commit() error {
	c.staging.waitingChanged()
	apply := c.staging.Apply
	if c.unsynced {
		c.staging.epoch++
		apply = c.staging.ApplyUnsynced
	}
	err := apply(func(w swapstore.Writer) error {
		for _, prefix := range c.prefixes {
			if err := swapstore.DeletePrefix(w, prefix); err != nil {
				return err
			}
		}
		for _, key := range slices.Sorted(maps.Keys(c.writes)) {
			if value := c.writes[key]; value == nil {
				w.Delete([]byte(key))
			} else {
				c.staging.index.Meet([]byte(key), value)
				w.Set([]byte(key), value)
			}
		}
		return nil
	})
	if err != nil || len(c.files) == 0 {
		return err
	}
	if c.staging.rows.Dropped(c.files); !c.unsynced && c.staging.rows.Sync() == nil {
		_ = c.staging.rows.Clean() // the changes are stored: the next Clean or an erasure tries again
	}
	return nil
}

// errStop ends a scan early.
var errStop = errors.New("enough")

// staged is a stored transaction, payment or label: its timestep, the transactions it names, and
// its value.
type staged struct {
	at         lethe.Timestep
	about      []lethe.Pseudonym
	key, value []byte
}

// scanThrough calls fn for every entry of a kind up to and including timestep t.
func (s *staging) scanThrough(kind byte, t lethe.Timestep, fn func(staged) error) error {
	return s.scanStaged([]byte{kind}, func(e staged) error {
		if e.at > t {
			return errStop
		}
		return fn(e)
	})
}

// scanAt calls fn for every entry of a kind at timestep t.
func (s *staging) scanAt(kind byte, t lethe.Timestep, fn func(staged) error) error {
	return s.scanStaged(timestepKey(kind, t), fn)
}

// scanRows calls fn for the transactions of an open timestep, or the late ones of a closed
// timestep.
func (s *staging) scanRows(t lethe.Timestep, fn func(staged) error) error {
	about := make([]lethe.Pseudonym, 1)
	return s.rows.Scan(t, func(p lethe.Pseudonym, row []byte) error {
		about[0] = p
		return fn(staged{at: t, about: about, value: row})
	})
}

// scanAll calls fn for everything in staging, with the kind of its key.
func (s *staging) scanAll(fn func(kind byte, value []byte) error) error {
	err := s.Scan(nil, func(key, value []byte) error { return fn(key[0], value) })
	for _, i := range s.Timesteps() {
		if err == nil && i.State == lethe.Open {
			err = s.scanRows(i.Timestep, func(e staged) error { return fn(kindRow, e.value) })
		}
	}
	return err
}

func (s *staging) scanStaged(prefix []byte, fn func(staged) error) error {
	names := 1
	if prefix[0] == kindPayment {
		names = 2
	}
	err := s.Scan(prefix, func(key, value []byte) error {
		e := staged{key: key, value: value}
		var err error
		if e.at, err = timestepOf(key); err != nil {
			return err
		}
		if e.about, err = stored.Pseudonyms(key, 1+timestepBytes, names); err != nil {
			return err
		}
		return fn(e)
	})
	if errors.Is(err, errStop) {
		return nil
	}
	return err
}

// waitingChanged forces a new check of waiting records, because staging changed otherwise than by arrivals.
func (s *staging) waitingChanged() {
	s.payments.Changed()
	s.labels.Changed()
}
