package authority

import (
	"lethe/internal/check"
)

// MaxSigners is the most people that a request may need.
const MaxSigners = 2

// Config says which records need signatures.
type Config struct {
	// KeysFile has the keys whose signatures count, with their roles (ParseKeys).
	KeysFile string `yaml:"keys_file" help:"File of the public keys that may sign, by role; see lethe keys generate."`
	// Control has close and settle records signed by a key of the role producer.
	Control bool `yaml:"control" help:"Close and settle records count only if a producer's key has signed them."`
	// Requests is how many people with keys of the role compliance must sign an erasure request,
	// 0 to 2. From 1 on cancellations and holds are signed by one.
	Requests int `yaml:"requests" help:"People of compliance who must sign an erasure request: 0, 1 or 2."`
	// Operators has what is said of processes signed by a key of the role admin.
	Operators bool `yaml:"operators" help:"Commands about processes count only if an admin's key has signed them."`
}

// Required reports whether anything has to be signed.
func (c Config) Required() bool { return c.Control || c.Requests > 0 || c.Operators }

// Validate reports every problem at once.
func (c Config) Validate() error {
	var p check.Problems
	p.Whole("requests", c.Requests, 0, MaxSigners)
	p.That(!c.Required() || c.KeysFile != "", "keys_file", c.KeysFile, "a file, where signatures are required")
	return p.Err()
}

// Policy is which records need signatures, and whose. The zero Policy asks for none.
type Policy struct {
	Config
	Keys
}

// NewPolicy joins settings with the content of their file of keys. The error names the setting
// that nobody could fulfil.
func NewPolicy(c Config, keys Keys) (Policy, error) {
	var p check.Problems
	few := func(setting string, value any, role Role, want int) {
		n := keys.Count(role)
		p.That(n >= want, setting, value, "%d holders of keys with the role %s in keys_file: it has %d", want, role, n)
	}
	if c.Control {
		few("control", c.Control, Producer, 1)
	}
	few("requests", c.Requests, Compliance, c.Requests)
	if c.Operators {
		few("operators", c.Operators, Admin, 1)
	}
	return Policy{c, keys}, p.Err()
}
