package command

import kongcompletion "github.com/jotaen/kong-completion"

// Completion is a subcommand that prints what a shell needs to complete command lines.
type Completion struct{ kongcompletion.Completion }

// Help shows an example.
func (Completion) Help() string {
	return `Example:
  lethe completion bash

It prints the line to add to the init file of the shell; with --code, the script that this line
loads. By default it is for your login shell.`
}
