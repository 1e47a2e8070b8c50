package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
)

// App is a command's access to the outside world.
type App struct {
	// Context ends when the user interrupts the command.
	Context context.Context
	// Stdout receives results; Stderr receives progress, logs and errors.
	Stdout, Stderr io.Writer
	// Environ is the environment as key=value.
	Environ []string
	// Version is the software version, as printed on receipts.
	Version string
}

// Print prints a result: as one JSON document, or as text.
func (a *App) Print(asJSON bool, v any, format string, args ...any) error {
	if asJSON {
		return a.PrintJSON(v)
	}
	_, err := fmt.Fprintf(a.Stdout, format, args...)
	return err
}

// PrintJSON writes one JSON document to standard output. With --json a command must write nothing
// else there.
func (a *App) PrintJSON(v any) error {
	enc := json.NewEncoder(a.Stdout)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}
