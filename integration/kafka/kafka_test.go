package kafka_test

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/receipt"
	"lethe/integration/process"
	"lethe/pipeline/wire"
	"lethe/service"
)

// outcome is what every deployment must agree on.
type outcome struct {
	hash        string
	predictions map[string]string
	slices      map[wire.Key]lethe.Digest
}

// A stream on an outside Kafka ends as it does on the embedded broker:
// the same models and predictions, before and after an erasure, in one process
// that is killed and in three of which two are.
func TestOutsideKafkaGivesWhatTheEmbeddedBrokerGives(t *testing.T) {
	l := newLab(t)
	erased, stays := l.subjects(t)
	before, after := l.reference(t, erased)
	require.NotEqual(t, before.hash, after.hash)
	require.Len(t, after.predictions, len(before.predictions)-1)
	t.Run("one process", func(t *testing.T) {
		t.Parallel()
		oneProcess(t, l, erased, stays, before, after)
	})
	t.Run("secured", func(t *testing.T) {
		t.Parallel()
		secured(t, l, erased, before, after)
	})
	t.Run("three processes", func(t *testing.T) {
		t.Parallel()
		threeProcesses(t, l, erased, stays, before, after)
	})
}

// subjects picks a labelled transaction that is erased and one that stays.
func (l *lab) subjects(t *testing.T) (erased, stays lethe.TransactionID) {
	t.Helper()
	for _, label := range l.stream.Steps[2].Labels {
		if label.Label == lethe.Illicit {
			erased = label.ID
		}
	}
	require.NotEmpty(t, erased, "no illicit transaction in the third timestep")
	for _, tx := range l.stream.Steps[2].Transactions {
		if tx.ID != erased {
			stays = tx.ID
		}
	}
	return erased, stays
}

// reference runs the stream and the erasure on the embedded broker.
func (l *lab) reference(t *testing.T, erased lethe.TransactionID) (before, after outcome) {
	t.Helper()
	d := &deployment{lab: l, t: t, prefix: "lethe."}
	s := process.Start(t, l.bin, filepath.Join(t.TempDir(), "data"), process.FreePorts(t), d.settings()...)
	d.brokers = s.Brokers
	replayed := process.Run(t, l.bin, d.client("replay", "--dataset", l.dataset())...)
	require.Zero(t, replayed.Code, replayed.Stderr)
	before = outcome{s.Await("the end of the stream", trained).EnsembleHash, d.predictions(), d.slices()}
	verified(t, d.erase("reference", string(erased)), s)
	after = outcome{s.Await("a status", trained).EnsembleHash, d.predictions(), d.slices()}
	require.Zero(t, s.Stop(), s.Log())
	return before, after
}

// slowReplay publishes the dataset over some seconds, beside the test.
func (d *deployment) slowReplay() *process.Background {
	d.t.Helper()
	return process.Go(d.t, time.Minute, d.bin, d.client("replay", "--dataset", d.dataset(), "--rate", "400")...)
}

func oneProcess(t *testing.T, l *lab, erased, stays lethe.TransactionID, before, after outcome) {
	d := l.outside(t)
	dir, ports := filepath.Join(t.TempDir(), "data"), process.FreePorts(t)
	s := d.process(dir, ports, "")
	replay := d.slowReplay()
	s.Await("half of the stream", halfway)
	s.Kill()
	s = d.process(dir, ports, "")
	replayed := replay.Wait()
	require.Zero(t, replayed.Code, replayed.Stderr)

	status := s.Await("the end of the stream", trained)
	require.Equal(t, before.hash, status.EnsembleHash)
	require.Equal(t, steps, status.Timesteps.Settled)
	require.Equal(t, steps*nodesPerStep, status.Transactions)
	equalPredictions(t, before.predictions, d.predictions())
	shown := process.Run(t, l.bin, "status", "--url", s.URL, "--json")
	require.Zero(t, shown.Code, shown.Stderr)
	require.Contains(t, shown.Stdout, before.hash)

	gone := l.forms(t, erased)
	require.NotEmpty(t, search(t, gone, append(d.logs(), dir)...), "the search finds nothing even before the erasure")
	started := time.Now()
	verified(t, d.erase("one", string(erased)), s)
	t.Logf("the erasure took %.0f s", time.Since(started).Seconds())
	require.Equal(t, after.hash, s.Await("a status", trained).EnsembleHash)
	equalPredictions(t, after.predictions, d.predictions())
	d.requireGone(gone, dir)
	require.NotEmpty(t, search(t, l.forms(t, stays), append(d.logs(), dir)...), "the search finds nothing at all")

	require.Zero(t, s.Stop(), s.Log())
	d.requireGone(gone, dir)
	d.checkReceipt(dir, "one")
}

// halfway is some way into the stream, with models trained and timesteps open.
func halfway(s service.Status) bool { return s.Timesteps.Settled >= steps/2 }

func threeProcesses(t *testing.T, l *lab, erased, stays lethe.TransactionID, before, after outcome) {
	d := l.outside(t)
	root := t.TempDir()
	dirs := make(map[string]string)
	start := func(role string) *process.Service {
		dirs[role] = filepath.Join(root, role)
		return d.process(dirs[role], process.FreePorts(t), role)
	}
	build, train, score := start("build"), start("train"), start("score")
	replay := d.slowReplay()
	build.Await("half of the stream", halfway)
	train.Kill()
	train = start("train")
	replayed := replay.Wait()
	require.Zero(t, replayed.Code, replayed.Stderr)
	build.Await("the end of the stream", func(s service.Status) bool {
		return s.LagRecords == 0 &&
			s.Timesteps.Settled == steps
	})
	require.Equal(t, before.hash, score.Await("the last ensemble", trained).EnsembleHash)
	equalPredictions(t, before.predictions, d.predictions())

	// The process that carries the erasure out is killed while it waits for the
	// broker's cleaner.
	erasure := d.erase("three", string(erased))
	build.Await("the verification", func(s service.Status) bool { return s.Erasures[deletions.Erased] == 1 })
	build.Kill()
	build = start("build")
	verified(t, erasure, build, train, score)
	require.Equal(t, after.hash, score.Await("a status", trained).EnsembleHash)
	equalPredictions(t, after.predictions, d.predictions())
	gone := l.forms(t, erased)
	d.requireGone(gone, root)
	require.NotEmpty(t, search(t, l.forms(t, stays), append(d.logs(), root)...), "the search finds nothing at all")
	for _, s := range []*process.Service{build, train, score} {
		require.Zero(t, s.Stop(), s.Log())
	}
	d.requireGone(gone, root)
	d.checkReceipt(dirs["build"], "three")
}

// checkReceipt checks the receipt with the command for it.
func (d *deployment) checkReceipt(dataDir, requestID string) {
	d.t.Helper()
	r := process.Run(d.t, d.bin, "receipt", "verify", filepath.Join(dataDir, "receipts", requestID+".json"),
		"--public-key", filepath.Join(d.dir, "receipts.pub.pem"), "--json")
	require.Zero(d.t, r.Code, r.Stderr)
	var out struct {
		Valid      bool            `json:"valid"`
		TrustedKey bool            `json:"trusted_key"`
		Receipt    receipt.Receipt `json:"receipt"`
	}
	require.NoError(d.t, json.Unmarshal([]byte(r.Stdout), &out))
	require.True(d.t, out.Valid && out.TrustedKey)
	require.Equal(d.t, deletions.Verified, out.Receipt.State)
	require.Positive(d.t, out.Receipt.Scan.Records)
	require.Zero(d.t, out.Receipt.Scan.Hits)
}
