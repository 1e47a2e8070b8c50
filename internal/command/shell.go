package command

import (
	"fmt"

	"github.com/alecthomas/kong"
	mangokong "github.com/alecthomas/mango-kong"
	kongcompletion "github.com/jotaen/kong-completion"
	"github.com/muesli/roff"
)

// Completion is a subcommand that prints what a shell needs to complete command lines.
type Completion = kongcompletion.Completion

// Man is a subcommand that prints the manual page.
type Man struct{}

// Help shows an example.
func (Man) Help() string { return "Example:\n  lethe man > /usr/local/share/man/man1/lethe.1" }

// Run prints the page of all commands.
func (Man) Run(ctx *kong.Context) error {
	_, err := fmt.Fprint(ctx.Stdout, mangokong.NewManPage(1, ctx.Model).Build(roff.NewDocument()))
	return err
}
