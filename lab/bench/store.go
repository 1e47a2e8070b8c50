package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// StoreFile is the name of the file with finished cells.
const StoreFile = "cells.jsonl"

// Store keeps results by key. It may be used from several goroutines at once,
// but a folder must not be open twice for adding.
type Store struct {
	mutex sync.Mutex
	// file is nil if the store was only read.
	file    *os.File
	results map[string]Result
}

// storeLine is one line of the file.
type storeLine struct {
	Key    string `json:"key"`
	Cell   Cell   `json:"cell"`
	Result Result `json:"result"`
}

// OpenStore reads the finished cells of a folder and makes ready to add to them.
// A last line that was cut short by a crash is dropped. The caller closes it.
func OpenStore(dir string) (*Store, error) {
	s, cut, err := readStore(dir)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, StoreFile)
	if s.file, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644); err != nil {
		return nil, fmt.Errorf("finished cells: %w", err)
	}
	if cut < 0 {
		return s, nil
	}
	if err := s.file.Truncate(cut); err != nil {
		return nil, errors.Join(fmt.Errorf("finished cells: %w", err), s.file.Close())
	}
	return s, nil
}

// ReadStore reads the finished cells of a folder and leaves it as it is, so that
// another process may be adding to them. Nothing can be added to this one.
func ReadStore(dir string) (*Store, error) {
	s, _, err := readStore(dir)
	return s, err
}

// readStore reads the whole lines; cut is where the last one begins if it is not
// whole, and negative otherwise.
func readStore(dir string) (s *Store, cut int64, err error) {
	path := filepath.Join(dir, StoreFile)
	content, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("finished cells: %w", err)
	}
	s = &Store{results: make(map[string]Result)}
	whole := content[:bytes.LastIndexByte(content, '\n')+1]
	lines := bufio.NewScanner(bytes.NewReader(whole))
	lines.Buffer(nil, len(whole)+1)
	for n := 1; lines.Scan(); n++ {
		var line storeLine
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return nil, 0, fmt.Errorf("finished cells: %s line %d: %w (remove the line, its cell is then measured anew)",
				path, n, err)
		}
		s.results[line.Key] = line.Result
	}
	if err := lines.Err(); err != nil {
		return nil, 0, fmt.Errorf("finished cells: %w", err)
	}
	if len(whole) == len(content) {
		return s, -1, nil
	}
	return s, int64(len(whole)), nil
}

// get returns a result, if the cell is finished.
func (s *Store) get(key string) (Result, bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	r, ok := s.results[key]
	return r, ok
}

// put adds a finished cell.
func (s *Store) put(key string, c Cell, r Result) error {
	if s.file == nil {
		return errors.New("finished cell: the store was opened for reading")
	}
	text, err := json.Marshal(storeLine{Key: key, Cell: c, Result: r})
	if err != nil {
		return fmt.Errorf("finished cell: %w", err)
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if _, err := s.file.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("finished cell: %w", err)
	}
	s.results[key] = r
	return nil
}

// Close closes the file.
func (s *Store) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}
