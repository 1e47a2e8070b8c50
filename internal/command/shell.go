package command

import kongcompletion "github.com/jotaen/kong-completion"

// Completion is a subcommand that prints the shell code for completing command lines.
type Completion struct{ kongcompletion.Completion }

// Help returns an example.
func (Completion) Help() string {
	return `Example:
  lethe completion bash

It prints the line to add to the init file of the shell; with --code, the script that this line
loads. By default it is for your login shell.`
}
