package meta

import (
	"lethe"
	"lethe/canonical"
	"lethe/internal/check"
	"lethe/scoring/calibrate"
	"lethe/scoring/decision"
	"lethe/scoring/stack"
)

// Config configures a meta-model. Use Defaults.
type Config struct {
	// Timesteps is the number of latest settled timesteps to learn from.
	Timesteps   int
	Stack       stack.Config
	Calibration calibrate.Config
	// Threshold is how the served class is chosen.
	Threshold decision.Rule
}

// MaxTimesteps bounds Config.Timesteps.
const MaxTimesteps = 100_000

// Defaults learns from ten timesteps and uses the threshold with the best F1. Fewer timesteps hold
// too few illicit transactions: on Bitcoin-OTC some 35 each.
func Defaults() Config {
	return Config{Timesteps: 10, Stack: stack.Defaults(), Calibration: calibrate.Defaults(), Threshold: decision.Auto()}
}

// Validate reports all problems of the configuration at once.
func (c Config) Validate() error {
	var p check.Problems
	p.Whole("timesteps", c.Timesteps, 1, MaxTimesteps)
	p.Within("stack", c.Stack.Validate())
	p.Within("calibration", c.Calibration.Validate())
	return p.Err()
}

// Fingerprint identifies everything that a meta-model depends on besides its rows.
func (c Config) Fingerprint() lethe.Digest {
	w := canonical.NewDigester("LMCF", 1)
	w.Uint32(uint32(c.Timesteps))
	c.Stack.Append(w)
	c.Calibration.Append(w)
	w.String(c.Threshold.String())
	return w.Digest()
}
