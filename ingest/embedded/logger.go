package embedded

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/twmb/franz-go/pkg/kfake"
)

// kfakeLogger passes kfake's warnings on and remembers what went wrong in a
// compaction: kfake tells it nowhere else.
type kfakeLogger struct {
	to *slog.Logger

	mu      sync.Mutex
	skipped []error // a partition could not be read and was left alone
	lost    []error // a partition was not written back
	full    error   // a batch could not be stored
}

// Logf implements kfake.Logger.
func (l *kfakeLogger) Logf(level kfake.LogLevel, format string, args ...any) {
	if level > kfake.LogLevelWarn || level == kfake.LogLevelNone {
		return
	}
	text, known := fmt.Sprintf(format, args...), false
	l.mu.Lock()
	switch {
	case strings.HasPrefix(format, "rebuildSegments"):
		l.full = fault(text, args)
		l.lost = append(l.lost, l.full)
	case strings.HasPrefix(format, "compact "):
		l.skipped = append(l.skipped, fmt.Errorf("%s", text))
	case strings.HasPrefix(format, "persist batch"):
		known = l.full != nil
		l.full = fault(text, args)
	}
	l.mu.Unlock()
	if known {
		return // whoever writes tries again and again
	}
	if level == kfake.LogLevelError {
		l.to.Error("embedded broker", "message", text)
		return
	}
	l.to.Warn("embedded broker", "message", text)
}

// message is what kfake said, and the error that it said it about.
type message struct {
	text  string
	cause error
}

// Error implements error.
func (m message) Error() string { return m.text }

// Unwrap lets callers see whether the cause may pass.
func (m message) Unwrap() error { return m.cause }

// fault returns the error of a message.
func fault(text string, args []any) error {
	for _, arg := range args {
		if cause, ok := arg.(error); ok {
			return message{text, cause}
		}
	}
	return message{text: text}
}

// refused returns why a batch could not be stored, unless that was forgiven.
func (l *kfakeLogger) refused() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.full
}

func (l *kfakeLogger) forgive() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.full = nil
}

// takeFailures returns and forgets what was remembered.
func (l *kfakeLogger) takeFailures() (skipped, lost []error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	skipped, lost = l.skipped, l.lost
	l.skipped, l.lost = nil, nil
	return skipped, lost
}
