package command

import kongcompletion "github.com/jotaen/kong-completion"

// Completion is a subcommand that prints what a shell needs to complete command lines.
type Completion struct{ kongcompletion.Completion }

// Help shows an example.
func (Completion) Help() string {
	return "Example:\n  lethe completion bash\n\n" +
		"It prints the line to put into the shell's init file; with --code what that line reads. " +
		"Without a shell it is the login shell's."
}
