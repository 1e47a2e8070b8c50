package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"
)

// The exit statuses of the command-line contract.
const (
	ExitOK     = 0
	ExitFailed = 1
	ExitUsage  = 2
)

// Program is a command with its subcommands.
type Program struct {
	Name, Description string
	// Commands points to a struct that kong reads: a field per subcommand, whose
	// Run method takes an *App.
	Commands any
	// Vars are put into help texts and lists of values, beside the help of the
	// configuration's keys: ${kafka_brokers} for kafka.brokers.
	Vars kong.Vars
	// Elsewhere maps subcommands that another program has to its name: asked for
	// here, they are wrong use with a hint.
	Elsewhere map[string]string
}

// CollectOften has the garbage collector run twice as often as it does by itself, unless GOGC is set. Most of the
// memory is a few large blocks, of weights and of filters: that costs little time and saves up to a quarter of the
// peak.
func CollectOften() {
	const collectPercent = 50
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectPercent)
	}
}

// Main runs the process' command line and returns its exit status. An interrupt
// or SIGTERM ends the App's context.
func Main(p Program, version string) int {
	CollectOften()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	a := &App{Context: ctx, Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ(), Version: version}
	return p.Execute(a, os.Args[1:])
}

// Execute runs one command line and returns its exit status. A failure is one
// line on standard error. --version alone prints name and version.
func (p Program) Execute(a *App, args []string) int {
	if len(args) == 0 {
		args = []string{"--help"}
	}
	if len(args) == 1 && args[0] == "--version" {
		fmt.Fprintf(a.Stdout, "%s %s\n", p.Name, a.Version)
		return ExitOK
	}
	if other := p.Elsewhere[args[0]]; other != "" {
		fmt.Fprintf(a.Stderr, "%s: %s is a command of %s: run %[3]s %[2]s\n", p.Name, args[0], other)
		return ExitUsage
	}
	exited, code := false, ExitOK
	parser, err := p.Parser(a, kong.Exit(func(c int) { exited, code = true, c }))
	if err != nil {
		fmt.Fprintf(a.Stderr, "%s: %v\n", p.Name, err)
		return ExitFailed
	}
	// If a shell asks for the words that may follow, that is all there is to do.
	if kongcompletion.Register(parser); exited {
		return code
	}
	command, err := parser.Parse(args)
	if exited {
		return code
	}
	if err != nil {
		fmt.Fprintf(a.Stderr, "%s: %v (see %s --help)\n", p.Name, err, p.Name)
		return ExitUsage
	}
	return p.end(a, command.Run())
}

// Parser returns the parser of the program's command lines, whose Model holds all commands.
func (p Program) Parser(a *App, options ...kong.Option) (*kong.Kong, error) {
	vars := SharedHelp()
	maps.Copy(vars, p.Vars)
	return kong.New(p.Commands, append([]kong.Option{
		kong.Name(p.Name),
		kong.Description(p.Description),
		kong.Writers(a.Stdout, a.Stderr),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		used(p.Commands, vars),
		kong.Bind(a),
	}, options...)...)
}

// end reports how a command ended.
func (p Program) end(a *App, err error) int {
	if err == nil {
		return ExitOK
	}
	fmt.Fprintf(a.Stderr, "%s: %s\n", p.Name, OneLine(err))
	if usage := (usageError{}); errors.As(err, &usage) {
		return ExitUsage
	}
	return ExitFailed
}
