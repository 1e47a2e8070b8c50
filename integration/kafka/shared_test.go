package kafka_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"lethe/configs"
	"lethe/deletions"
	"lethe/deletions/receipt"
	"lethe/ingest/bus"
	"lethe/integration/process"
	"lethe/service"
)

// Two processes train, one is killed and taken over while the stream runs, and everything comes
// out as in one process. An erasure waits for every instance that may hold a copy: for one that
// hangs until it goes on, and for one that is lost until it is struck off.
func TestTwoProcessesTrainAsOne(t *testing.T) {
	l := newLab(t)
	erased, _ := l.subjects(t)
	before, after := l.reference(t, erased)
	d := l.outside(t)
	root := t.TempDir()
	start := func(role, name string) *process.Service {
		return d.process(filepath.Join(root, name), process.FreePorts(t), role)
	}
	build, score := start("build", "build"), start("score", "score")
	one, two := start("train", "one"), start("train", "two")
	for _, s := range []*process.Service{one, two} {
		s.AwaitLog("train: took over a partition of slices.v1")
	}
	replay := d.slowReplay()
	build.Await("half of the stream", halfway)
	two.Kill()
	killed := time.Now()
	replayed := replay.Wait()
	require.Zero(t, replayed.Code, replayed.Stderr)
	require.Equal(t, before.hash, score.Await("the end of the stream", trained).EnsembleHash)
	t.Logf("everything is trained %.1f s after the kill", time.Since(killed).Seconds())
	equalPredictions(t, before.predictions, d.predictions())
	first := trainedBy(t, one)
	require.Positive(t, first)
	require.Less(t, first, steps*models, "nothing that the killed process had made was made again")

	// The tools of Kafka show who is there and how far.
	// Of three members one may have no partition, there are two.
	two = start("train", "two")
	two.AwaitLog("train: took over a partition of slices.v1")
	lost := start("train", "lost")
	lost.AwaitLog("train: partitions of slices.v1 are assigned")
	// A process that has not read the journal to its end yet may fit trees and regressions of timesteps that nobody waits
	// for any more, but neither a network nor the newest ones.
	require.LessOrEqual(t, trainedBy(t, two)+trainedBy(t, lost), fitted*(steps-1), "what is there is adopted")
	d.requireGroup(3)
	lost.Kill()

	two.Pause()
	erasure := d.erase("shared", string(erased))
	build.Await("the graphs to be rewritten", func(s service.Status) bool {
		return s.Erasures[deletions.Retraining] == 1
	})
	still := func() {
		t.Helper()
		time.Sleep(5 * time.Second)
		status, ok := build.Status()
		require.True(t, ok)
		require.Equal(t, 1, status.Erasures[deletions.Retraining], "an instance that may hold a copy has not answered")
	}
	still()
	two.Resume()
	still()
	struck := process.Run(t, l.bin, append(d.membersFlags("strike", instanceOf(t, root, "lost")[:10]), "--json")...)
	require.Zero(t, struck.Code, struck.Stderr)
	verified(t, erasure, build, score, one, two)
	require.Equal(t, after.hash, score.Await("a status", trained).EnsembleHash)
	equalPredictions(t, after.predictions, d.predictions())

	d.checkReceipt(filepath.Join(root, "build"), "shared")
	r := d.receiptOf(filepath.Join(root, "build"), "shared")
	var searched []string
	for _, place := range r.Searched {
		if place.Place == configs.RoleTrain {
			searched = append(searched, place.Instance)
		}
	}
	both := []string{instanceOf(t, root, "one"), instanceOf(t, root, "two")}
	require.Equal(t, slices.Sorted(slices.Values(both)), searched)
	require.Len(t, r.Gone, 1)
	require.Equal(t, instanceOf(t, root, "lost"), r.Gone[0].Instance)
	require.True(t, r.Gone[0].Struck)
	require.NoError(t, os.RemoveAll(filepath.Join(root, "lost")))
	d.requireGone(l.forms(t, erased), root)
	for _, s := range []*process.Service{build, score, one, two} {
		require.Zero(t, s.Stop(), s.Log())
	}
}

// models is how many a timestep has: a network for each shard, two groups of trees and of
// logistic regressions.
const models = 4 + fitted

// fitted is how many of them are fitted anew for every timestep.
const fitted = 2 + 2

// trainedBy counts the models that a process has trained.
func trainedBy(t *testing.T, s *process.Service) (n int) {
	t.Helper()
	response, err := http.Get(s.URL + "/metrics")
	require.NoError(t, err)
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	counts := regexp.MustCompile(`(?m)^lethe_shard_train_duration_seconds_count\{.*\} (\d+)$`)
	for _, found := range counts.FindAllSubmatch(page, -1) {
		count, err := strconv.Atoi(string(found[1]))
		require.NoError(t, err)
		n += count
	}
	return n
}

// requireGroup waits until the group that trains has so many members and no lag.
func (d *deployment) requireGroup(members int) {
	d.t.Helper()
	transport := &kafka.Transport{}
	defer transport.CloseIdleConnections()
	client := &kafka.Client{Addr: kafka.TCP(strings.Split(d.brokers, ",")...), Transport: transport}
	group, topic := d.prefix+"train", d.prefix+string(bus.Slices)
	own, err := bus.Open(d.config())
	require.NoError(d.t, err)
	defer own.Close()
	require.Eventually(d.t, func() bool {
		described, err := client.DescribeGroups(d.t.Context(), &kafka.DescribeGroupsRequest{GroupIDs: []string{group}})
		if err != nil || len(described.Groups) != 1 || len(described.Groups[0].Members) != members {
			return false
		}
		ends, err := own.EndOffsets(d.t.Context(), bus.Slices)
		if err != nil {
			return false
		}
		partitions := make([]int, len(ends))
		for p := range ends {
			partitions[p] = p
		}
		offsets, err := client.OffsetFetch(d.t.Context(), &kafka.OffsetFetchRequest{
			GroupID: group, Topics: map[string][]int{topic: partitions},
		})
		if err != nil {
			return false
		}
		for _, p := range offsets.Topics[topic] {
			if p.CommittedOffset != ends[p.Partition] {
				return false
			}
		}
		return len(offsets.Topics[topic]) == len(ends)
	}, 30*time.Second, 100*time.Millisecond)
}

// membersFlags are those of a command about members.
func (d *deployment) membersFlags(args ...string) []string {
	return append(append([]string{"members"}, args...), "--brokers", d.brokers, "--set", "kafka.topic_prefix="+d.prefix,
		"--set", "secret_file="+d.secret())
}

// instanceOf is the identity of a data directory.
func instanceOf(t *testing.T, root, name string) string {
	t.Helper()
	identity, err := os.ReadFile(configs.InstancePath(filepath.Join(root, name)))
	require.NoError(t, err)
	return strings.TrimSpace(string(identity))
}

// receiptOf reads a receipt.
func (d *deployment) receiptOf(dataDir, requestID string) receipt.Receipt {
	d.t.Helper()
	signed, err := os.ReadFile(filepath.Join(service.ReceiptsDir(dataDir), requestID+".json"))
	require.NoError(d.t, err)
	key, err := configs.ReadPublicKey(filepath.Join(d.dir, "receipts.pub.pem"))
	require.NoError(d.t, err)
	r, _, err := receipt.Verify(signed, receipt.Pinned(key))
	require.NoError(d.t, err)
	return r
}
