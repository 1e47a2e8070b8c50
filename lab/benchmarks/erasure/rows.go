package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"lethe/deletions"
)

// row is what a round took, in seconds since its requests were submitted: until the
// last of them reached each state.
type row struct {
	Data         string `json:"data"`
	Transactions int    `json:"transactions"`
	Timesteps    int    `json:"timesteps"`
	Features     int    `json:"features"`
	// Together is how many requests were submitted at once, Targets how many transactions
	// each named, Age from how old a timestep, -1 for any.
	Together int    `json:"together"`
	Targets  int    `json:"targets"`
	Scope    string `json:"scope"`
	Age      int    `json:"age"`
	// Customers says that the targets of a request are those of a customer.
	Customers bool `json:"customers,omitempty"`

	Suppressed float64 `json:"suppressed"`
	Swapped    float64 `json:"swapped"`
	Erased     float64 `json:"erased"`
	Verified   float64 `json:"verified"`
	// Processor times from the submission to swapped and to verified.
	ProcessorSwapped  float64 `json:"processor_swapped"`
	ProcessorVerified float64 `json:"processor_verified"`
	// Shards were retrained, Models is how many checkpoints were trained for it.
	Shards int `json:"shards"`
	Models int `json:"models"`
	// Planned and PlannedProcessor are what a plan said before of Swapped and ProcessorSwapped, from
	// what Basis names, and PlanSeconds is how long the answer took; 0 if it was not asked.
	Planned          float64 `json:"planned,omitempty"`
	PlannedProcessor float64 `json:"planned_processor,omitempty"`
	PlanSeconds      float64 `json:"plan_seconds,omitempty"`
	Basis            string  `json:"basis,omitempty"`
	// Anew is the processor time of training every checkpoint anew, 0 if not measured.
	Anew float64 `json:"anew,omitempty"`
}

func (r *row) note(now reached, began time.Time, processor time.Duration) {
	seconds, used := now.at.Sub(began).Seconds(), (now.processor - processor).Seconds()
	switch now.state {
	case deletions.Suppressed:
		r.Suppressed = seconds
	case deletions.Swapped:
		r.Swapped, r.ProcessorSwapped = seconds, used
	case deletions.Erased:
		r.Erased = seconds
	case deletions.Verified:
		r.Verified, r.ProcessorVerified = seconds, used
	default:
	}
}

// appendRows adds rows to a file, a line each.
func appendRows(path string, rows []row) (err error) {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	to := json.NewEncoder(file)
	for _, r := range rows {
		if err := to.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

// readRows reads what appendRows wrote to some files.
func readRows(paths []string) (rows []row, err error) {
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		lines := bufio.NewScanner(file)
		for lines.Scan() {
			var r row
			if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
				return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
			}
			rows = append(rows, r)
		}
		if err := errors.Join(lines.Err(), file.Close()); err != nil {
			return nil, err
		}
	}
	return rows, nil
}
