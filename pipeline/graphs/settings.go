package graphs

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lethe/internal/sortedset"
	"lethe/partition"
	"lethe/partition/onehop"
	"lethe/partition/repair"
	"lethe/snapshot"
)

// ErrSettings is returned for settings that give other slices than those already published. The operator restores the
// settings or begins with an empty data directory and empty topics.
var ErrSettings = errors.New("the data directory was written with other settings")

// remedy is the advice for settings that do not match a store.
const remedy = "restore what differs, or start over with an empty data directory and empty topics"

// other represents a value that is not stored: any but the stored ones.
const other = "another"

func settingsMark() []byte { return []byte("settings") }

// settingsOf are the settings, by configuration key, that slices of settled timesteps depend on. The partitioning of
// later timesteps may change, because a settled timestep has its assignment; but not whether shards are independent,
// which receipts state of all timesteps.
func settingsOf(p partition.Config, r repair.Config) map[string]string {
	out := map[string]string{
		"seed":             fmt.Sprint(p.Seed),
		"partition.shards": fmt.Sprint(p.Shards),
		"repair.method":    r.Method,
		"repair.tau":       fmt.Sprint(r.Tau),
		"repair.min_stubs": fmt.Sprint(r.MinStubs),
		"repair.one_hop":   markOf(r.OneHop),
	}
	if p.Method == partition.MethodIndependent {
		out["partition.method"] = p.Method
	}
	return out
}

// markOf returns the stored value of a mode.
func markOf(m onehop.Mode) string {
	return map[onehop.Mode]string{onehop.None: "false", onehop.Undirected: "true", onehop.Directed: "directed"}[m]
}

// keepSettings is CheckSettings, and stores the settings in a new store.
func keepSettings(marks snapshot.Marks, p partition.Config, r repair.Config) error {
	if _, found, err := marks.Get(settingsMark()); err != nil || found {
		return errors.Join(err, CheckSettings(marks, p, r))
	}
	value, err := json.Marshal(settingsOf(p, r))
	if err != nil {
		return err
	}
	return marks.Put(settingsMark(), value)
}

// CheckSettings compares settings with those of a store of graphs. The error is ErrSettings and names all differences.
func CheckSettings(marks snapshot.Marks, p partition.Config, r repair.Config) error {
	value, found, err := marks.Get(settingsMark())
	if err != nil || !found {
		return err
	}
	now := settingsOf(p, r)
	var then map[string]string
	if err := json.Unmarshal(value, &then); err != nil {
		return fmt.Errorf("stored settings: %w", err)
	}
	var differ []string
	for _, key := range sortedset.Add(slices.Sorted(maps.Keys(now)), slices.Sorted(maps.Keys(then))...) {
		if then[key] != now[key] {
			was, is := cmp.Or(then[key], other), cmp.Or(now[key], other)
			differ = append(differ, fmt.Sprintf("%s was %s, now it is %s", key, was, is))
		}
	}
	if len(differ) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s (%s)", ErrSettings, strings.Join(differ, "; "), remedy)
}
