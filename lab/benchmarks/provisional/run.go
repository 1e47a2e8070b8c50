package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lethe"
	"lethe/dataset"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/service"
)

type benchmark struct {
	Brokers  []string `help:"Kafka brokers, host:port." default:"127.0.0.1:9092"`
	URL      string   `help:"Web address of the service." default:"http://127.0.0.1:8080"`
	Dataset  string   `help:"Folder with Elliptic's three CSV files." required:"" type:"path"`
	Rate     float64  `help:"Transactions per second." default:"1000"`
	Rounds   int      `help:"Timesteps measured: the last ones." default:"5"`
	Training bool     `help:"Train on the timestep before while one arrives."`

	client   *bus.Client
	received *received
	// delays are those of all measured timesteps, in ms.
	delays []float64
}

// tick is how often records that are due are written.
const tick = 5 * time.Millisecond

// Run measures the last timesteps of the stream, after the others.
func (b *benchmark) Run(ctx context.Context) (err error) {
	stream, err := dataset.LoadElliptic(ctx, b.Dataset)
	if err != nil {
		return err
	}
	before := len(stream.Steps) - b.Rounds
	if before < 2 {
		return errors.New("the stream needs two timesteps before those that are measured")
	}
	if b.client, err = bus.Open(bus.At(b.Brokers...)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.client.Close()) }()
	b.received = newReceived()
	following, stop := context.WithCancel(ctx)
	defer stop()
	followed := make(chan error, 1)
	go func() { followed <- b.received.follow(following, b.client) }()
	first := &dataset.Stream{Steps: stream.Steps[:before]}
	if _, err := service.Replay(ctx, b.client, first, service.ReplayOptions{}); err != nil {
		return err
	}
	if err := b.trained(ctx, stream.Steps[before-1].Timestep); err != nil {
		return err
	}
	fmt.Println("| timestep | transactions | payments " +
		"| p50 ms | p99 ms | worst ms | predictions | processor s | final ms |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|")
	for i := before; i < len(stream.Steps); i++ {
		if err := b.measure(ctx, stream.Steps[i], stream.Steps[i-1]); err != nil {
			return err
		}
	}
	slices.Sort(b.delays)
	fmt.Printf("| all | %d | | %s | | | |\n", len(b.delays), quantiles(b.delays))
	stop()
	return <-followed
}

// quantiles are cells with the median, the 99th percentile and the longest of sorted delays.
func quantiles(delays []float64) string {
	return fmt.Sprintf("%.1f | %.1f | %.1f", delays[len(delays)/2], delays[len(delays)*99/100], delays[len(delays)-1])
}

// measure sends one timestep and prints a row. previous is the timestep before it.
func (b *benchmark) measure(ctx context.Context, step, previous dataset.Step) error {
	if b.Training {
		if err := b.settle(ctx, previous); err != nil {
			return err
		}
	}
	count := b.received.count()
	before, err := b.processorSeconds(ctx)
	if err != nil {
		return err
	}
	sent, err := b.send(ctx, step)
	if err == nil {
		err = b.received.await(ctx, b.received.first, step.Transactions)
	}
	if err != nil {
		return err
	}
	after, err := b.processorSeconds(ctx)
	if err != nil {
		return err
	}
	closed := time.Now()
	if err := b.control(ctx, bus.Transactions, step.Timestep, ingest.EncodeClose); err != nil {
		return err
	}
	if b.Training {
		if err := b.trained(ctx, previous.Timestep); err != nil {
			return err
		}
	}
	if err := b.received.await(ctx, b.received.finals, step.Transactions); err != nil {
		return err
	}
	final := b.received.last(b.received.finals, step.Transactions).Sub(closed)
	delays := b.received.delays(sent)
	b.delays = append(b.delays, delays...)
	fmt.Printf("| %d | %d | %d | %s | %d | %.1f | %.0f |\n", step.Timestep, len(sent), len(step.Payments),
		quantiles(delays), b.received.count()-count, after-before, milliseconds(final))
	if b.Training {
		return nil
	}
	if err := b.settle(ctx, step); err != nil {
		return err
	}
	return b.trained(ctx, step.Timestep)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// send writes the records that are due, tick by tick, and returns when each transaction
// was.
func (b *benchmark) send(ctx context.Context, step dataset.Step) (map[lethe.TransactionID]time.Time, error) {
	sent := make(map[lethe.TransactionID]time.Time, len(step.Transactions))
	ends := make(map[lethe.TransactionID][]lethe.Payment)
	for _, p := range step.Payments {
		ends[p.Source], ends[p.Target] = append(ends[p.Source], p), append(ends[p.Target], p)
	}
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	began := time.Now()
	for len(sent) < len(step.Transactions) {
		now := <-ticker.C
		due := min(len(step.Transactions), int(now.Sub(began).Seconds()*b.Rate))
		var records []ingest.Outgoing
		for _, t := range step.Transactions[len(sent):due] {
			key, value, err := ingest.EncodeTransaction(t)
			if err != nil {
				return nil, err
			}
			sent[t.ID] = time.Now()
			records = append(records, ingest.Outgoing{Key: key, Value: value})
			for _, p := range ends[t.ID] {
				_, source := sent[p.Source]
				if _, target := sent[p.Target]; !source || !target {
					continue
				}
				key, value, err := ingest.EncodePayment(p)
				if err != nil {
					return nil, err
				}
				records = append(records, ingest.Outgoing{Key: key, Value: value})
			}
		}
		if err := b.client.Write(ctx, bus.Transactions, records); err != nil {
			return nil, err
		}
	}
	return sent, nil
}

// settle sends the labels of a timestep.
func (b *benchmark) settle(ctx context.Context, step dataset.Step) error {
	var records []ingest.Outgoing
	for _, l := range step.Labels {
		key, value, err := ingest.EncodeLabel(l)
		if err != nil {
			return err
		}
		records = append(records, ingest.Outgoing{Key: key, Value: value})
	}
	if err := b.client.Write(ctx, bus.Labels, records); err != nil {
		return err
	}
	return b.control(ctx, bus.Labels, step.Timestep, ingest.EncodeSettle)
}

// control writes a control record to every partition of a topic.
func (b *benchmark) control(
	ctx context.Context, topic bus.Topic, t lethe.Timestep, encode func(lethe.Timestep, int) (key, value []byte),
) error {
	count, err := b.client.Partitions(ctx, topic)
	if err != nil {
		return err
	}
	records := make([]ingest.Outgoing, count)
	for p := range records {
		key, value := encode(t, p)
		records[p] = ingest.Outgoing{Key: key, Value: value, Pinned: true, Partition: p}
	}
	return b.client.Write(ctx, topic, records)
}
