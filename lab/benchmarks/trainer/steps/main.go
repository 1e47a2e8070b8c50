// Command steps trains shard models on made-up slices and counts the steps. It
// is lethe's side of compare.py.
//
// It reads requests from standard input, one JSON document per line, and answers
// each with one line:
//
//	{"case": "elliptic:1024", "workers": 2, "seconds": 1}
//	{"steps": 53, "seconds": 1.02, "cpu_seconds": 2.03, "kernels": "fma"}
//
// products does the matrix products of elliptic's steps and nothing else, which
// bounds them. Otherwise every worker trains a shard of its own, checkpoints included. A call of
// Engine.Train goes three times over a window of ten slices for elliptic, as the
// service does by default, and for cora 200 times over one, as the paper does.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"lethe/trainer/kernels"
)

func main() {
	set := flag.String("kernels", kernels.Default().Name, "kernel set")
	profile := flag.String("cpuprofile", "", "file for a CPU profile")
	flag.Parse()
	if err := run(*set, *profile, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "steps:", err)
		os.Exit(1)
	}
}

func run(set, profile string, in io.Reader, out io.Writer) error {
	k, err := kernels.Named(set)
	if err != nil {
		return err
	}
	if profile != "" {
		f, err := os.Create(profile)
		if err != nil {
			return err
		}
		defer f.Close() //nolint:errcheck // a lost profile is no failure of the measurement
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	b := bench{kernels: k, contenders: make(map[string]contender)}
	encoder := json.NewEncoder(out)
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return fmt.Errorf("request %q: %w", lines.Text(), err)
		}
		a, err := b.answer(r)
		if err != nil {
			return fmt.Errorf("case %s: %w", r.Case, err)
		}
		if err := encoder.Encode(a); err != nil {
			return err
		}
	}
	return nil
}

type request struct {
	Case    string  `json:"case"`
	Workers int     `json:"workers"`
	Seconds float64 `json:"seconds"`
}

type answer struct {
	Steps   int     `json:"steps"`
	Seconds float64 `json:"seconds"`
	// CPUSeconds is the processor time of the whole process meanwhile.
	CPUSeconds float64 `json:"cpu_seconds"`
	Kernels    string  `json:"kernels"`
}

type bench struct {
	kernels    kernels.Set
	contenders map[string]contender
}

// answer trains for as long as the request says, and at least one window.
func (b *bench) answer(r request) (answer, error) {
	run, ok := b.contenders[r.Case]
	if !ok {
		var err error
		if run, err = newContender(r.Case, r.Workers, b.kernels); err != nil {
			return answer{}, err
		}
		b.contenders[r.Case] = run
	}
	steps := make([]int, r.Workers)
	start, used := time.Now(), processorTime()
	until := start.Add(time.Duration(r.Seconds * float64(time.Second)))
	var g errgroup.Group
	for w := range r.Workers {
		g.Go(func() error {
			for {
				n, err := run.advance(w)
				if err != nil {
					return err
				}
				if steps[w] += n; !time.Now().Before(until) {
					return nil
				}
			}
		})
	}
	if err := g.Wait(); err != nil {
		return answer{}, err
	}
	a := answer{
		Seconds: time.Since(start).Seconds(), CPUSeconds: (processorTime() - used).Seconds(), Kernels: b.kernels.Name,
	}
	for _, n := range steps {
		a.Steps += n
	}
	return a, nil
}

// processorTime returns what the process has used in user mode and for it in
// the kernel.
func processorTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
