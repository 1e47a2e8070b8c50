package bus_test

import (
	"context"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"lethe/ingest"
	"lethe/ingest/bus"
)

// besideAHung is the configuration of a broker behind one that takes connections and never answers, as one does that
// hangs.
func besideAHung(t *testing.T, b broker) bus.Config {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	cfg := b.config.Clone()
	cfg.Brokers = slices.Insert(cfg.Brokers, 0, l.Addr().String())
	cfg.DialTimeout = 10 * time.Second
	return cfg
}

// A client that begins while one of the brokers hangs does not give that one all the time there is for connecting. Ten
// of them, or it would depend on which broker is asked first.
func TestABrokerThatHangsHoldsNoNewClientUp(t *testing.T) {
	b, known := open(t, nil)
	cfg := besideAHung(t, b)
	began := time.Now()
	var all errgroup.Group
	for range 10 {
		all.Go(func() error {
			c, err := bus.Open(cfg)
			if err != nil {
				return err
			}
			defer c.Close()
			if _, err := c.Admin().Check(t.Context()); err != nil {
				return err
			}
			return c.Write(t.Context(), bus.Labels, []ingest.Outgoing{pinned("a", "1", 0)})
		})
	}
	require.NoError(t, all.Wait())
	require.Less(t, time.Since(began), cfg.DialTimeout/2)
	ends, err := known.EndOffsets(t.Context(), bus.Labels)
	require.NoError(t, err)
	require.Equal(t, int64(10), ends[0])
}

// Nor does it hold up a process that is to share work: its first broker would be asked who coordinates the group for as
// long as it hangs.
func TestABrokerThatHangsHoldsNoGroupUp(t *testing.T) {
	b, _ := open(t, nil)
	c, err := bus.Open(besideAHung(t, b))
	require.NoError(t, err)
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	assigned := make(chan bus.Assigned, 8)
	ended := make(chan error, 1)
	go func() {
		ended <- bus.Sharer{Client: c}.Share(ctx, bus.GroupConfig{Name: "train", Topic: bus.Slices}, bus.Member{
			Assigned:  func(a bus.Assigned) { assigned <- a },
			Positions: func() map[bus.TopicPartition]int64 { return nil },
			Trouble:   func(err error) { t.Log(err) },
		})
	}()
	select {
	case a := <-assigned:
		require.NotEmpty(t, a.Partitions)
	case <-ctx.Done():
		t.Error("nothing was assigned")
	}
	cancel()
	require.NoError(t, <-ended)
}
