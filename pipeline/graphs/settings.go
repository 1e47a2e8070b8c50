package graphs

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lethe/partition/onehop"
	"lethe/snapshot"
)

// ErrSettings is returned when the stream was begun with settings that give
// other slices: what is published anew would not fit what is there. The
// operator restores the settings, or begins anew with an empty data directory
// and empty topics.
var ErrSettings = errors.New("the data directory was written with other settings")

func settingsMark() []byte { return []byte("settings") }

// settings are what the slices of settled timesteps depend on beside the
// records, by configuration key. How timesteps to come are partitioned may
// change: the assignment of a settled one is kept with it.
func (o *Options) settings() map[string]string {
	repair := o.Repair
	return map[string]string{
		"seed":             fmt.Sprint(o.Partition.Seed),
		"partition.shards": fmt.Sprint(o.Partition.Shards),
		"repair.method":    repair.Method,
		"repair.tau":       fmt.Sprint(repair.Tau),
		"repair.min_stubs": fmt.Sprint(repair.MinStubs),
		"repair.one_hop":   markOf(repair.OneHop),
	}
}

// markOf returns the words for a mode that stores were begun with.
func markOf(m onehop.Mode) string {
	return map[onehop.Mode]string{onehop.None: "false", onehop.Undirected: "true", onehop.Directed: "directed"}[m]
}

// checkSettings compares the settings with those the store was begun with, or
// notes them in a new store.
func checkSettings(marks snapshot.Marks, now map[string]string) error {
	value, found, err := marks.Get(settingsMark())
	if err != nil {
		return err
	}
	if !found {
		if value, err = json.Marshal(now); err != nil {
			return err
		}
		return marks.Put(settingsMark(), value)
	}
	var then map[string]string
	if err := json.Unmarshal(value, &then); err != nil {
		return fmt.Errorf("stored settings: %w", err)
	}
	var differ []string
	for _, key := range slices.Sorted(maps.Keys(now)) {
		if then[key] != now[key] {
			differ = append(differ, fmt.Sprintf("%s was %s, now it is %s", key, then[key], now[key]))
		}
	}
	if len(differ) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s (restore them, or begin anew with an empty data directory and empty topics)",
		ErrSettings, strings.Join(differ, "; "))
}
