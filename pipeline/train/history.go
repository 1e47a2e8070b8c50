package train

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/canonical"
	"lethe/internal/mixedstore"
	"lethe/internal/timestepkey"
)

// Meta is the meta-models' component in History.Learnt.
const Meta = overall

// History is a stopped role's store of a shard.
type History struct {
	Shard     lethe.ShardID
	Timesteps []lethe.Timestep
	// Slices are digests; Slice reads the canonical bytes of one.
	Slices map[lethe.Timestep]lethe.Digest
	Slice  func(t lethe.Timestep) ([]byte, error)
	// Learnt are canonical bytes, by component (Meta for meta-models) and timestep.
	Learnt map[int]map[lethe.Timestep][]byte
	// Adopted are components with values of other processes.
	Adopted map[int]bool
	// Next is the position behind the last record.
	Next int64
}

// ReadHistory reads a shard's store. The error is fs.ErrNotExist if there is none.
func ReadHistory(fsys vfs.FS, dir string, shard lethe.ShardID) (_ *History, err error) {
	folder := shardDir(dir, shard)
	if _, err := fsys.Stat(folder); err != nil {
		// Opening would create an empty store.
		return nil, fmt.Errorf("shard %d: %w", shard, err)
	}
	store, err := openStore(fsys, folder)
	if err != nil {
		return nil, fmt.Errorf("shard %d: open store: %w", shard, err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	h := &History{
		Shard: shard, Slices: make(map[lethe.Timestep]lethe.Digest), Learnt: make(map[int]map[lethe.Timestep][]byte),
		Adopted: make(map[int]bool),
	}
	h.Slice = func(t lethe.Timestep) ([]byte, error) {
		get := func(key []byte) ([]byte, bool, error) { return mixedstore.ReadFile(fsys, folder, key) }
		return readMessage(get, shard, t)
	}
	err = store.Scan([]byte(slicePrefix), func(key, value []byte) error {
		t, err := timestepkey.Parse(slicePrefix, key)
		if err != nil {
			return err
		}
		_, message, err := splitStoredSlice(value)
		h.Timesteps = append(h.Timesteps, t)
		h.Slices[t] = canonical.DigestOf(message)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("shard %d: read slices: %w", shard, err)
	}
	err = store.Scan([]byte(checkpointPrefix), func(key, value []byte) error {
		t, component, err := splitLearnt(checkpointPrefix, key)
		if h.Learnt[component] == nil {
			h.Learnt[component] = make(map[lethe.Timestep][]byte)
		}
		h.Learnt[component][t] = append([]byte(nil), value...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("shard %d: read checkpoints: %w", shard, err)
	}
	err = store.Scan([]byte(adoptedPrefix), func(key, _ []byte) error {
		h.Adopted[int(key[len(key)-1])] = true
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("shard %d: read the origin of the checkpoints: %w", shard, err)
	}
	h.Next, err = readOffset(store)
	return h, err
}

// milestones is the distance of timesteps whose checkpoints of continued models are kept: an erasure replays 3.5
// timesteps more on average.
const milestones = 8

// Milestone reports whether the checkpoints of one of the settled timesteps, ascending, are kept for good. Others
// are kept while a score may need them.
func Milestone(timesteps []lethe.Timestep, t lethe.Timestep) bool {
	at, found := slices.BinarySearch(timesteps, t)
	return found && (at+1)%milestones == 0
}

func shardDir(dir string, shard lethe.ShardID) string {
	return filepath.Join(dir, shardFolder(shard))
}

func shardFolder(shard lethe.ShardID) string { return fmt.Sprintf("shard-%04d", shard) }

// otherShards is the remedy for another number of shards.
const otherShards = "give the number that the stream was begun with, " +
	"or start over with an empty data directory and empty topics"

// checkShards returns an error if the folder has slices of shards beyond the configured.
func checkShards(fsys vfs.FS, dir string, shards int) error {
	found, err := fsys.List(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, name := range found {
		var shard int
		if _, err := fmt.Sscanf(name, "shard-%d", &shard); err != nil || shard < shards {
			continue
		}
		c, err := openFolder(fsys, filepath.Join(dir, name), lethe.ShardID(shard))
		if err != nil {
			return err
		}
		// Empty if an earlier start was refused.
		held := len(c.timesteps)
		if err := c.store.Close(); err != nil {
			return err
		}
		if held > 0 {
			return fmt.Errorf("%s holds slices of shard %d, but partition.shards is %d (%s)", dir, shard, shards, otherShards)
		}
	}
	return nil
}
