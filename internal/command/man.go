package command

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// Man is a subcommand that prints the manual page.
type Man struct {
	Markdown bool `help:"Print Markdown instead, as in docs/commands.md."`
}

// Help returns an example.
func (Man) Help() string { return "Example:\n  lethe man > /usr/local/share/man/man1/lethe.1" }

// Run prints the reference of all commands.
func (c *Man) Run(ctx *kong.Context) error {
	text := manPage(ctx.Model)
	if c.Markdown {
		text = Markdown(ctx.Model)
	}
	_, err := io.WriteString(ctx.Stdout, text)
	return err
}

// manPage returns the manual page of a program in roff, with a section for every command.
func manPage(program *kong.Application) string {
	var p page
	short, rest, _ := strings.Cut(program.Help, "\n")
	p.line(".TH %s 1", strings.ToUpper(program.Name))
	p.line(".SH NAME\n%s", escaped(program.Name+" - "+short))
	p.line(".SH SYNOPSIS")
	p.line(`\fB%s\fP \fIcommand\fP [\fIarguments\fP] [\fIflags\fP]`, escaped(program.Name))
	p.line(".SH DESCRIPTION")
	p.blocks(blocks(rest))
	p.options(optionsOf(program.Node))
	p.line(".SH COMMANDS")
	for _, s := range sections(program.Node) {
		p.line(".SS %s", escaped(s.usage()))
		p.blocks(append(blocks(s.node.Help), s.detail...))
		p.options(s.options)
	}
	p.line(".SH EXIT STATUS\n%s", escaped(exitStatuses))
	return p.String()
}

// page is a manual page under construction.
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

func (p *page) options(options []option) {
	for _, o := range options {
		p.line(".TP\n\\fB%s\\fP", escaped(o.name))
		help := o.help
		if o.fallback != "" {
			help += " Default: " + o.fallback + "."
		}
		p.line("%s", escaped(help))
	}
}

// blocks writes paragraphs, and examples line by line.
func (p *page) blocks(all []block) {
	for i, b := range all {
		if i > 0 {
			p.line(".PP")
		}
		if b.example {
			p.line(".nf")
		}
		for _, line := range b.lines {
			p.line("%s", escaped(line))
		}
		if b.example {
			p.line(".fi")
		}
	}
}

// escaped escapes text for roff: a leading dot, which would start a request, and hyphens, which roff would print as
// a character that cannot be pasted.
func escaped(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
