package bus_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lethe/ingest"
	"lethe/ingest/bus"
)

// watched collects what a patient client waits for.
type watched struct {
	mu    sync.Mutex
	said  []string
	waits map[string]bool
}

func (w *watched) watch(place string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waits == nil {
		w.waits = map[string]bool{}
	}
	w.waits[place] = err != nil && !errors.Is(err, bus.ErrAbandoned)
	if w.waits[place] {
		w.said = append(w.said, place+": "+err.Error())
	}
}

// waiting counts the places that are waited for.
func (w *watched) waiting() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, is := range w.waits {
		if is {
			n++
		}
	}
	return n
}

// patient opens a patient client of a broker of its own, which has labels.v1.
func patient(t *testing.T, cfg bus.Config) (*kfake.Cluster, *bus.Client, *watched) {
	t.Helper()
	cluster, w := fakeCluster(t, &cfg, 1), new(watched)
	return cluster, patientClient(t, cfg, w), w
}

// Whatever a broker answers that may pass, a patient client waits for it: no
// write, read or question ends in an error, however long it takes.
func TestAPatientClientOutlastsEverything(t *testing.T) {
	const missing = 3
	for name, fault := range map[string]struct {
		code int16
		err  error
		// write says that only a write is answered so.
		write bool
	}{
		"silence":          {err: errors.New("away")},
		"no leader":        {code: 5},
		"leader moved":     {code: 6},
		"timed out":        {code: 7},
		"network":          {code: 13},
		"few replicas":     {code: 19},
		"too large":        {code: 10, write: true},
		"segments small":   {code: 18, write: true},
		"clock":            {code: 32, write: true},
		"policy":           {code: 44, write: true},
		"storage":          {code: 56},
		"unknown error":    {code: -1},
		"unknown for once": {code: missing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := hasty()
			if fault.code == missing {
				cfg.DialTimeout = 2 * time.Second // a missing topic is believed after six times as long
			}
			cluster, c, w := patient(t, cfg)
			follow := tail(t, c, map[bus.TopicPartition]int64{labels0: 0})
			require.NoError(t, c.Write(t.Context(), bus.Labels, []ingest.Outgoing{pinned("a", "1", 0)}))
			require.Equal(t, []string{"a"}, slices.Compact(keys(next(t, follow).Records)))

			var away atomic.Bool
			away.Store(true)
			cluster.Control(func(req kmsg.Request) (kmsg.Response, error, bool) {
				cluster.KeepControl()
				if _, writes := req.(*kmsg.ProduceRequest); fault.write && !writes {
					return nil, nil, false
				}
				return refuse(req, fault.code), fault.err, away.Load() && (fault.err != nil || refuse(req, fault.code) != nil)
			})
			done := ask(t, c)
			require.Eventually(t, func() bool { return w.waiting() > 0 }, 10*time.Second, 10*time.Millisecond)
			time.Sleep(3 * time.Second) // longer than the client's bounds
			others := 0
			if fault.write {
				others = 2
			}
			require.Len(t, done, others)
			away.Store(false)
			for range 3 {
				require.NoError(t, <-done)
			}
			// A write that was not answered in time is made again, the first one, too, on a machine that is busy.
			read := keys(next(t, follow).Records)
			for !slices.Contains(read, "b") {
				read = append(read, keys(next(t, follow).Records)...)
			}
			require.Equal(t, []string{"b"}, slices.Compact(slices.DeleteFunc(read, func(key string) bool { return key == "a" })))
			require.Eventually(t, func() bool { return w.waiting() == 0 }, 10*time.Second, 10*time.Millisecond)
		})
	}
}

// ask writes b, asks for the ends and reads, side by side, and gives the outcomes.
func ask(t *testing.T, c *bus.Client) <-chan error {
	done := make(chan error, 3)
	go func() { done <- c.Write(t.Context(), bus.Labels, []ingest.Outgoing{pinned("b", "1", 0)}) }()
	go func() {
		_, err := c.EndOffsets(t.Context(), bus.Labels)
		done <- err
	}()
	go func() { done <- c.ReadAll(t.Context(), bus.Labels, func(ingest.Record) error { return nil }) }()
	return done
}

// hasty is a configuration whose bounds are all short.
func hasty() bus.Config {
	cfg := bus.At()
	cfg.DialTimeout, cfg.RequestTimeout = 200*time.Millisecond, 300*time.Millisecond
	cfg.WriteTimeout = 400 * time.Millisecond
	return cfg
}

// refuse answers what concerns records with an error; nil means that the request is
// of another kind.
func refuse(req kmsg.Request, code int16) kmsg.Response {
	switch r := req.(type) {
	case *kmsg.ProduceRequest:
		resp := r.ResponseKind().(*kmsg.ProduceResponse)
		p := kmsg.NewProduceResponseTopicPartition()
		p.ErrorCode = code
		topic := kmsg.NewProduceResponseTopic()
		topic.Topic, topic.Partitions = r.Topics[0].Topic, append(topic.Partitions, p)
		resp.Topics = append(resp.Topics, topic)
		return resp
	case *kmsg.FetchRequest:
		p := kmsg.NewFetchResponseTopicPartition()
		p.ErrorCode = code
		return answerOf(r, p)
	case *kmsg.ListOffsetsRequest:
		resp := r.ResponseKind().(*kmsg.ListOffsetsResponse)
		p := kmsg.NewListOffsetsResponseTopicPartition()
		p.ErrorCode = code
		topic := kmsg.NewListOffsetsResponseTopic()
		topic.Topic, topic.Partitions = r.Topics[0].Topic, append(topic.Partitions, p)
		resp.Topics = append(resp.Topics, topic)
		return resp
	default:
		return nil
	}
}

// Brokers that do not know a group's positions for a while, or do not answer, are waited for: who leads asks for
// them amid an outage.
func TestPositionsAreWaitedFor(t *testing.T) {
	for name, fault := range map[string]struct {
		code int16
		err  error
	}{
		"silence": {err: errors.New("away")},
		"loading": {code: 14},
		"nobody":  {code: 15},
		"moved":   {code: 16},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := hasty()
			cluster, c, w := patient(t, cfg)
			var away atomic.Bool
			away.Store(true)
			cluster.Control(func(req kmsg.Request) (kmsg.Response, error, bool) {
				cluster.KeepControl()
				asked, is := req.(*kmsg.OffsetFetchRequest)
				if !is {
					return nil, nil, false
				}
				answer := asked.ResponseKind().(*kmsg.OffsetFetchResponse)
				if !away.Load() {
					return answer, nil, true
				}
				answer.ErrorCode = fault.code
				return answer, fault.err, true
			})
			done := make(chan error, 1)
			go func() {
				sharer, group := bus.Sharer{Client: c}, bus.GroupConfig{Name: "graphs"}
				_, err := sharer.Positions(t.Context(), group, []bus.TopicPartition{labels0})
				done <- err
			}()
			require.Eventually(t, func() bool { return w.waiting() > 0 }, 10*time.Second, 10*time.Millisecond)
			require.Empty(t, done)
			away.Store(false)
			require.NoError(t, <-done)
			require.Zero(t, w.waiting())
		})
	}
}

// What an operator must change is not waited for.
func TestAPatientClientDoesNotWaitForWhatCannotPass(t *testing.T) {
	cluster, c, _ := patient(t, bus.At())
	const invalid = 42
	cluster.Control(func(req kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		answer := refuse(req, invalid)
		return answer, nil, answer != nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	require.ErrorContains(t, c.Write(ctx, bus.Labels, []ingest.Outgoing{pinned("b", "1", 0)}), "Invalid Request")
	_, err := c.EndOffsets(ctx, bus.Labels)
	require.ErrorContains(t, err, "Invalid Request")
	_, err = tail(t, c, map[bus.TopicPartition]int64{labels0: 0}).Next(ctx)
	require.ErrorContains(t, err, "Invalid Request")
	require.NotErrorIs(t, err, bus.ErrInterrupted)
}

// A topic that is deleted, or made again with fewer partitions, ends nobody who follows it: an operator has to look.
func TestATopicThatIsGoneIsWaitedFor(t *testing.T) {
	b, _ := open(t, nil)
	cfg, w := b.config, &watched{}
	cfg.DialTimeout = 100 * time.Millisecond
	follow := tail(t, patientClient(t, cfg, w), map[bus.TopicPartition]int64{{Topic: bus.Receipts, Partition: 3}: 7})
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second) // more than brokers are doubted for
	defer cancel()
	_, err := follow.Next(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	w.mu.Lock()
	defer w.mu.Unlock()
	require.NotEmpty(t, w.said)
	require.Contains(t, w.said[len(w.said)-1], "receipts.v1/3")
	require.Contains(t, w.said[len(w.said)-1], bus.ErrUnknownTopic.Error())
}
