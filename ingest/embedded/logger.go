package embedded

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/twmb/franz-go/pkg/kfake"
)

// kfakeLogger forwards kfake's warnings and stores the failures of a compaction: kfake reports them
// only in its log.
type kfakeLogger struct {
	to *slog.Logger

	mu      sync.Mutex
	skipped []error // partitions that could not be read and were left unchanged
	lost    []error // partitions that were not written back
	full    error   // why a batch could not be stored
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
		return // producers retry repeatedly
	}
	if level == kfake.LogLevelError {
		l.to.Error("embedded broker", "message", text)
		return
	}
	l.to.Warn("embedded broker", "message", text)
}

// message is a log message of kfake, with the error in it.
type message struct {
	text  string
	cause error
}

// Error implements error.
func (m message) Error() string { return m.text }

// Unwrap lets callers check whether the cause is temporary.
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

// refused returns why a batch could not be stored, until that is cleared.
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

// takeFailures returns and clears the stored failures.
func (l *kfakeLogger) takeFailures() (skipped, lost []error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	skipped, lost = l.skipped, l.lost
	l.skipped, l.lost = nil, nil
	return skipped, lost
}
