package kafka_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/dataset"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/integration/process"
	"lethe/pipeline/wire"
	"lethe/service"
	"lethe/trainer/kernels"
)

// How much faster two processes of one core each train a timestep than one, with the default
// ensemble: KAFKA_TEST_TRAIN_NODES=50000 says how many transactions of 165 features it has. What is
// measured is from the last slice of the timestep on slices.v1 to its last model on models.v1, by the
// broker's clock, in turn, KAFKA_TEST_TRAIN_ROUNDS times each. Where broker and graphs have the same processors as
// those who train, they take from two what they do not take from one: with KAFKA_TEST_TRAIN_CORE=0.5 each process
// that trains has half a processor for its core, so that on two there is one for all others.
func TestTwoTrainersBesideOne(t *testing.T) {
	nodes := os.Getenv("KAFKA_TEST_TRAIN_NODES")
	if nodes == "" {
		t.Skip("set KAFKA_TEST_TRAIN_NODES to the number of transactions of a timestep")
	}
	rounds, err := strconv.Atoi(os.Getenv("KAFKA_TEST_TRAIN_ROUNDS"))
	if err != nil {
		rounds = 1
	}
	core := 1.0
	if part := os.Getenv("KAFKA_TEST_TRAIN_CORE"); part != "" {
		core, err = strconv.ParseFloat(part, 64)
		require.NoError(t, err)
	}
	l := prepared(t)
	generated := process.Run(t, l.bin, "generate", "--out", l.dataset(), "--steps", "3", "--nodes-per-step", nodes,
		"--features", "165", "--seed", "1")
	require.Zero(t, generated.Code, generated.Stderr)
	l.stream, err = dataset.LoadElliptic(t.Context(), l.dataset())
	require.NoError(t, err)
	var ratios []float64
	for range rounds {
		one, oneBusy := l.training(t, 1, core)
		two, twoBusy := l.training(t, 2, core)
		ratios = append(ratios, one.Seconds()/two.Seconds())
		t.Logf("%s transactions, %.2g of a processor each: one process %.2f s, two %.2f s, %.2f times as fast; the busier "+
			"took %.2f and %.2f s of a processor", nodes, core, one.Seconds(), two.Seconds(), ratios[len(ratios)-1],
			oneBusy, twoBusy)
	}
	slices.Sort(ratios)
	t.Logf("median of %d: %.2f times as fast; two that multiply matrices and wait for nothing do %.2f times as much",
		rounds, ratios[rounds/2], multiplied(2)/multiplied(1))
}

// multiplied returns how many products of a training step some goroutines make a second: what two processes can gain
// at most, where processors share what multiplies.
func multiplied(goroutines int) float64 {
	const rows, width, depth, lasts = 300, 128, 128, 2 * time.Second
	set := kernels.Default()
	var made atomic.Int64
	var working sync.WaitGroup
	began := time.Now()
	for range goroutines {
		working.Go(func() {
			matrix := func(rows, columns int) kernels.Matrix {
				return kernels.Matrix{Rows: rows, Cols: columns, Data: make([]float32, rows*columns)}
			}
			dst, a, b := matrix(rows, width), matrix(rows, depth), matrix(width, depth)
			var scratch kernels.Scratch
			for time.Since(began) < lasts {
				set.Products.MulNT(dst, a, b, &scratch)
				made.Add(1)
			}
		})
	}
	working.Wait()
	return float64(made.Load()) / time.Since(began).Seconds()
}

// training returns how long some processes, each with a part of a processor, train the third timestep of the
// stream, and what the busiest of them took of one meanwhile, in seconds.
func (l *lab) training(t *testing.T, processes int, core float64) (took time.Duration, busiest float64) {
	t.Helper()
	d, root := l.outside(t), t.TempDir()
	settings := []string{
		"--set", "kafka.topic_prefix=" + d.prefix, "--set", "secret_file=" + d.secret(),
		"--set", "signing_key_file=" + filepath.Join(d.dir, "receipts.pem"),
		"--set", "trainer.components=elliptic-gin,trees:2,logistic:2",
	}
	start := func(name, role string) *process.Service {
		args := append([]string{"--roles", role}, settings...)
		return process.StartOutside(t, d.bin, filepath.Join(root, name), process.FreePorts(t), d.brokers, args...)
	}
	all := []*process.Service{start("build", "build")}
	t.Setenv("GOMAXPROCS", "1")
	for i := range processes {
		all = append(all, start("train-"+strconv.Itoa(i), "train"))
	}
	require.NoError(t, os.Unsetenv("GOMAXPROCS"))
	learnt := func(through lethe.Timestep) {
		t.Helper()
		// Reading the topic takes a processor from those who train, so that is done once nothing comes any more; what
		// is measured are the times of its records.
		var end int64
		require.Eventually(t, func() bool {
			before := end
			end = d.endOf(bus.Models)
			return end == before && d.published(bus.Models, through).all()
		}, 20*time.Minute, 6*time.Second)
	}
	d.replaySteps("1-2")
	learnt(2)
	for _, s := range all[1:] {
		if core < 1 {
			s.Limit(core)
		}
	}
	before := make([]float64, len(all))
	for i, s := range all {
		before[i] = processorSeconds(t, s.PID())
	}
	d.replaySteps("3-3")
	all[0].Await("the last timestep to settle", func(s service.Status) bool { return s.Timesteps.Settled == 3 })
	learnt(3)
	took = d.published(bus.Models, 3).last.Sub(d.published(bus.Slices, 3).last)
	for i, s := range all {
		if used := processorSeconds(t, s.PID()) - before[i]; i > 0 {
			busiest = max(busiest, used)
		}
		require.Zero(t, s.Stop(), s.Log())
	}
	return took, busiest
}

// endOf returns how many records a topic has had.
func (d *deployment) endOf(topic bus.Topic) (records int64) {
	d.t.Helper()
	client, err := bus.Open(d.config())
	require.NoError(d.t, err)
	defer client.Close()
	ends, err := bus.EndsOf(d.t.Context(), client, topic)
	require.NoError(d.t, err)
	for _, end := range ends {
		records += end
	}
	return records
}

// sent is what was published of a timestep.
type sent struct {
	artefacts map[lethe.ShardID]bool
	last      time.Time
}

// all reports whether these are all models of the default ensemble: a network a shard, two groups
// each of trees and of logistic regressions, and the meta-model.
func (s sent) all() bool { return len(s.artefacts) == 20+2+2+1 }

// published reads what a topic has of a timestep.
func (d *deployment) published(topic bus.Topic, of lethe.Timestep) sent {
	d.t.Helper()
	client, err := bus.Open(d.config())
	require.NoError(d.t, err)
	defer client.Close()
	s := sent{artefacts: make(map[lethe.ShardID]bool)}
	require.NoError(d.t, client.ReadAll(d.t.Context(), topic, func(rec ingest.Record) error {
		key, _, found := wire.RevisionOf(rec)
		if found && key.Timestep == of {
			s.artefacts[key.Shard] = true
			if rec.Time.After(s.last) {
				s.last = rec.Time
			}
		}
		return nil
	}))
	return s
}
