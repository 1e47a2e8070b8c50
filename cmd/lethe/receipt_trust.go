package main

import (
	"errors"
	"fmt"
	"io/fs"

	"lethe"
	"lethe/audit"
	"lethe/configs"
	"lethe/deletions/receipt"
	"lethe/deletions/translog"
	"lethe/internal/command"
)

// trustFlags select the keys whose signatures are accepted.
type trustFlags struct {
	PublicKey  []string            `help:"Keys of the signers, the deployment's first." type:"path" placeholder:"FILE"`
	Config     string              `help:"YAML configuration file." type:"path" placeholder:"FILE"`
	DataDir    string              `help:"Data directory with the pinned public key." placeholder:"DIR"`
	Deployment *lethe.DeploymentID `help:"Id of the deployment that must have issued it." placeholder:"ID"`
}

// checked is a receipt with the results of its checks. The JSON names are part of the command line.
type checked struct {
	receipt.Verification
	// Log is the receipt's position in the transparency log, nil if there is no proof of it.
	Log *logged `json:"log,omitempty"`
	// Receipt is nil unless it is valid.
	Receipt *receipt.Receipt `json:"receipt,omitempty"`
}

// logged is the position of a receipt in a log.
type logged struct {
	Origin string `json:"origin"`
	Index  int64  `json:"index"`
	// Size is the number of leaves at the checkpoint.
	Size int64 `json:"size"`
}

// read reads the receipt in a file and verifies it with the keys that are given or pinned, and that it is in
// the transparency log. An invalid receipt or an unknown key is reported in the result.
func (f trustFlags) read(a *command.App, file string) (data []byte, c checked, err error) {
	if data, err = readReceipt(file); err != nil {
		return nil, c, err
	}
	trust, hint, err := f.trust(a)
	if err != nil {
		return nil, c, err
	}
	r, v, err := receipt.Verify(data, trust)
	c.Verification = v
	switch {
	case err != nil:
		c.Problems = append(c.Problems, err.Error())
	case hint != "":
		c.Problems = append(c.Problems, hint)
	case !v.TrustedKey && len(v.Signatures) > 0 && !v.Signatures[0].Known:
		c.Problems = append(c.Problems, "if the deployment has changed its key since: lethe log keys follows the changes "+
			"from a key that is known, and prints all of them for --public-key")
	default:
		c.checkLogged(file, data, r, trust)
	}
	if c.Signatures == nil {
		c.Signatures = []receipt.SignatureCheck{}
	}
	if c.Valid {
		c.Receipt = &r
	}
	return data, c, nil
}

// checkLogged checks the proof that the receipt is in its deployment's log.
func (c *checked) checkLogged(file string, data []byte, r receipt.Receipt, trust receipt.Trust) {
	issued, err := audit.IssuedReceipt(file, data)
	if err == nil && issued.Proof == nil {
		err = errors.New("nothing shows that it is in the transparency log of its deployment")
	}
	if err == nil {
		var tree translog.SignedTree
		tree, err = issued.Proof.CheckReceipt(issued.Payload, translog.Name(r.Deployment.String()),
			trust.OfDeployment()...)
		if errors.Is(err, translog.ErrSignature) && len(trust.Keys) > 1 {
			err = fmt.Errorf("%w: that is the first --public-key, an auditor's comes behind it", err)
		}
		c.Log = &logged{tree.Origin, issued.Proof.Index, tree.N}
	}
	if err != nil {
		c.Valid, c.Log, c.Problems = false, nil, append(c.Problems, fmt.Sprintf("log: %v", err))
	}
}

// trust reads the keys. The hint is the remedy if there is none.
func (f trustFlags) trust(a *command.App) (trust receipt.Trust, hint string, err error) {
	if f.Deployment != nil {
		if trust.Deployment = *f.Deployment; trust.Deployment.IsZero() {
			return trust, "", errors.New("--deployment: no deployment has an id of zeros")
		}
	}
	for _, path := range f.PublicKey {
		keys, err := configs.ReadPublicKeys(path)
		if err != nil {
			return trust, "", fmt.Errorf("--public-key: %w", err)
		}
		if trust.Keys = append(trust.Keys, keys[0]); len(trust.Keys) == 1 {
			trust.Former = keys[1:]
		}
	}
	if len(trust.Keys) > 0 {
		return trust, "", nil
	}
	config, err := command.ConfigFlags{Config: f.Config, DataDir: f.DataDir}.Load(a, nil)
	if err != nil {
		return trust, "", err
	}
	path := configs.PublicKeyPath(config.SigningKeyPath())
	pinned, err := configs.ReadPublicKeys(path)
	if errors.Is(err, fs.ErrNotExist) {
		return trust, fmt.Sprintf("%s is not there: give the key that the operator of the deployment has handed over "+
			"with --public-key, or its data directory with --data-dir", path), nil
	}
	if err != nil {
		return trust, "", fmt.Errorf("pinned key: %w", err)
	}
	trust.Keys, trust.Former = pinned[:1], pinned[1:]
	return trust, "", nil
}
