package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
)

// App is what a command may touch of the outside world.
type App struct {
	// Context ends when the user interrupts.
	Context context.Context
	// Stdout takes results, Stderr progress, logs and errors.
	Stdout, Stderr io.Writer
	// Environ is the environment as key=value.
	Environ []string
	// Version is the software's, as it stands on receipts.
	Version string
}

// PrintJSON writes one JSON document to standard output, and nothing else goes
// there when --json was asked for.
func (a *App) PrintJSON(v any) error {
	enc := json.NewEncoder(a.Stdout)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}
