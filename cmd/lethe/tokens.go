package main

import (
	"fmt"
	"os"
	"time"

	"lethe/internal/atomicfile"
	"lethe/internal/command"
	"lethe/service/guard"
)

type tokensCmd struct {
	Generate tokensGenerateCmd `cmd:"" help:"Generate an access token for the API."`
}

// Help shows an example.
func (tokensCmd) Help() string {
	return "Example:\n  lethe tokens generate --name anna --role analyst --out anna.token >> tokens"
}

type tokensGenerateCmd struct {
	Name    string        `help:"Name of the holder, one word." required:"" placeholder:"NAME"`
	Role    []string      `help:"Roles: ${enum}. Repeatable." enum:"viewer, analyst, compliance, admin" required:""`
	Expires time.Duration `help:"How long it is valid; 0: until its line is deleted." default:"2160h"`
	Out     string        `help:"File to write the token to; must not exist." type:"path" required:"" placeholder:"FILE"`
	JSON    bool          `help:"Print one JSON document."`
}

// Help shows an example.
func (tokensGenerateCmd) Help() string {
	return `Example:
  lethe tokens generate --name anna --role analyst --out anna.token >> tokens
  chmod 600 tokens && lethe run --set http.tokens_file=tokens
  curl -H "Authorization: Bearer $(cat anna.token)" http://127.0.0.1:8080/api/v1/alerts

The token stays with its holder. The printed line, with the token's SHA-256, belongs in the tokens
file (http.tokens_file), which lethe reads at its start. A viewer sees predictions, alerts and their
reasons. An analyst also sees dead letters, and an admin can send them again. Only compliance sees
and submits erasure requests.`
}

// Run creates the token.
func (c *tokensGenerateCmd) Run(a *command.App) error {
	if c.Expires < 0 {
		return command.Usagef("--expires %s is negative", c.Expires)
	}
	var expires time.Time
	if c.Expires > 0 {
		expires = time.Now().Add(c.Expires).Truncate(time.Second)
	}
	token, line, err := guard.NewToken(c.Name, c.Role, expires)
	if err != nil {
		return command.Usagef("--name: %s", err)
	}
	if _, err := os.Stat(c.Out); err == nil {
		return fmt.Errorf("--out: %s exists", c.Out)
	}
	if err := atomicfile.Write(c.Out, []byte(token+"\n"), 0o600); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	if c.JSON {
		return a.PrintJSON(map[string]any{"name": c.Name, "roles": c.Role, "line": line, "token": c.Out})
	}
	fmt.Fprintln(a.Stdout, line)
	fmt.Fprintf(a.Stderr, "lethe: the token is in %s\n", c.Out)
	return nil
}
