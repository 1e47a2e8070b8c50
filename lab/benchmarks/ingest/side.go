package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// The processes that are started.
const (
	bareSide    = "bare"
	endlessSide = "endless"
	graphsSide  = "graphs"
	wholeSide   = "whole"
)

// measured is what a process says of itself.
type measured struct {
	PayloadBytes int64
	// Seconds is how long a part of that took, all of it if Part is 0, on so many processors.
	Seconds, Part, Cores float64
	ProcessorSeconds     float64
	WrittenBytes         int64
	PauseSeconds         float64
	// SenderPauseSeconds is the longest time between two sendings, where they are sent meanwhile.
	SenderPauseSeconds float64
	// SyncSeconds is how long writers of the state waited for the disk, in all.
	SyncSeconds float64
	// PeakBytes is told by whoever started it, MemoryBytes are what it had after each tenth of the transactions.
	PeakBytes   int64
	MemoryBytes []int64
	// Notes are what else there is to say.
	Notes []string
}

func (m measured) part() float64 { return cmp.Or(m.Part, 1) }

func (m measured) bytesPerSecond() float64 { return float64(m.PayloadBytes) * m.part() / m.Seconds }

// start runs a side in a process of its own, so that its memory is its own.
func (b *benchmark) start(ctx context.Context, side string) (m measured, err error) {
	self, err := os.Executable()
	if err != nil {
		return m, err
	}
	args := []string{
		"--side", side, "--prefix", b.Prefix, "--brokers", strings.Join(b.Brokers, ","),
		"--partitions", strconv.Itoa(b.Partitions), "--transactions", strconv.Itoa(b.Transactions),
		"--per-timestep", strconv.Itoa(b.PerTimestep), "--features", strconv.Itoa(b.Features),
		"--payload-bytes", strconv.FormatInt(b.PayloadBytes, 10),
	}
	if b.CPUProfile != "" && side != bareSide && side != endlessSide {
		args = append(args, "--cpuprofile", b.CPUProfile)
	}
	child := exec.CommandContext(ctx, self, args...)
	child.Cancel = func() error { // who is interrupted says what it has measured
		return cmp.Or(child.Process.Signal(os.Interrupt), os.ErrProcessDone)
	}
	var out bytes.Buffer
	child.Stdout, child.Stderr = &out, os.Stderr
	if err := child.Run(); err != nil {
		return m, fmt.Errorf("side %s: %w", side, err)
	}
	if err := json.Unmarshal(out.Bytes(), &m); err != nil {
		return m, fmt.Errorf("side %s said %q: %w", side, out.String(), err)
	}
	used, known := child.ProcessState.SysUsage().(*syscall.Rusage)
	if known {
		const kibi = 1024 // what Linux counts in
		m.PeakBytes = used.Maxrss * kibi
	}
	m.ProcessorSeconds = (child.ProcessState.UserTime() + child.ProcessState.SystemTime()).Seconds()
	return m, nil
}

// memory is what this process has of the machine's, 0 where that is not known.
func memory() int64 {
	content, err := os.ReadFile("/proc/self/statm")
	var all, resident int64
	if err == nil {
		_, err = fmt.Sscan(string(content), &all, &resident)
	}
	if err != nil {
		return 0
	}
	return resident * int64(os.Getpagesize())
}

// say tells whoever started this process.
func say(m measured, err error) error {
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(m)
}
