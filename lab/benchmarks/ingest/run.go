package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"lethe/ingest/bus"
	"lethe/ingest/embedded"
)

type benchmark struct {
	Brokers      []string `help:"Kafka brokers, host:port; none for an embedded one."`
	Transactions int      `help:"Transactions in the topic." default:"200000"`
	PerTimestep  int      `help:"Transactions of a timestep." default:"4000"`
	Features     int      `help:"Features of a transaction." default:"165"`
	Format       string   `help:"Format of the transactions: json or protobuf." default:"json"`
	Partitions   int      `help:"Partitions of the topic; several are read by a Reader in a group." default:"1"`
	CPUProfile   string   `help:"File for a profile of the taking process." name:"cpuprofile" type:"path"`
	Whole        bool     `help:"Have all roles take it in, with labels, which train meanwhile and erase a transaction."`
	Pace         int      `help:"Transactions a second to send while all roles take them in; 0: all before."`
	Alone        bool     `help:"No bare readers: pauses and memory alone."`
	Beside       bool     `help:"Have it read while it is taken in, not before and after."`
	Side         string   `help:"For the processes that this one starts." hidden:""`
	Prefix       string   `help:"What the topics' names begin with." hidden:""`
	PayloadBytes int64    `help:"Payload of the topic." hidden:""`
}

// Run fills a topic and has it read, taken in, and read again.
func (b *benchmark) Run(ctx context.Context) (err error) {
	b.Prefix = cmp.Or(b.Prefix, fmt.Sprintf("ingest-%d.", time.Now().UnixNano()))
	switch b.Side {
	case bareSide, endlessSide:
		return say(b.readBare(ctx))
	case graphsSide:
		return say(b.takeIn(ctx))
	case wholeSide:
		return say(b.takeInWhole(ctx))
	}
	if len(b.Brokers) == 0 {
		broker, err := ownBroker()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, broker.Close()) }()
		b.Brokers = broker.addresses
	}
	if b.Pace > 0 {
		taken, err := b.pace(ctx)
		if err == nil {
			b.print(os.Stdout, taken)
		}
		return err
	}
	if b.PayloadBytes, err = b.fill(ctx); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%d transactions, %d bytes of payload\n", b.Transactions, b.PayloadBytes)
	return b.measure(ctx, os.Stdout)
}

// measure has the topic taken in, between two readings, or beside one.
func (b *benchmark) measure(ctx context.Context, w io.Writer) (err error) {
	side := graphsSide
	if b.Whole {
		side = wholeSide
	}
	if b.Beside {
		taken, err := b.besides(ctx, side, w)
		if err == nil {
			b.print(w, taken)
		}
		return err
	}
	var read [2]measured
	if !b.Alone {
		if read[0], err = b.start(ctx, bareSide); err != nil {
			return err
		}
	}
	taken, err := b.start(ctx, side)
	if err != nil {
		return err
	}
	if !b.Alone {
		if read[1], err = b.start(ctx, bareSide); err != nil {
			return err
		}
		b.compare(w, read[:], taken)
	}
	b.print(w, taken)
	return nil
}

const mega = 1e6

// processor is the processor time for what was read, ms a MB.
func (m measured) processor() float64 {
	return m.ProcessorSeconds / float64(m.PayloadBytes) * mega * 1000
}

// compare renders what the bare readers measured, and how what was taken in compares.
func (b *benchmark) compare(w io.Writer, read []measured, taken measured) {
	bare := max(read[0].bytesPerSecond(), read[1].bytesPerSecond())
	fmt.Fprintf(w, "bare readers   %.1f and %.1f MB/s, %.2f ms of processor a MB\n", read[0].bytesPerSecond()/mega,
		read[1].bytesPerSecond()/mega, (read[0].processor()+read[1].processor())/2)
	fmt.Fprintf(w, "ratio          %.1f %%\n", 100*taken.bytesPerSecond()/bare)
}

// print renders what was taken in.
func (b *benchmark) print(w io.Writer, taken measured) {
	fmt.Fprintf(w, "taken in       %.1f MB/s, %.0f transactions/s, %.2f cores\n", taken.bytesPerSecond()/mega,
		float64(b.Transactions)*taken.part()/taken.Seconds, taken.Cores)
	fmt.Fprintf(w, "processor      %.2f ms a MB, %.2f µs a transaction\n", taken.processor(),
		taken.ProcessorSeconds/float64(b.Transactions)*mega)
	fmt.Fprintf(w, "written        %.2f bytes a byte received\n", float64(taken.WrittenBytes)/float64(taken.PayloadBytes))
	fmt.Fprintf(w, "disk           waited for %.1f s of %.1f s\n", taken.SyncSeconds, taken.Seconds)
	fmt.Fprintf(w, "peak memory    %.0f MB; after each tenth", float64(taken.PeakBytes)/mega)
	for _, bytes := range taken.MemoryBytes {
		fmt.Fprintf(w, " %.0f", float64(bytes)/mega)
	}
	fmt.Fprintf(w, "\nlongest pause  %.0f ms\n", 1000*taken.PauseSeconds)
	if b.Pace > 0 {
		fmt.Fprintf(w, "sender paused  %.0f ms at most\n", 1000*taken.SenderPauseSeconds)
	}
	for _, line := range taken.Notes {
		fmt.Fprintln(w, line)
	}
}

// brokerHere is an embedded broker whose log goes with it.
type brokerHere struct {
	*embedded.Broker
	dir       string
	addresses []string
}

func ownBroker() (*brokerHere, error) {
	dir, err := os.MkdirTemp("", "lethe-ingest-broker-")
	if err != nil {
		return nil, err
	}
	broker, err := embedded.Start(dir, embedded.Config{CleanOnDemand: true}, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &brokerHere{broker, dir, broker.Config().Brokers}, nil
}

// Close stops the broker and removes its log.
func (b *brokerHere) Close() error { return errors.Join(b.Broker.Close(), os.RemoveAll(b.dir)) }

// config is how this benchmark connects.
func (b *benchmark) config() bus.Config {
	c := bus.At(b.Brokers...)
	c.TopicPrefix, c.Partitions = b.Prefix, b.Partitions
	return c
}
