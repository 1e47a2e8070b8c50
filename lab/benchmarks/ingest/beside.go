package main

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// endless tells that this process reads until it is interrupted.
func (b *benchmark) endless() bool { return b.Side == endlessSide }

// besides has the topic taken in and read at the same time, so that both have the same broker, processors and
// moments: the reader reads it again and again until all is taken in.
func (b *benchmark) besides(ctx context.Context, side string, w io.Writer) (taken measured, err error) {
	if b.Partitions > 1 {
		return taken, errors.New("--beside reads one partition: several are read in a group, which begins nowhere anew")
	}
	until, stop := context.WithCancel(ctx)
	defer stop()
	type outcome struct {
		measured
		err error
	}
	reading := make(chan outcome, 1)
	go func() {
		m, err := b.start(until, endlessSide)
		reading <- outcome{m, err}
	}()
	taken, err = b.start(ctx, side)
	stop()
	read := <-reading
	if err := errors.Join(err, read.err); err != nil {
		return taken, err
	}
	fmt.Fprintf(w, "bare reader    %.1f MB/s meanwhile, %.2f ms of processor a MB\n",
		read.bytesPerSecond()/mega, read.processor())
	fmt.Fprintf(w, "ratio          %.1f %% at the same time\n", 100*taken.bytesPerSecond()/read.bytesPerSecond())
	return taken, nil
}
