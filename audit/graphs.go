package audit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/canonical"
	"lethe/configs"
	"lethe/deletions"
	"lethe/deletions/disk"
	"lethe/deletions/translog"
	"lethe/ingest/bus"
	"lethe/partition"
	"lethe/partition/graph"
	"lethe/partition/repair"
	"lethe/partition/scores"
	"lethe/pipeline/graphs"
	"lethe/pipeline/graphs/erase"
	"lethe/service"
	"lethe/snapshot"
)

// takeGraphs reads the snapshot store and the ledger.
func (inv *inventory) takeGraphs() (err error) {
	c := inv.config
	ledgerDir := filepath.Join(service.RoleDir(c.DataDir, configs.RoleBuild), "ledger")
	for _, folder := range []string{snapshotDir(c), ledgerDir} {
		// Opening would create an empty store.
		if _, err := os.Stat(folder); err != nil {
			inv.lacks(nil, folder, service.Remedy(c.DataDir, configs.RoleGraphs))
		}
	}
	if len(inv.missing) > 0 {
		return nil
	}
	store, err := snapshot.Open(snapshotDir(c), snapshot.Options{
		Config:                c.Ingest.Config,
		Secret:                inv.secret,
		FS:                    service.RemediedFS(vfs.Default, c.DataDir, configs.RoleGraphs),
		TransactionPartitions: c.Kafka.Partitions,
		LabelPartitions:       c.Kafka.Partitions,
	})
	if err != nil {
		return opening(err, inv.config.DataDir, configs.RoleGraphs)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if err := graphs.CheckSettings(store.Marks(), c.PartitionConfig(), c.RepairConfig()); err != nil {
		return err
	}
	for at, next := range store.Offsets() {
		inv.next[bus.TopicPartition{Topic: bus.Topic(at.Topic), Partition: at.Partition}] = next
	}
	for _, info := range store.Timesteps() {
		if info.State == lethe.Open {
			continue
		}
		content, err := store.Load(info.Timestep)
		if err != nil {
			return opening(err, inv.config.DataDir, configs.RoleGraphs)
		}
		inv.steps = append(inv.steps, content)
	}
	if err := store.CheckStaging(); err != nil {
		return opening(err, inv.config.DataDir, configs.RoleGraphs)
	}
	if err := inv.takeLedger(store); err != nil {
		return err
	}
	inv.inStaging, err = inv.searchStaging(store)
	return err
}

// takeLedger reads the ledger, and whether the store suppresses the erased transactions.
func (inv *inventory) takeLedger(store *snapshot.Store) (err error) {
	dir := service.RoleDir(inv.config.DataDir, configs.RoleBuild)
	ledger, kv, err := disk.OpenLedger(service.RemediedFS(vfs.Default, inv.config.DataDir, configs.RoleGraphs), dir, nil)
	if err != nil {
		return opening(err, inv.config.DataDir, configs.RoleGraphs)
	}
	defer func() { err = errors.Join(err, kv.Close()) }()
	if inv.holds, err = ledger.Holds(); err != nil {
		return err
	}
	if inv.entries, err = ledger.List(); err != nil {
		return err
	}
	if inv.log, err = translog.ReadStored(disk.KV(kv)); err != nil {
		return err
	}
	for _, e := range inv.entries {
		if e.State == deletions.Verified {
			inv.done = append(inv.done, e)
		}
		for _, target := range e.Targets {
			if e.Suppresses() && !store.Suppressed().Has(target) {
				inv.unsuppressed++
			}
		}
	}
	return nil
}

// searchStaging counts traces of erased data in the original records in staging. Their bytes are
// searched with the other files.
func (inv *inventory) searchStaging(store *snapshot.Store) (hits int, err error) {
	scanner, err := inv.scanner()
	if err != nil || scanner == nil {
		return 0, err
	}
	found, err := erase.SearchOriginals(store, scanner)
	return len(found), err
}

// checkGraphs checks every graph on its own: canonical order, and for settled ones that each node
// is in one shard and the shards are even (I2, I3).
func (inv *inventory) checkGraphs(r *Report) {
	for _, step := range inv.steps {
		t := step.Info.Timestep
		r.Transactions += len(step.Snapshot.Nodes)
		if err := step.Snapshot.Validate(); err != nil {
			r.problem("timestep %d: %v", t, err)
		}
		if step.Info.State != lethe.Settled {
			continue
		}
		r.Timesteps++
		if len(step.Assignment) != len(step.Snapshot.Nodes) {
			r.problem("timestep %d: %d nodes, %d of them in a shard", t, len(step.Snapshot.Nodes), len(step.Assignment))
			continue
		}
		if inv.config.Partition.Method == partition.MethodIndependent {
			checkIndependent(r, inv.config.PartitionConfig(), step)
		} else {
			inv.checkEven(r, step)
		}
	}
}

// checkEven checks that shard sizes and each class's counts differ by at most one. An erasure
// leaves the other nodes in place, so each erased node may widen the difference by one.
// Transactions erased with a subject count like targets.
func (inv *inventory) checkEven(r *Report, step *snapshot.Content) {
	t, allowed := step.Info.Timestep, 1
	for _, e := range inv.done {
		if slices.Contains(e.Progress.Timesteps, t) {
			allowed += e.Progress.Counts.Targets + e.Progress.Counts.Carried
		}
	}
	g, err := graph.FromSnapshot(step.Snapshot)
	if err != nil {
		r.problem("timestep %d: %v", t, err)
		return
	}
	scores, err := scores.Of(g, step.Assignment, inv.config.Partition.Shards)
	if err != nil {
		r.problem("timestep %d: %v", t, err)
		return
	}
	if d := spread(scores.Sizes); d > allowed {
		r.problem("timestep %d: shard sizes differ by %d, at most %d allowed", t, d, allowed)
	}
	for class := range lethe.NumLabels {
		counts := make([]int, len(scores.ClassCounts))
		for shard := range counts {
			counts[shard] = scores.ClassCounts[shard][class]
		}
		if d := spread(counts); d > allowed {
			r.problem("timestep %d: counts of %s differ by %d between shards, at most %d allowed", t, lethe.Label(class), d,
				allowed)
		}
	}
}

func spread(counts []int) int {
	if len(counts) == 0 {
		return 0
	}
	return slices.Max(counts) - slices.Min(counts)
}

// checkSlices derives every slice from its graph and compares it with the one in train's store.
func (inv *inventory) checkSlices(r *Report) error {
	shards := inv.config.Partition.Shards
	for _, step := range inv.steps {
		if step.Info.State != lethe.Settled || len(step.Assignment) != len(step.Snapshot.Nodes) {
			continue
		}
		t := step.Info.Timestep
		derived, err := repair.Slices(step.Snapshot, step.Info.Previous, step.Assignment, shards, inv.config.RepairConfig())
		if err != nil {
			return fmt.Errorf("timestep %d: %w", t, err)
		}
		inv.checkEdges(r, step, derived)
		for shard, s := range derived {
			stored, found := inv.columns[shard].Slices[t]
			r.Slices++
			switch {
			case !found && inv.learnt().comes(lethe.ShardID(shard), t):
				r.untrained(t)
			case !found:
				r.problem("timestep %d shard %d: no slice is stored", t, shard)
			case stored != canonical.DigestSlice(s) && !inv.keptStubs(t, lethe.ShardID(shard)):
				r.problem("timestep %d shard %d: the stored slice is not what the graph gives", t, shard)
			}
		}
	}
	return nil
}

// keptStubs reports whether an erasure with scope shard deliberately left stubs for its records in
// this slice.
func (inv *inventory) keptStubs(t lethe.Timestep, shard lethe.ShardID) bool {
	return slices.ContainsFunc(inv.done, func(e deletions.Entry) bool {
		return e.Scope == lethe.ScopeShard && slices.Contains(e.Progress.Timesteps, t) &&
			!slices.Contains(e.Progress.Slices, deletions.SliceRef{Timestep: t, Shard: shard})
	})
}

// checkEdges checks that every edge is in one slice or has a stub at both ends (I2).
func (inv *inventory) checkEdges(r *Report, step *snapshot.Content, derived []*lethe.Slice) {
	edges, kept, nodes, stubs := len(step.Snapshot.Undirected()), 0, 0, 0
	for _, s := range derived {
		kept += len(s.Edges)
		nodes += len(s.Nodes)
		stubs += len(s.Stubs)
	}
	t := step.Info.Timestep
	if nodes != len(step.Snapshot.Nodes) {
		r.problem("timestep %d: slices hold %d nodes, the graph %d", t, nodes, len(step.Snapshot.Nodes))
	}
	want := 2 * (edges - kept)
	if inv.config.Repair.Method == repair.None {
		want = 0
	}
	if stubs < want || inv.config.Repair.MinStubs == 0 && stubs != want {
		r.problem("timestep %d: %d edges are cut, but there are %d stubs", t, edges-kept, stubs)
	}
}
