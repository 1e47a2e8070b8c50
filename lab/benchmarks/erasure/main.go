package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/alecthomas/kong"

	"lethe"
	"lethe/dataset"
	"lethe/deletions/coordinator"
	"lethe/internal/command"
)

type cli struct {
	Run    runCmd    `cmd:"" default:"withargs" help:"Measure; the default."`
	Render renderCmd `cmd:"" help:"Make tables and figures of rows that were kept."`
}

// vars are what the flags take from the packages that own the settings.
func vars() kong.Vars {
	return kong.Vars{
		"features": fmt.Sprint(dataset.GenerateDefaults().Features),
		"scope":    string(coordinator.Defaults().DefaultScope),
		"scopes":   strings.Join(lethe.SupportedScopes(), ","),
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	command.CollectSeldom(ctx) // as lethe run does
	var c cli
	parser := kong.Parse(&c, kong.Name("erasure"), kong.Description("Measures what erasures cost."), vars(),
		kong.BindTo(ctx, (*context.Context)(nil)))
	parser.FatalIfErrorf(parser.Run(&c))
}
