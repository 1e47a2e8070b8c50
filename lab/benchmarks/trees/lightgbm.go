package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"lethe/trainer/tabular"
)

// lightGBM is the Python process that takes turns.
type lightGBM struct {
	process *exec.Cmd
	ask     io.WriteCloser
	answers *bufio.Scanner
	folder  string
	// version is the library's.
	version string
	rows    int
}

// startLightGBM hands the rows over and waits until they are read.
func startLightGBM(python string, p problem) (*lightGBM, error) {
	folder, err := os.MkdirTemp("", "lethe-trees-")
	if err != nil {
		return nil, err
	}
	l := &lightGBM{folder: folder, rows: p.test.Len()}
	for name, rows := range map[string]tabular.Rows{"train": p.train, "test": p.test} {
		if err := errors.Join(write(filepath.Join(folder, name+".features"), rows.Features),
			write(filepath.Join(folder, name+".labels"), rows.Labels)); err != nil {
			return nil, err
		}
	}
	l.process = exec.Command(python, filepath.Join("lab", "benchmarks", "trees", "lightgbm_side.py"), folder,
		fmt.Sprint(p.train.Cols))
	l.process.Stderr = os.Stderr
	if l.ask, err = l.process.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := l.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	l.answers = bufio.NewScanner(out)
	if err := l.process.Start(); err != nil {
		return nil, err
	}
	if !l.answers.Scan() {
		l.stop()
		return nil, errors.New("LightGBM ended before it was ready")
	}
	l.version = l.answers.Text()
	return l, nil
}

func write(path string, values any) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	return errors.Join(binary.Write(w, binary.LittleEndian, values), w.Flush(), f.Close())
}

// fit asks for one fit and its probabilities of the test rows.
func (l *lightGBM) fit(s settings) (seconds, []float64, error) {
	question, err := json.Marshal(s)
	if err != nil {
		return seconds{}, nil, err
	}
	if _, err := l.ask.Write(append(question, '\n')); err != nil {
		return seconds{}, nil, err
	}
	if !l.answers.Scan() {
		return seconds{}, nil, errors.New("LightGBM ended between two fits")
	}
	var took seconds
	if err := json.Unmarshal(l.answers.Bytes(), &took); err != nil {
		return took, nil, err
	}
	f, err := os.Open(filepath.Join(l.folder, "scores"))
	if err != nil {
		return took, nil, err
	}
	scores := make([]float64, l.rows)
	return took, scores, errors.Join(binary.Read(f, binary.LittleEndian, scores), f.Close())
}

// stop ends the process. What it says then has no consequence.
func (l *lightGBM) stop() {
	_ = l.ask.Close()
	_ = l.process.Wait()
	_ = os.RemoveAll(l.folder)
}
