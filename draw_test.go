package lethe_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"lethe"
)

// The draws in testdata/draws were made on amd64; every processor has to make the
// same bits. They are also what the bytes of checkpoints and of generated data rest
// on: -rewrite is no remedy if this fails.
func TestDrawsHaveTheSameBitsEverywhere(t *testing.T) {
	kinds := map[string]func(d *lethe.Draw) uint64{
		"uint64":  (*lethe.Draw).Uint64,
		"float64": func(d *lethe.Draw) uint64 { return math.Float64bits(d.Float64()) },
		"float32": func(d *lethe.Draw) uint64 { return uint64(math.Float32bits(d.Float32())) },
		"int":     func(d *lethe.Draw) uint64 { return uint64(d.IntN(1000)) },
		"normal":  func(d *lethe.Draw) uint64 { return math.Float64bits(d.Normal()) },
	}
	datadriven.RunTest(t, "testdata/draws", func(t *testing.T, c *datadriven.TestData) string {
		var seed, digested uint64
		var listed int
		c.ScanArgs(t, "seed", &seed)
		c.MaybeScanArgs(t, "list", &listed)
		c.MaybeScanArgs(t, "digest", &digested)
		d, out, hash := lethe.NewDraw(seed, c.Cmd, 1, 2), &strings.Builder{}, sha256.New()
		for range listed {
			fmt.Fprintf(out, "%016x\n", kinds[c.Cmd](d))
		}
		for range digested {
			hash.Write(binary.LittleEndian.AppendUint64(nil, kinds[c.Cmd](d)))
		}
		if digested > 0 {
			fmt.Fprintf(out, "%x\n", hash.Sum(nil))
		}
		return out.String()
	})
}
