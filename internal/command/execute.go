package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"
)

// The exit statuses of the command-line contract.
const (
	ExitOK     = 0
	ExitFailed = 1
	ExitUsage  = 2
	// ExitNothingHeld ends erase submit --wait if the service held nothing of any target.
	ExitNothingHeld = 3
)

// Program is a command with its subcommands.
type Program struct {
	Name, Description string
	// Commands points to a struct for kong: a field per subcommand, whose Run method takes an *App.
	Commands any
	// Vars are variables for help texts and lists of values, in addition to the help of
	// configuration keys: ${kafka_brokers} for kafka.brokers.
	Vars kong.Vars
	// Elsewhere maps subcommands of another program to that program's name: using one here is a
	// usage error with a hint.
	Elsewhere map[string]string
}

// Main runs the command line of the process and returns its exit status. An interrupt or SIGTERM
// ends the App's context.
func Main(p Program, version string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	CollectSeldom(ctx)
	a := &App{Context: ctx, Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ(), Version: version}
	return p.Execute(a, os.Args[1:])
}

// Execute runs one command line and returns its exit status. A failure is one line on standard
// error. --version as the only argument prints name and version.
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
	// For a shell's completion request this prints the completions and is done.
	if kongcompletion.Register(parser); exited {
		return code
	}
	command, err := parser.Parse(args)
	if exited {
		return code
	}
	if err != nil {
		fmt.Fprintf(a.Stderr, "%s: %v (see %s --help)\n", p.Name, err, p.selected(err))
		return ExitUsage
	}
	return p.end(a, command.Run())
}

// selected is the command that a parse error is about, as typed, with the program's name.
func (p Program) selected(err error) string {
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context.Selected() != nil {
		return parse.Context.Selected().FullPath()
	}
	return p.Name
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

// end reports the result of a command.
func (p Program) end(a *App, err error) int {
	if err == nil {
		return ExitOK
	}
	fmt.Fprintf(a.Stderr, "%s: %s\n", p.Name, OneLine(err))
	if own := (statusError{}); errors.As(err, &own) {
		return own.status
	}
	return ExitFailed
}
