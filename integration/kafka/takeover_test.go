package kafka_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/integration/process"
)

// duo are two processes of a role.
type duo struct {
	role string
	// takes is what a process says in its log that takes over, and standsBy one that is there again.
	takes, standsBy string
	start           func(at int) *process.Service
	both            [2]*process.Service
	took            []time.Duration
}

// takeOver kills the one that leads, or works, and waits until the other has taken over.
func (d *duo) takeOver(t *testing.T, kills int) {
	t.Helper()
	other := d.both[1-kills]
	before := strings.Count(other.Log(), d.takes)
	d.both[kills].Kill()
	began := time.Now()
	for strings.Count(other.Log(), d.takes) == before {
		require.Less(t, time.Since(began), time.Minute, "%s", other.Log())
		time.Sleep(5 * time.Millisecond)
	}
	d.took = append(d.took, time.Since(began))
	d.both[kills] = d.start(kills)
	d.both[kills].AwaitLog(d.standsBy)
}

// How long it takes until a standby goes on where a killed leader was: `KAFKA_TEST_TAKE_OVERS=20
// KAFKA_TEST_SESSION=2s`. Each time the one that was killed begins again and stands by, and at last it
// is looked whether everything came out as in one process.
func TestTakeOvers(t *testing.T) {
	rounds, err := strconv.Atoi(os.Getenv("KAFKA_TEST_TAKE_OVERS"))
	if err != nil {
		t.Skip("set KAFKA_TEST_TAKE_OVERS to how many take-overs are to be measured, and KAFKA_TEST_SESSION")
	}
	l := newLab(t)
	erased, _ := l.subjects(t)
	want, _ := l.reference(t, erased)
	d := l.outside(t)
	root := t.TempDir()
	duos := []*duo{
		{role: "build", takes: "graphs: continues as the leader", standsBy: "graphs: another process leads"},
		{role: "score", takes: "score: continues as the leader", standsBy: "score: another process leads"},
		{role: "train", takes: "train: took over a partition", standsBy: "train: took over a partition"},
	}
	for _, own := range duos {
		own.start = func(at int) *process.Service {
			args := append(d.settings(), "--roles", own.role, "--set", "kafka.session_timeout="+os.Getenv("KAFKA_TEST_SESSION"))
			dir := filepath.Join(root, own.role+strconv.Itoa(at))
			return process.StartOutside(t, d.bin, dir, process.FreePorts(t), d.brokers, args...)
		}
		own.both[0] = own.start(0)
		own.both[0].AwaitLog(own.takes)
		own.both[1] = own.start(1)
		own.both[1].AwaitLog(own.standsBy)
	}
	d.replaySteps("1-3")
	for round := range rounds {
		for _, own := range duos {
			own.takeOver(t, round%2)
		}
	}
	d.replaySteps("4-6")
	for _, own := range duos {
		slices.Sort(own.took)
		t.Logf("%s: %d take-overs at a session of %s, median %.2f s, worst %.2f s", own.role, rounds,
			os.Getenv("KAFKA_TEST_SESSION"), own.took[rounds/2].Seconds(), own.took[rounds-1].Seconds())
	}
	require.Equal(t, want.hash, duos[1].both[rounds%2].Await("the end of the stream", trained).EnsembleHash)
	equalPredictions(t, want.predictions, d.predictions())
	for _, own := range duos {
		for _, s := range own.both {
			require.Zero(t, s.Stop(), s.Log())
		}
	}
}
