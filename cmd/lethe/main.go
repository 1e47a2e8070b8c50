// Command lethe scores evolving transaction graphs for fraud and can forget.
//
// There is one file per command; a command parses its flags and wires packages
// together, nothing more.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"lethe/trainer"
)

// version is set at link time by the Makefile.
var version = "dev"

// The exit statuses of the command-line contract.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

type cli struct {
	Run       runCmd       `cmd:"" help:"Run the service."`
	Demo      demoCmd      `cmd:"" help:"Run the whole story on an embedded broker, one erasure included."`
	Status    statusCmd    `cmd:"" help:"Show the state of a running service."`
	Generate  generateCmd  `cmd:"" help:"Make an Elliptic-style stream with laundering typologies."`
	Replay    replayCmd    `cmd:"" help:"Publish a dataset to the topics."`
	Partition partitionCmd `cmd:"" help:"Partition a dataset and score the partition."`
	Train     trainCmd     `cmd:"" help:"Train sharded models on a dataset and measure them, offline."`
	Attack    attackCmd    `cmd:"" help:"Attack what an erasure leaves, with positive controls."`
	Evaluate  evaluateCmd  `cmd:"" help:"Make the tables and figures of the paper's evaluation."`
	Erase     eraseCmd     `cmd:"" help:"Submit and follow erasure requests."`
	Receipt   receiptCmd   `cmd:"" help:"Check erasure receipts, offline."`
	Verify    verifyCmd    `cmd:"" help:"Check the invariants of a data directory."`
	Config    configCmd    `cmd:"" help:"Print or validate the configuration."`
	Topics    topicsCmd    `cmd:"" help:"Create or check the topics."`
	Version   versionCmd   `cmd:"" help:"Print the version and the kernel set."`
}

// app is what every command may touch of the outside world.
type app struct {
	ctx            context.Context
	stdout, stderr io.Writer
	environ        []string
}

// usageError marks wrong use: the exit status is 2.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// collectPercent is the garbage collector's GOGC where the user sets none. Most
// of the memory is a few large blocks of weights: to collect twice as often costs
// little time and saves up to a quarter of the peak.
const collectPercent = 50

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectPercent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := execute(&app{ctx: ctx, stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ()}, os.Args[1:])
	stop()
	os.Exit(code)
}

// execute runs one command line and returns its exit status. A failure is one
// line on standard error.
func execute(a *app, args []string) int {
	exited, code := false, exitOK
	parser, err := kong.New(&cli{},
		kong.Name("lethe"),
		kong.Description("Scores evolving transaction graphs for fraud, and can forget: what is served after an erasure is byte-identical to a build that never saw the record.\n\nExample:\n  lethe demo"),
		kong.Writers(a.stdout, a.stderr),
		kong.Exit(func(c int) { exited, code = true, c }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		kong.Vars{
			"models":     strings.Join(trainer.StreamModels(), ", "),
			"components": strings.Join(defaultComponents(), ","),
		},
		kong.Bind(a),
	)
	if err != nil {
		fmt.Fprintln(a.stderr, "lethe:", err)
		return exitFailed
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	command, err := parser.Parse(args)
	if exited {
		return code
	}
	if err != nil {
		fmt.Fprintf(a.stderr, "lethe: %v (see lethe --help)\n", err)
		return exitUsage
	}
	err = command.Run()
	var usage usageError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage):
		fmt.Fprintln(a.stderr, "lethe:", oneLine(err))
		return exitUsage
	default:
		fmt.Fprintln(a.stderr, "lethe:", oneLine(err))
		return exitFailed
	}
}
