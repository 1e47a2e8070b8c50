package snapshot

import (
	"errors"
	"maps"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/snapshot/closed"
	"lethe/snapshot/index"
	"lethe/snapshot/openrows"
	"lethe/snapshot/stored"
	"lethe/snapshot/suppressed"
)

// StagingFolder and TimestepFolder are the names of folders below that of a Store:
// of what is open, and of a closed timestep.
const StagingFolder = "staging"

// TimestepFolder is described with StagingFolder.
func TimestepFolder(t lethe.Timestep) string { return closed.FolderName(t) }

// staging holds the records of open timesteps, those that wait to become part of a
// closed one, the payments and labels that are in no graph, the letters that are not
// confirmed, and what is known of every timestep, partition and erased transaction.
type staging struct {
	*swapstore.Store
	options Options
	// rows are those of kind kindRow, and those that are in files.
	rows *openrows.Rows

	// What follows mirrors the store.

	featureCount int
	infos        map[lethe.Timestep]Info
	offsets      map[TopicPartition]int64
	watermarks   map[Stream][]lethe.Timestep
	suppressed   *suppressed.List
	// gone are the timesteps that were emptied, with the revision that says so.
	gone map[lethe.Timestep]lethe.Revision
	// payments and labels bound those that wait for transactions.
	payments, labels *lacking
	// index tells where transactions are. Every entry that is stored has to be met.
	index *index.Index

	// epoch counts the changes; a batch of an older one is stale.
	epoch int
}

// Apply is that of the store. Batches begun before are stale.
func (s *staging) Apply(fn func(w swapstore.Writer) error) error {
	s.epoch++
	return s.Store.Apply(fn)
}

// Outdate ends the batches that were begun.
func (s *staging) Outdate() { s.epoch++ }

// changes are made to staging together, or none of them.
type changes struct {
	staging *staging
	// writes holds the values to be set, nil for those to be deleted.
	writes map[string][]byte
	// prefixes are those of keys that are all deleted, before the writes; files are those of rows among them.
	prefixes [][]byte
	files    openrows.Files
	infos    map[lethe.Timestep]Info
	letters  []storedLetter
	// unjudged are the timesteps of payments and labels that were judged and wait again.
	unjudged []lethe.Timestep
	// unsynced says that they need not be durable yet.
	unsynced bool
}

func (s *staging) change() *changes {
	return &changes{staging: s, writes: make(map[string][]byte), infos: make(map[lethe.Timestep]Info)}
}

func (c *changes) set(key, value []byte) { c.writes[string(key)] = value }
func (c *changes) drop(key []byte)       { c.writes[string(key)] = nil }
func (c *changes) dropAll(prefix []byte) { c.prefixes = append(c.prefixes, prefix) }

// dropped reports whether the entry goes.
func (c *changes) dropped(key []byte) bool {
	value, found := c.writes[string(key)]
	return found && value == nil
}

// info returns what will be known of a timestep.
func (c *changes) info(t lethe.Timestep) Info {
	if i, found := c.infos[t]; found {
		return i
	}
	return c.staging.info(t)
}

// timesteps returns what will be known of every timestep, ascending.
func (c *changes) timesteps() []Info {
	all := maps.Clone(c.staging.infos)
	maps.Copy(all, c.infos)
	return ascending(all)
}

// newest returns the newest timestep that will have reached a state, or NoTimestep.
func (c *changes) newest(state lethe.State) lethe.Timestep { return newestOf(c.timesteps(), state) }

// apply stores the changes durably. What will be known of a timestep that holds
// nothing is nothing.
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
	waitingChanged(c.staging)
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
			var err error
			if value := c.writes[key]; value == nil {
				err = w.Delete([]byte(key))
			} else {
				c.staging.index.Meet([]byte(key), value)
				err = w.Set([]byte(key), value)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || len(c.files) == 0 {
		return err
	}
	if c.staging.rows.Dropped(c.files); !c.unsynced && c.staging.rows.Sync() == nil {
		_ = c.staging.rows.Clean() // the changes are made: who cleans next tries again, and so does an erasure
	}
	return nil
}

// info returns what is known of a timestep, or what is known of a new one.
func (s *staging) info(t lethe.Timestep) Info {
	if i, found := s.infos[t]; found {
		return i
	}
	return Info{Timestep: t, State: lethe.Open, Previous: lethe.NoTimestep}
}

// timesteps returns what is known of every timestep, ascending.
func (s *staging) timesteps() []Info {
	return ascending(s.infos)
}

func ascending(infos map[lethe.Timestep]Info) []Info {
	out := make([]Info, 0, len(infos))
	for _, t := range slices.Sorted(maps.Keys(infos)) {
		out = append(out, infos[t])
	}
	return out
}

// newestOf returns the newest of some timesteps, ascending, that has reached a state,
// or NoTimestep.
func newestOf(infos []Info, state lethe.State) lethe.Timestep {
	for _, i := range slices.Backward(infos) {
		if i.State >= state {
			return i.Timestep
		}
	}
	return lethe.NoTimestep
}

// watermark returns the lowest watermark of a stream's partitions: timesteps
// below it take no more records.
func (s *staging) watermark(stream Stream) lethe.Timestep { return slices.Min(s.watermarks[stream]) }

// errStop ends a scan early.
var errStop = errors.New("enough")

// staged is what is stored of a transaction, payment or label: its timestep, the
// transactions it is about, and its value.
type staged struct {
	at         lethe.Timestep
	about      []lethe.Pseudonym
	key, value []byte
}

// scanThrough calls fn for what is stored of a kind up to and including timestep t.
func (s *staging) scanThrough(kind byte, t lethe.Timestep, fn func(staged) error) error {
	return s.scanStaged([]byte{kind}, func(e staged) error {
		if e.at > t {
			return errStop
		}
		return fn(e)
	})
}

// scanAt calls fn for what is stored of a kind at timestep t.
func (s *staging) scanAt(kind byte, t lethe.Timestep, fn func(staged) error) error {
	return s.scanStaged(timestepKey(kind, t), fn)
}

// scanRows calls fn for the transactions of an open timestep, or those that wait for a closed one.
func scanRows(s *staging, t lethe.Timestep, fn func(staged) error) error {
	about := make([]lethe.Pseudonym, 1)
	return s.rows.Scan(t, func(p lethe.Pseudonym, row []byte) error {
		about[0] = p
		return fn(staged{at: t, about: about, value: row})
	})
}

// scanAll calls fn for all that staging holds, with the kind of its key.
func scanAll(s *staging, fn func(kind byte, value []byte) error) error {
	err := s.Scan(nil, func(key, value []byte) error { return fn(key[0], value) })
	for _, i := range s.timesteps() {
		if err == nil && i.State == lethe.Open {
			err = scanRows(s, i.Timestep, func(e staged) error { return fn(kindRow, e.value) })
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
