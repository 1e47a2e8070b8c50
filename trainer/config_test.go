package trainer

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"lethe/trainer/kernels"
	"lethe/trainer/models"
)

func TestConfig(t *testing.T) {
	datadriven.RunTest(t, "testdata/config", func(t *testing.T, d *datadriven.TestData) string {
		c := Defaults()
		for _, arg := range d.CmdArgs {
			value := ""
			if len(arg.Vals) > 0 {
				value = arg.Vals[0]
			}
			set(t, &c, arg.Key, value)
		}
		switch d.Cmd {
		case "defaults":
			return fmt.Sprintf("%+v\n", c)
		case "widths":
			return fmt.Sprintln(c.Architecture(1).Widths)
		case "fingerprint":
			return c.Fingerprint().String()[:16] + "\n"
		case "validate":
			_, err := NewEngine(c, kernels.Portable())
			require.Error(t, err)
			return err.Error() + "\n"
		default:
			d.Fatalf(t, "unknown command %s", d.Cmd)
			return ""
		}
	})
}

func set(t *testing.T, c *Config, key, value string) {
	t.Helper()
	number := 0.0
	if value != "" {
		number, _ = strconv.ParseFloat(value, 64)
	}
	switch key {
	case "hidden":
		c.Hidden = int(number)
	case "learning-rate":
		c.LearningRate = number
	case "weight-decay":
		c.WeightDecay = number
	case "class-weights":
		c.ClassWeights = value
	case "schedule":
		c.Schedule = value
	case "window":
		c.WindowTimesteps = int(number)
	case "passes":
		c.Passes = int(number)
	case "seed":
		c.Seed = uint64(number)
	case "no-widths":
		c.Widths = []int{}
	default:
		t.Fatalf("unknown setting %s", key)
	}
}

func TestCloneSharesNothing(t *testing.T) {
	o := with(models.EllipticGIN, func(c *Config) { c.Widths = []int{1, 2, 3, 4} })
	c := o.Clone()
	c.Widths[0] = 9
	require.Equal(t, 1, o.Widths[0])
}
