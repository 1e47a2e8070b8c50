package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

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

// table writes rows in aligned columns: numbers to the right, words to the left.
// The first row is the heading; all have its length.
func table(w io.Writer, rows [][]string) error {
	width, words := make([]int, len(rows[0])), make([]bool, len(rows[0]))
	for i, row := range rows {
		for j, cell := range row {
			width[j] = max(width[j], utf8.RuneCountInString(cell))
			words[j] = words[j] || i > 0 && strings.IndexFunc(cell, unicode.IsLetter) == 0
		}
	}
	var out strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for j, cell := range row {
			pad := strings.Repeat(" ", width[j]-utf8.RuneCountInString(cell))
			if words[j] {
				line.WriteString("  " + cell + pad)
			} else {
				line.WriteString("  " + pad + cell)
			}
		}
		out.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	_, err := io.WriteString(w, out.String())
	return err
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
