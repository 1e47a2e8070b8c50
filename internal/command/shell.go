package command

import (
	"fmt"

	"github.com/alecthomas/kong"
	mangokong "github.com/alecthomas/mango-kong"
	kongcompletion "github.com/jotaen/kong-completion"
	"github.com/muesli/roff"
)

// Completion is a subcommand that prints what a shell needs to complete command lines.
type Completion struct{ kongcompletion.Completion }

// Help shows an example.
func (Completion) Help() string {
	return "Example:\n  lethe completion bash\n\n" +
		"It prints the line to put into the shell's init file; with --code what that line reads. " +
		"Without a shell it is the login shell's."
}

// Man is a subcommand that prints the manual page.
type Man struct{}

// Help shows an example.
func (Man) Help() string { return "Example:\n  lethe man > /usr/local/share/man/man1/lethe.1" }

// Run prints the page of all commands.
func (Man) Run(ctx *kong.Context) error {
	_, err := fmt.Fprint(ctx.Stdout, mangokong.NewManPage(1, ctx.Model).Build(roff.NewDocument()))
	return err
}
