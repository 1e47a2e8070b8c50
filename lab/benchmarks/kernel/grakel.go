package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// grakel is the Python process that takes turns.
type grakel struct {
	process *exec.Cmd
	ask     io.WriteCloser
	answers *bufio.Scanner
	folder  string
}

// startGraKeL hands the graphs over and waits until the slices are embedded.
func startGraKeL(python string, graphs []graph) (*grakel, error) {
	folder, err := os.MkdirTemp("", "lethe-kernel-")
	if err != nil {
		return nil, err
	}
	g := &grakel{folder: folder}
	path := filepath.Join(folder, "graphs.jsonl")
	var lines strings.Builder
	for _, gr := range graphs {
		pairs := make([][2]uint32, len(gr.edges))
		for i, e := range gr.edges {
			pairs[i] = [2]uint32{e.A, e.B}
		}
		line, err := json.Marshal([]any{gr.nodes, pairs})
		if err != nil {
			return nil, err
		}
		lines.Write(append(line, '\n'))
	}
	if err := os.WriteFile(path, []byte(lines.String()), 0o600); err != nil {
		return nil, err
	}
	g.process = exec.Command(python, filepath.Join("benchmarks", "kernel", "pyramid_match.py"), path)
	g.process.Stderr = os.Stderr
	if g.ask, err = g.process.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := g.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	g.answers = bufio.NewScanner(out)
	if err := g.process.Start(); err != nil {
		return nil, err
	}
	if !g.answers.Scan() {
		g.stop()
		return nil, errors.New("GraKeL ended before it was ready")
	}
	return g, nil
}

// time asks for one round.
func (g *grakel) time() (time.Duration, error) {
	if _, err := io.WriteString(g.ask, "again\n"); err != nil {
		return 0, err
	}
	if !g.answers.Scan() {
		return 0, errors.New("GraKeL ended between rounds")
	}
	seconds, err := strconv.ParseFloat(g.answers.Text(), 64)
	return time.Duration(seconds * float64(time.Second)), err
}

// stop ends the process. What it says then has no consequence.
func (g *grakel) stop() {
	_ = g.ask.Close()
	_ = g.process.Wait()
	_ = os.RemoveAll(g.folder)
}
