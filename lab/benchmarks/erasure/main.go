package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/alecthomas/kong"
)

type cli struct {
	Run    runCmd    `cmd:"" default:"withargs" help:"Measure; the default."`
	Render renderCmd `cmd:"" help:"Make tables and figures of rows that were kept."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var c cli
	parser := kong.Parse(&c, kong.Name("erasure"), kong.Description("Measures what erasures cost."),
		kong.BindTo(ctx, (*context.Context)(nil)))
	parser.FatalIfErrorf(parser.Run(&c))
}
