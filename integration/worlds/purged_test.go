package worlds

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/deletions"
	"lethe/pipeline/train"
	"lethe/pipeline/wire"
)

// purged looks whether what a trainer says is so: that its store has every slice as the command asks
// for, also after its machine ends now. It may have heard of an earlier command of the same attempt: what
// was written anew since it answers for when it is asked to search.
func (w *witness) purged(ack *deletions.Ack, files *disk) error {
	number, err := strconv.Atoi(ack.Instance)
	if err != nil {
		return err
	}
	left := files.memory.CrashClone(vfs.CrashCloneCfg{})
	stores := make(map[lethe.ShardID]*train.History)
	for shard := range lethe.ShardID(shards) {
		stores[shard], err = train.ReadHistory(left, folderOf(number-1), shard)
		if errors.Is(err, fs.ErrNotExist) {
			stores[shard], err = new(train.History), nil
		}
		if err != nil {
			return err
		}
	}
	var missing []string
	for _, command := range w.commands[ack.RequestID] {
		if command.Attempt != ack.Attempt {
			continue
		}
		if missing = w.missing(stores, command); len(missing) == 0 {
			return nil
		}
	}
	if len(missing) > 0 {
		w.faults = append(w.faults, fmt.Sprintf("trainer %s says that %s is purged, and its store lacks %s", ack.Instance,
			ack.RequestID, strings.Join(missing, ", ")))
	}
	return nil
}

// missing lists what a command asks for and stores do not have.
func (w *witness) missing(stores map[lethe.ShardID]*train.History, c *wire.Command) (out []string) {
	for _, step := range c.Steps {
		for _, shard := range step.Shards {
			if !w.has(stores[shard], step, shard) {
				out = append(out, fmt.Sprintf("shard %d of timestep %d at revision %d (gone: %v)",
					shard, step.Timestep, step.Revision, step.Gone))
			}
		}
	}
	return out
}

// has reports whether a store has a slice as a step of a command asks for.
func (w *witness) has(h *train.History, step wire.CommandStep, shard lethe.ShardID) bool {
	digest, held := h.Slices[step.Timestep]
	if !held {
		return step.Gone
	}
	return slices.ContainsFunc(w.versions[place{step.Timestep, shard}], func(v version) bool {
		return v.digest == digest && (v.revision > step.Revision || v.revision == step.Revision && !step.Gone)
	})
}
