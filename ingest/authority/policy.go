package authority

import (
	"lethe/internal/check"
)

// MaxSigners is the largest number of signers that can be required for a request.
const MaxSigners = 2

// Config configures which records need signatures.
type Config struct {
	// KeysFile is the file of the keys whose signatures are accepted, with their roles
	// (ParseKeys).
	KeysFile string `yaml:"keys_file" help:"File of the public keys that may sign, by role; see lethe keys generate."`
	// Control requires close and settle records to be signed by a key of the role
	// producer.
	Control bool `yaml:"control" help:"Close and settle records count only if a producer's key has signed them."`
	// Requests is how many people with keys of the role compliance must sign an erasure
	// request, 0 to 2. From 1 on, cancellations and holds need one signature.
	Requests int `yaml:"requests" help:"People of compliance who must sign an erasure request: 0, 1 or 2."`
	// Operators requires commands about processes to be signed by a key of the role
	// admin.
	Operators bool `yaml:"operators" help:"Commands about processes count only if an admin's key has signed them."`
}

// Required reports whether any record has to be signed.
func (c Config) Required() bool { return c.Control || c.Requests > 0 || c.Operators }

// Validate reports all problems at once.
func (c Config) Validate() error {
	var p check.Problems
	p.Whole("requests", c.Requests, 0, MaxSigners)
	p.That(!c.Required() || c.KeysFile != "", "keys_file", c.KeysFile, "a file, where signatures are required")
	return p.Err()
}

// Policy defines which records need signatures, and by which keys. The zero Policy
// requires none.
type Policy struct {
	Config
	Keys
}

// NewPolicy combines settings with the content of their file of keys. The error names the
// setting that the keys in the file cannot satisfy.
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
