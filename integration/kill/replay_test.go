package kill_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/integration/process"
	"lethe/service"
)

// outcome is what two runs over the same stream must agree on.
type outcome struct {
	status      service.Status
	predictions topic
	letters     topic
}

// finish waits for the end of the stream, reads what was published, checks I7
// on the way, and has the stores checked.
func (d *deployment) finish() outcome {
	d.t.Helper()
	out := outcome{status: d.awaitReplayed()}
	content := make(map[string]string)
	out.predictions = d.read(bus.Predictions, func(rec ingest.Record) {
		var p struct {
			ID    string `json:"id"`
			Final bool   `json:"final"`
		}
		require.NoError(d.t, json.Unmarshal(rec.Value, &p))
		require.NotEmpty(d.t, p.ID)
		if !p.Final {
			return // of what had arrived by then: every run has its own
		}
		if before, repeated := content[p.ID]; repeated {
			require.Equal(d.t, before, string(rec.Value), "one prediction id, two contents")
		}
		content[p.ID] = string(rec.Value)
	})
	require.Len(d.t, content, len(out.predictions.newest), "a transaction has predictions of several ids")
	out.letters = d.read(bus.DeadLetters, nil)
	report := d.verify()
	require.Equal(d.t, out.status.EnsembleHash, report.EnsembleHash)
	require.Equal(d.t, out.status.Transactions, report.Transactions)
	require.Equal(d.t, out.status.Timesteps.Settled, report.Timesteps)
	return out
}

// requireEqual compares a run that was killed with one that was not.
func requireEqual(t *testing.T, want, got outcome) {
	t.Helper()
	require.Equal(t, want.status.EnsembleHash, got.status.EnsembleHash)
	require.Equal(t, want.status.Timesteps, got.status.Timesteps)
	require.Equal(t, want.status.Transactions, got.status.Transactions)
	require.Equal(t, want.status.Predictions, got.status.Predictions)
	require.Equal(t, want.status.Steps, got.status.Steps)
	require.Equal(t, want.predictions.newest, got.predictions.newest)
	require.Equal(t, want.letters.newest, got.letters.newest)
}

// undisturbed replays the stream into a service that nobody kills.
func undisturbed(t *testing.T, s *setup) outcome {
	t.Helper()
	d := s.deploy(t)
	d.start()
	published := process.Run(t, s.bin, "replay", "--dataset", s.dataset, "--brokers", d.service.Brokers)
	require.Zero(t, published.Code, published.Stderr)
	out := d.finish()
	totals := s.stream.Totals()
	require.Equal(t, totals.Transactions, out.status.Transactions)
	require.Equal(t, totals.Steps, out.status.Timesteps.Settled)
	// The first timestep has no ensemble before it.
	require.Len(t, out.predictions.newest, totals.Transactions-len(s.stream.Steps[0].Transactions))
	require.Empty(t, out.letters.newest)
	return out
}

// publisher is lethe replay as a process of its own.
type publisher struct {
	cancel context.CancelFunc
	ended  chan error
	stderr bytes.Buffer
}

// publish starts a replay from the first record on.
func (d *deployment) publish(rate int) *publisher {
	ctx, cancel := context.WithCancel(d.t.Context())
	p := &publisher{cancel: cancel, ended: make(chan error, 1)}
	c := exec.CommandContext(ctx, d.bin, "replay", "--dataset", d.dataset,
		"--brokers", d.service.Brokers, "--rate", strconv.Itoa(rate))
	c.Stderr = &p.stderr
	require.NoError(d.t, c.Start())
	go func() { p.ended <- c.Wait() }()
	return p
}

// kill ends a replay wherever it is.
func (p *publisher) kill() {
	p.cancel()
	<-p.ended
}

// awaitWrite waits until the service writes to a topic, but not longer than a
// replay takes: there may be nothing left to write.
func (d *deployment) awaitWrite(name bus.Topic) {
	d.t.Helper()
	client := d.client()
	ends, err := client.EndOffsets(d.t.Context(), name)
	require.NoError(d.t, err)
	positions := make(map[bus.TopicPartition]int64)
	for p, end := range ends {
		positions[bus.TopicPartition{Topic: name, Partition: p}] = end
	}
	tail, err := client.Tail(positions)
	require.NoError(d.t, err)
	defer tail.Close()
	ctx, cancel := context.WithTimeout(d.t.Context(), replaySeconds*time.Second)
	defer cancel()
	if _, err := tail.Next(ctx); err != nil {
		require.ErrorIs(d.t, err, context.DeadlineExceeded)
	}
}

const replaySeconds = 2

// replayKilled replays the stream while the service is killed again and again:
// by turns at any time, and just after it has published something, when it may
// not have noted that it did.
//
// After a kill the replay either goes on against the restarted broker or is
// killed too and begins anew, so that records come twice. A replay that the
// kill cut off before it was connected gives up and begins anew as well.
func (d *deployment) replayKilled(r *rand.Rand, kills int) {
	d.t.Helper()
	d.start()
	rate := d.records() / replaySeconds
	p := d.publish(rate)
	anew := 0
	published := []bus.Topic{bus.Predictions, bus.Models, bus.Slices, bus.Snapshots}
	r.Shuffle(len(published), func(i, j int) { published[i], published[j] = published[j], published[i] })
	for i := range kills {
		time.Sleep(upTo(r, replaySeconds*time.Second/2))
		if i%2 == 1 {
			d.awaitWrite(published[i/2%len(published)])
		}
		over := r.IntN(3) == 0
		if over {
			p.kill()
		}
		d.crash(r)
		if over || p.isOver() {
			p, anew = d.publish(rate), anew+1
		}
	}
	if err := <-p.ended; err != nil {
		d.t.Logf("the last replay gave up: %s", p.stderr.String())
		p, anew = d.publish(rate), anew+1
		require.NoError(d.t, <-p.ended, p.stderr.String())
	}
	d.t.Logf("%d kills, %d replays begun anew", kills, anew)
}

// isOver reports whether the replay has ended, well or not.
func (p *publisher) isOver() bool { return len(p.ended) > 0 }

// testReplay compares killed runs with an undisturbed one.
func testReplay(t *testing.T, bin string) {
	kills := 8
	if testing.Short() {
		kills = 2
	}
	s := newSetup(t, bin, 8, 100)
	want := undisturbed(t, s)
	for name, cleaning := range map[string]string{
		// The log keeps every prediction ever written, so repeats can be seen.
		"log kept whole": "1h",
		// The broker dies in the middle of its own compactions, too.
		"log compacted all the time": "20ms",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := s.deploy(t, "embedded.clean_interval="+cleaning)
			d.replayKilled(newRandom(t), kills)
			got := d.finish()
			t.Logf("%d of %d predictions were written again", got.predictions.records-len(got.predictions.newest),
				len(got.predictions.newest))
			requireEqual(t, want, got)
		})
	}
}
