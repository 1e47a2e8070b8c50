package command

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// Progress shows the progress of long work: on a terminal a line that is overwritten, elsewhere a
// line every few seconds.
type Progress struct {
	// Started is when the work began.
	Started  time.Time
	w        io.Writer
	terminal bool
	last     time.Time
	width    int
}

const progressInterval = 5 * time.Second

// NewProgress starts the clock.
func NewProgress(w io.Writer) *Progress {
	return &Progress{w: w, terminal: isTerminal(w), Started: time.Now()}
}

// Show prints the state of the work. Off a terminal it prints at most once per interval.
func (p *Progress) Show(format string, args ...any) {
	now := time.Now()
	if !p.terminal && now.Sub(p.last) < progressInterval {
		return
	}
	p.print(now, format, args...)
}

// Reached prints a completed stage. Stages are few and are all printed, regardless of the
// interval.
func (p *Progress) Reached(format string, args ...any) {
	p.print(time.Now(), format, args...)
}

func (p *Progress) print(now time.Time, format string, args ...any) {
	p.last = now
	line := fmt.Sprintf("[%5.1fs] ", now.Sub(p.Started).Seconds()) + fmt.Sprintf(format, args...)
	if !p.terminal {
		fmt.Fprintln(p.w, line)
		return
	}
	fmt.Fprintf(p.w, "\r%-*s", p.width, line)
	p.width = len(line)
}

// Done ends the overwritten line and prints the result.
func (p *Progress) Done(format string, args ...any) {
	p.Reached(format, args...)
	if p.terminal {
		fmt.Fprintln(p.w)
	}
}

// isTerminal reports whether w is a terminal, where progress may overwrite its own line.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
