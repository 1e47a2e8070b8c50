// Command provisional measures how soon transactions are scored. It sends a stream to a
// running service, which it is no part of, at a rate of transactions a second, each
// payment behind its second end, and reads predictions.v1. For every timestep measured it
// prints how long transactions waited for their first provisional score, from the record's
// write to its being read; how many provisional predictions there were, and the processor
// time of the service, while the timestep arrived; and how long after the timestep's close
// the last final score was read. Quiet timesteps begin when all before them were trained
// on; under --training the labels of the timestep before are sent as a timestep begins:
//
//	lethe generate --out stream --steps 12 --nodes-per-step 4159
//	lethe run &
//	go run ./lab/benchmarks/provisional --dataset stream --rounds 5
//
//	main.go      the command
//	run.go       what is sent, and when
//	receive.go   what is read
//	service.go   what is asked of the service
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
	parser := kong.Parse(&c, kong.Name("provisional"), kong.Description("Measures how soon transactions are scored."),
		kong.BindTo(ctx, (*context.Context)(nil)))
	parser.FatalIfErrorf(parser.Run())
}
