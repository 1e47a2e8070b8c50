package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/internal/command"
)

// TestJSONLogsAreJSONToTheLastLine stops the service as soon as it runs.
func TestJSONLogsAreJSONToTheLastLine(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	log := &stopping{stop: cancel}
	a := &command.App{Context: ctx, Stdout: new(bytes.Buffer), Stderr: log, Version: "test"}
	status := program().Execute(a, []string{
		"run", "--data-dir", t.TempDir(), "--http-address", "127.0.0.1:0", "--set", "embedded.port=0",
		"--set", "log.format=json",
	})
	require.Zero(t, status, log.text.String())
	last := ""
	for line := range strings.Lines(log.text.String()) {
		var entry struct{ Msg string }
		require.NoError(t, json.Unmarshal([]byte(line), &entry), line)
		last = entry.Msg
	}
	require.Equal(t, "lethe stopped", last)
}

// stopping stops a service once it says that it runs.
type stopping struct {
	text bytes.Buffer
	stop func()
}

func (s *stopping) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("lethe is running")) {
		s.stop()
	}
	return s.text.Write(p)
}
