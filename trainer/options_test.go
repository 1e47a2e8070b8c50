package trainer

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"lethe/trainer/kernels"
)

func TestOptions(t *testing.T) {
	datadriven.RunTest(t, "testdata/options", func(t *testing.T, d *datadriven.TestData) string {
		var o Options
		for _, arg := range d.CmdArgs {
			value := ""
			if len(arg.Vals) > 0 {
				value = arg.Vals[0]
			}
			setOption(t, &o, arg.Key, value)
		}
		switch d.Cmd {
		case "defaults":
			return fmt.Sprintf("%+v\n", o.EnsureDefaults())
		case "widths":
			return fmt.Sprintln(o.EnsureDefaults().Widths)
		case "fingerprint":
			return o.Fingerprint().String()[:16] + "\n"
		case "validate":
			_, err := NewEngine(o, kernels.Portable{})
			require.Error(t, err)
			return err.Error() + "\n"
		default:
			d.Fatalf(t, "unknown command %s", d.Cmd)
			return ""
		}
	})
}

func setOption(t *testing.T, o *Options, key, value string) {
	t.Helper()
	number := 0.0
	if value != "" {
		number, _ = strconv.ParseFloat(value, 64)
	}
	switch key {
	case "hidden":
		o.Hidden = int(number)
	case "learning-rate":
		o.LearningRate = number
	case "weight-decay":
		o.WeightDecay = number
	case "class-weights":
		o.ClassWeights = value
	case "schedule":
		o.Schedule = value
	case "window":
		o.WindowTimesteps = int(number)
	case "passes":
		o.Passes = int(number)
	case "seed":
		o.Seed = uint64(number)
	case "no-widths":
		o.Widths = []int{}
	default:
		t.Fatalf("unknown option %s", key)
	}
}

func TestCloneSharesNothing(t *testing.T) {
	o := Options{Widths: []int{1, 2, 3, 4}}
	c := o.Clone()
	c.Widths[0] = 9
	require.Equal(t, 1, o.Widths[0])
	require.Zero(t, Options{NoWeightDecay: true}.EnsureDefaults().WeightDecay)
}
