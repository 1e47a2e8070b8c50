package audit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"lethe"
	"lethe/configs"
	"lethe/deletions"
	"lethe/deletions/translog"
	"lethe/ingest/bus"
	"lethe/internal/cputime"
	"lethe/internal/sortedset"
	"lethe/pipeline/score"
	"lethe/pipeline/train"
	"lethe/scoring/ensemble"
	"lethe/scoring/meta"
	"lethe/service"
	"lethe/snapshot"
)

// Options configures a check.
type Options struct {
	// Config must be the configuration that the directory was written with.
	Config configs.Config
	// Fresh retrains every model from its slices and compares the results.
	Fresh bool
	// Progress, if not nil, is called with the number of shards that have been retrained.
	Progress func(done, of int)
}

// Report is the result of a check. The JSON names are part of the command line.
type Report struct {
	OK       bool     `json:"ok"`
	Problems []string `json:"problems"`
	// Untrained are settled timesteps that some model has yet to learn from, ascending: lethe was stopped
	// during training. That is no problem: the next start continues it.
	Untrained []lethe.Timestep `json:"untrained,omitempty"`
	// Timesteps counts the settled ones.
	Timesteps    int    `json:"timesteps"`
	Transactions int    `json:"transactions"`
	EnsembleHash string `json:"ensemble_hash"`
	Slices       int    `json:"slices"`
	Checkpoints  int    `json:"checkpoints"`
	// FreshCheckpoints is the number of checkpoints that were retrained and found equal.
	FreshCheckpoints int     `json:"fresh_checkpoints"`
	FreshSeconds     float64 `json:"fresh_seconds"`
	// FreshCPUSeconds is the processor time of the retraining.
	FreshCPUSeconds float64 `json:"fresh_cpu_seconds"`
	// Erasures counts the verified erasures whose traces were searched for in Files files of Bytes
	// bytes, and in the content of Records records of Topics topics.
	Erasures int   `json:"erasures"`
	Topics   int   `json:"topics"`
	Records  int64 `json:"records"`
	Files    int   `json:"files"`
	Bytes    int64 `json:"bytes"`
}

// maxProblems bounds the list: a damaged directory has thousands.
const maxProblems = 50

func (r *Report) problem(format string, args ...any) {
	if len(r.Problems) < maxProblems {
		r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
	}
}

func (r *Report) untrained(t lethe.Timestep) { r.Untrained = sortedset.Add(r.Untrained, t) }

// inventory is the content of the stores.
type inventory struct {
	config configs.Config
	secret lethe.Secret
	layout ensemble.Layout
	// over is nil without a meta-model.
	over    *meta.Config
	steps   []*snapshot.Content
	columns []*train.History
	served  *score.Served
	// next are the offsets after the last records of the broker's log that the stores of graphs
	// have consumed.
	next map[bus.TopicPartition]int64
	// log is the transparency log in the ledger's directory.
	log translog.Copy
	// entries are all requests, done the verified ones.
	entries, done []deletions.Entry
	holds         []deletions.Hold
	// namedByOpen means that records of open requests in erasures.v1 name targets that other
	// requests have already erased.
	namedByOpen bool
	// receipts are the receipt files of the verified requests, by request id.
	receipts map[string][]byte
	// unsuppressed counts the erased transactions that the store of graphs would accept again;
	// missing lists missing directories with the remedy.
	unsuppressed int
	// inStaging counts traces of erased records in pending records.
	inStaging int
	missing   []string
}

// Check checks the whole directory and reports all problems. The error is for data that could not be read at all.
func Check(ctx context.Context, o Options) (*Report, error) {
	inv, err := take(ctx, o.Config)
	if err != nil {
		return nil, err
	}
	r := &Report{Problems: []string{}}
	for _, what := range inv.missing {
		r.problem("%s", what)
	}
	if inv.unsuppressed > 0 {
		r.problem("the store of graphs would take %d erased transactions again: start lethe run, which suppresses them",
			inv.unsuppressed)
	}
	if inv.inStaging > 0 {
		r.problem("records in %s, of payments and labels that wait, name what was erased %d times",
			filepath.Join(snapshotDir(o.Config), snapshot.StagingFolder), inv.inStaging)
	}
	if err := inv.checkReceipts(r, inv.checkKeys(ctx, r)); err != nil {
		return nil, err
	}
	inv.checkGraphs(r)
	if err := inv.checkSlices(r); err != nil {
		return nil, err
	}
	inv.learnt().checkCheckpoints(r)
	inv.checkServed(r)
	if err := checkView(inv, r); err != nil {
		return nil, err
	}
	if err := inv.checkBroker(ctx, r); err != nil {
		return nil, err
	}
	if err := inv.search(ctx, r); err != nil {
		return nil, err
	}
	if o.Fresh {
		inv.steps = nil // not needed any more, and as large as the training data
		started, used := time.Now(), cputime.Used()
		if err := inv.trainAnew(ctx, r, o.Progress); err != nil {
			return nil, err
		}
		r.FreshSeconds, r.FreshCPUSeconds = time.Since(started).Seconds(), (cputime.Used() - used).Seconds()
	}
	r.OK = len(r.Problems) == 0
	return r, nil
}

// take opens every store, reads it and closes it.
func take(ctx context.Context, c configs.Config) (*inventory, error) {
	if _, err := os.Stat(c.DataDir); err != nil {
		return nil, fmt.Errorf("data directory: %w (name it with --data-dir)", err)
	}
	secret, err := configs.KeysOf(c).Secret(ctx)
	if err != nil {
		return nil, err
	}
	inv := &inventory{config: c, secret: secret, next: make(map[bus.TopicPartition]int64)}
	if inv.layout, err = c.Layout(); err != nil {
		return nil, err
	}
	if inv.over, err = c.MetaConfig(); err != nil {
		return nil, err
	}
	if err := inv.takeGraphs(); err != nil {
		return nil, err
	}
	if err := inv.takeColumns(); err != nil {
		return nil, err
	}
	return inv, inv.takeServed()
}

func snapshotDir(c configs.Config) string {
	return filepath.Join(service.RoleDir(c.DataDir, configs.RoleBuild), "snapshots")
}
