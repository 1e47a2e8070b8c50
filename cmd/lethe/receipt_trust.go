package main

import (
	"errors"
	"fmt"
	"io/fs"

	"lethe"
	"lethe/configs"
	"lethe/deletions/receipt"
	"lethe/internal/command"
)

// trustFlags say whose signatures count.
type trustFlags struct {
	PublicKey  []string           `help:"A key that must have signed; repeatable." type:"path" placeholder:"FILE"`
	Config     string             `help:"YAML file that says where the pinned key is." type:"path" placeholder:"FILE"`
	DataDir    string             `help:"Data directory with the pinned key." placeholder:"DIR"`
	Deployment lethe.DeploymentID `help:"Deployment that must have issued it." placeholder:"ID"`
}

// check verifies a receipt under the keys that are named or pinned. What is no receipt, or by
// no key that is known, is in the verification.
func (f trustFlags) check(a *command.App, data []byte) (receipt.Receipt, receipt.Verification, error) {
	trust, hint, err := f.trust(a)
	if err != nil {
		return receipt.Receipt{}, receipt.Verification{}, err
	}
	r, v, err := receipt.Verify(data, trust)
	if err != nil {
		v.Problems = append(v.Problems, err.Error())
	} else if hint != "" {
		v.Problems = append(v.Problems, hint)
	}
	if v.Signatures == nil {
		v.Signatures = []receipt.SignatureCheck{}
	}
	return r, v, nil
}

// trust reads the keys. The hint says what to do if there is none.
func (f trustFlags) trust(a *command.App) (trust receipt.Trust, hint string, err error) {
	trust.Deployment = f.Deployment
	for _, path := range f.PublicKey {
		key, err := configs.ReadPublicKey(path)
		if err != nil {
			return trust, "", fmt.Errorf("--public-key: %w", err)
		}
		trust.Keys = append(trust.Keys, key)
	}
	if len(trust.Keys) > 0 {
		return trust, "", nil
	}
	config, err := command.ConfigFlags{Config: f.Config, DataDir: f.DataDir}.Load(a, nil)
	if err != nil {
		return trust, "", err
	}
	path := configs.PublicKeyPath(config.SigningKeyPath())
	pinned, err := configs.ReadPublicKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		return trust, fmt.Sprintf("%s is not there: give the key that the operator of the deployment has handed over "+
			"with --public-key, or its data directory with --data-dir", path), nil
	}
	if err != nil {
		return trust, "", fmt.Errorf("pinned key: %w", err)
	}
	trust.Keys = append(trust.Keys, pinned)
	return trust, "", nil
}
