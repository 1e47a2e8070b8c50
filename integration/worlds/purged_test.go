package worlds

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/canonical"
	"lethe/deletions"
	"lethe/pipeline/train"
	"lethe/pipeline/wire"
)

// purged looks whether what a trainer says is so: that its store has every slice as the command asks
// for, also after its machine ends now.
func (w *witness) purged(ack *deletions.Ack, files *disk) error {
	command := w.commands[ack.RequestID]
	if command == nil || command.Attempt != ack.Attempt {
		return nil
	}
	number, err := strconv.Atoi(ack.Instance)
	if err != nil {
		return err
	}
	left := files.memory.CrashClone(vfs.CrashCloneCfg{})
	stores := make(map[lethe.ShardID]*train.History)
	for _, step := range command.Steps {
		for _, shard := range step.Shards {
			if stores[shard] == nil {
				h, err := train.ReadHistory(left, folderOf(number-1), shard)
				if errors.Is(err, fs.ErrNotExist) {
					h, err = new(train.History), nil
				}
				if err != nil {
					return err
				}
				stores[shard] = h
			}
			if !w.has(stores[shard], step, shard) {
				w.faults = append(w.faults, fmt.Sprintf(
					"trainer %s says that %s is purged, and its shard %d of timestep %d is not at revision %d (gone: %v)",
					ack.Instance, ack.RequestID, shard, step.Timestep, step.Revision, step.Gone))
			}
		}
	}
	return nil
}

// has reports whether a store has a slice as a step of a command asks for.
func (w *witness) has(h *train.History, step wire.CommandStep, shard lethe.ShardID) bool {
	slice, held := h.Slices[step.Timestep]
	if !held {
		return step.Gone
	}
	digest := canonical.DigestOf(slice)
	return slices.ContainsFunc(w.versions[place{step.Timestep, shard}], func(v version) bool {
		return v.digest == digest && (v.revision > step.Revision || v.revision == step.Revision && !step.Gone)
	})
}
