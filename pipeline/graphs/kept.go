package graphs

import (
	"slices"
	"sort"

	"lethe"
	"lethe/deletions"
	"lethe/snapshot"
)

// keptStubs counts the stubs that stand for the nodes in slices that are not replaced, by
// shard: one for every edge between such a slice and a node that goes.
func keptStubs(content *snapshot.Content, nodes []int, replaced []lethe.ShardID) (out []deletions.KeptStubs) {
	if content.Assignment == nil {
		return nil
	}
	counts := make(map[lethe.ShardID]int)
	note := func(goes, stays uint32) {
		_, is := slices.BinarySearch(nodes, int(goes))
		_, both := slices.BinarySearch(nodes, int(stays))
		shard := content.Assignment[stays]
		if is && !both && shard != content.Assignment[goes] && !slices.Contains(replaced, shard) {
			counts[shard]++
		}
	}
	for _, pair := range content.Snapshot.Undirected() {
		note(pair.A, pair.B)
		note(pair.B, pair.A)
	}
	for shard, n := range counts {
		ref := deletions.SliceRef{Timestep: content.Snapshot.Timestep, Shard: shard}
		out = append(out, deletions.KeptStubs{SliceRef: ref, Stubs: n})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Compare(out[j].SliceRef) < 0 })
	return out
}
