package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"golang.org/x/term"
)

// printJSON writes one JSON document to standard output, and nothing else goes
// there when --json was asked for.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.stdout)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// table writes rows in aligned columns; the first row is the heading.
func table(w io.Writer, rows [][]string) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range rows {
		fmt.Fprintln(tw, strings.Join(row, "\t")+"\t")
	}
	return tw.Flush()
}

// isTerminal reports whether w is a terminal, where progress may overwrite its
// own line.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// progress shows how far long work has got: a line that is overwritten on a
// terminal, a line every few seconds elsewhere.
type progress struct {
	w        io.Writer
	terminal bool
	started  time.Time
	last     time.Time
	width    int
}

const progressInterval = 5 * time.Second

func newProgress(w io.Writer) *progress {
	return &progress{w: w, terminal: isTerminal(w), started: time.Now()}
}

// show prints the state of the work. Off a terminal it prints only when the
// interval has passed.
func (p *progress) show(format string, args ...any) {
	now := time.Now()
	if !p.terminal && now.Sub(p.last) < progressInterval {
		return
	}
	p.last = now
	line := fmt.Sprintf("[%5.1fs] ", now.Sub(p.started).Seconds()) + fmt.Sprintf(format, args...)
	if !p.terminal {
		fmt.Fprintln(p.w, line)
		return
	}
	fmt.Fprintf(p.w, "\r%-*s", p.width, line)
	p.width = len(line)
}

// done ends the overwritten line and prints what was reached.
func (p *progress) done(format string, args ...any) {
	p.last = time.Time{}
	p.show(format, args...)
	if p.terminal {
		fmt.Fprintln(p.w)
	}
}
