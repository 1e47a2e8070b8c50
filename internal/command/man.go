package command

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// Man is a subcommand that prints the manual page.
type Man struct{}

// Help shows an example.
func (Man) Help() string { return "Example:\n  lethe man > /usr/local/share/man/man1/lethe.1" }

// Run prints the page of all commands.
func (Man) Run(ctx *kong.Context) error {
	_, err := io.WriteString(ctx.Stdout, manPage(ctx.Model))
	return err
}

// manPage is the manual page of a program, in roff: a section of its own for every command, with what its help
// shows.
func manPage(program *kong.Application) string {
	var p page
	short, rest, _ := strings.Cut(program.Help, "\n")
	p.line(".TH %s 1", strings.ToUpper(program.Name))
	p.line(".SH NAME")
	p.text(program.Name + " - " + short)
	p.line(".SH SYNOPSIS")
	p.line(`\fB%s\fP \fIcommand\fP [\fIarguments\fP] [\fIflags\fP]`, escaped(program.Name))
	p.line(".SH DESCRIPTION")
	p.text(rest)
	p.flags(program.Node)
	p.line(".SH COMMANDS")
	p.commands(program.Node)
	p.line(".SH EXIT STATUS")
	p.text("0 if all went well, 1 if something failed, 2 for wrong use.")
	return p.String()
}

// page is a manual page that is being written.
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// commands writes a section for each command below one.
func (p *page) commands(node *kong.Node) {
	for _, child := range node.Children {
		if child.Hidden {
			continue
		}
		p.line(".SS %s", escaped(child.Summary()))
		p.text(child.Help + "\n\n" + child.Detail)
		p.flags(child)
		p.commands(child)
	}
}

// flags writes the flags of a command, without those of the commands above it.
func (p *page) flags(node *kong.Node) {
	for _, flag := range node.Flags {
		if flag.Hidden {
			continue
		}
		name := flag.Summary()
		if flag.Short != 0 {
			name = fmt.Sprintf("-%c, %s", flag.Short, name)
		}
		p.line(".TP\n\\fB%s\\fP", escaped(name))
		p.line("%s", escaped(strings.ReplaceAll(flag.Help, "\n", " ")))
	}
}

// text writes paragraphs, which empty lines separate. Lines that are indented are examples, and stay as they are.
func (p *page) text(text string) {
	examples := false
	for at := range strings.Lines(text) {
		at = strings.TrimRight(at, "\n")
		if is := strings.HasPrefix(at, "  "); is != examples {
			if examples = is; is {
				p.line(".PP\n.nf")
			} else {
				p.line(".fi")
			}
		}
		if at == "" {
			p.line(".PP")
			continue
		}
		p.line("%s", escaped(at))
	}
	if examples {
		p.line(".fi")
	}
}

// escaped is text of which roff takes nothing as a request: such as begins with a dot, or a hyphen that it would
// print as another sign, which nobody could paste.
func escaped(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
