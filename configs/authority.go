package configs

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"lethe/ingest/authority"
	"lethe/internal/atomicfile"
	"lethe/internal/check"
)

// LoadAuthority reads the keys whose signatures are accepted, and the rules on which records need
// them. Without a file of keys no record does. The error wraps ErrKeyFile if others may change the
// file.
func LoadAuthority(c authority.Config) (authority.Policy, error) {
	path := c.KeysFile
	if path == "" {
		return authority.Policy{}, nil
	}
	keys, err := ReadAuthorityKeys(path)
	if err != nil {
		return authority.Policy{}, fmt.Errorf("signatures.keys_file: %w", err)
	}
	policy, err := authority.NewPolicy(c, keys)
	if err != nil {
		var p check.Problems
		p.Within("signatures", err)
		return policy, p.Err()
	}
	return policy, nil
}

// ReadAuthorityKeys reads a file of public keys by role. Anyone who can change it can sign: only
// its owner may have write access.
func ReadAuthorityKeys(path string) (authority.Keys, error) {
	info, err := os.Stat(path)
	if err != nil {
		return authority.Keys{}, err
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 && runtime.GOOS != "windows" {
		return authority.Keys{}, fmt.Errorf("%w %s: mode %04o lets others change it: run `chmod go-w %s`, "+
			"and look at what it holds", ErrKeyFile, path, mode, path)
	}
	text, err := atomicfile.Read(path, authority.MaxFileBytes)
	if err != nil {
		return authority.Keys{}, err
	}
	keys, err := authority.ParseKeys(text)
	if errors.Is(err, authority.ErrKeys) {
		return keys, fmt.Errorf("%s: %w", path, err)
	}
	return keys, err
}
