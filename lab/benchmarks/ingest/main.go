// Command ingest measures how fast the role graphs takes transactions into durable state,
// beside one bare kafka-go Reader of the same topic and broker. It fills the topic, has a
// process read it and nothing else, has another take it in, and has it read once more; then it
// prints payload bytes a second of either (of the faster reading), their ratio, bytes written to
// the state per byte received, the most memory that the taking process had, and the longest time
// in which it took nothing:
//
//	go run ./lab/benchmarks/ingest --transactions 200000
//
// The topic is filled timestep by timestep, so that timesteps close, and are published, while
// others come. With --whole a service with all roles takes it in: it trains meanwhile, and erases a transaction when
// half is there; with --pace it is sent meanwhile, so many transactions a second, and the longest pause is given by
// what was done in it:
//
//	go run ./lab/benchmarks/ingest --pace 2000 --transactions 120000
//
// With --alone nothing is compared, as where it is asked whether memory stays what it is over five
// million:
//
//	go run ./lab/benchmarks/ingest --transactions 5000000 --format protobuf --alone
//
// With --beside it is read while it is taken in, again and again, so that both have the same moments of the machine.
//
// With --brokers it uses topics of a prefix of its own on a broker that runs, which
// it creates and leaves there.
//
//	main.go     the command
//	run.go      what is done in turn, and what is printed
//	fill.go     the records
//	pace.go     sends them while they are taken in
//	side.go     the processes
//	bare.go     the bare reader
//	beside.go   has it read while it is taken in
//	graphs.go   the role
//	whole.go    all roles
//	phases.go   what they did while nothing was taken in
//	written.go  counts what is written to files
package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/alecthomas/kong"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var c benchmark
	parser := kong.Parse(&c, kong.Name("ingest"), kong.Description("Measures how fast transactions are taken in."),
		kong.BindTo(ctx, (*context.Context)(nil)))
	parser.FatalIfErrorf(parser.Run())
}
