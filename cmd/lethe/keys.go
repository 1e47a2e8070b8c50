package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"fmt"

	"lethe/configs"
	"lethe/ingest/authority"
	"lethe/internal/command"
	"lethe/internal/jws"
)

type keysCmd struct {
	Generate keysGenerateCmd `cmd:"" help:"Generate a key that signs control records or requests."`
	Check    keysCheckCmd    `cmd:"" help:"Check a file of public keys, and count the holders of each role."`
	Seal     keysSealCmd     `cmd:"" help:"Seal the secret and the signing key with Vault."`
	Unseal   keysUnsealCmd   `cmd:"" help:"Write sealed keys back to plain files."`
	Rotate   keysRotateCmd   `cmd:"" name:"rotate-secret" help:"Rebuild a data directory under a new secret."`
}

// Help shows an example.
func (keysCmd) Help() string {
	return "Example:\n  lethe keys generate --role compliance --holder anna --out anna.pem >> authority.keys"
}

type keysGenerateCmd struct {
	Role   string `help:"Role of the key: ${enum}." enum:"producer, compliance, admin" required:"" placeholder:"ROLE"`
	Holder string `help:"Holder of the key: one name for all keys of one person." required:"" placeholder:"NAME"`
	Out    string `help:"File to write the private key to; must not exist." type:"path" required:"" placeholder:"FILE"`
	JSON   bool   `help:"Print one JSON document."`
}

// Help shows an example.
func (keysGenerateCmd) Help() string {
	return `Example:
  lethe keys generate --role compliance --holder anna --out anna.pem >> authority.keys
  lethe run --set signatures.keys_file=authority.keys --set signatures.requests=2

The private key (Ed25519, PKCS #8 in PEM, mode 0600) stays with its holder. The printed line belongs
in the deployment's file of public keys (signatures.keys_file). A producer signs close and settle
records; compliance signs erasure requests, cancellations and holds; an admin signs commands about
the processes of the deployment.`
}

// Run creates the key.
func (c *keysGenerateCmd) Run(a *command.App) error {
	if err := authority.CheckHolder(c.Holder); err != nil {
		return command.Usagef("--holder: %s", err)
	}
	key, err := configs.CreateSigningKey(c.Out, rand.Reader)
	if err != nil {
		return err
	}
	public := key.Public().(ed25519.PublicKey)
	line := authority.Line(authority.Role(c.Role), c.Holder, public)
	if c.JSON {
		return a.PrintJSON(map[string]string{
			"role": c.Role, "holder": c.Holder, "key_id": jws.Thumbprint(public), "line": line, "private_key": c.Out,
		})
	}
	fmt.Fprintln(a.Stdout, line)
	fmt.Fprintf(a.Stderr, "lethe: key %s is in %s\n", jws.Thumbprint(public), c.Out)
	return nil
}

type keysCheckCmd struct {
	File string `arg:"" help:"File of public keys." type:"path"`
	JSON bool   `help:"Print one JSON document."`
}

// Help shows an example.
func (keysCheckCmd) Help() string { return "Example:\n  lethe keys check authority.keys" }

// Run counts the holders.
func (c *keysCheckCmd) Run(a *command.App) error {
	keys, err := configs.ReadAuthorityKeys(c.File)
	if err != nil {
		return err
	}
	counts := make(map[authority.Role]int)
	for _, role := range authority.Roles() {
		counts[role] = keys.Count(role)
	}
	if c.JSON {
		return a.PrintJSON(counts)
	}
	for _, role := range authority.Roles() {
		fmt.Fprintf(a.Stdout, "%s: %d\n", role, counts[role])
	}
	return nil
}
