package badinput_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/integration/process"
)

var flagName = regexp.MustCompile(`--[a-z][a-z-]*`)

// TestEveryCommandShowsAnExample walks all commands from --help on. An example
// must be a command line of the command itself, with flags that it has.
func TestEveryCommandShowsAnExample(t *testing.T) {
	t.Parallel()
	// The least numbers of commands, groups and the program itself included.
	for program, least := range map[string]int{"lethe": 18, "lethe-lab": 5} {
		t.Run(program, func(t *testing.T) {
			require.GreaterOrEqual(t, walkHelp(t, program), least)
		})
	}
}

// walkHelp checks the help of every command and returns how many there are.
func walkHelp(t *testing.T, program string) int {
	bin := process.BuildCommand(t, program)
	seen := 0
	var walk func(path []string)
	walk = func(path []string) {
		seen++
		name := strings.Join(append([]string{program}, path...), " ")
		r := process.Run(t, bin, append(path, "--help")...)
		require.Zero(t, r.Code, name)
		require.Empty(t, r.Stderr, name)
		_, after, found := strings.Cut(r.Stdout, "Example:\n")
		require.True(t, found, "%s has no example:\n%s", name, r.Stdout)
		example, _, _ := strings.Cut(strings.TrimLeft(after, "\n"), "\n\n")
		require.Contains(t, example+" ", name+" ", "the example is of another command")
		_, flags, _ := strings.Cut(r.Stdout, "\nFlags:\n")
		_, list, isGroup := strings.Cut(r.Stdout, "\nCommands:\n")
		if !isGroup {
			for line := range strings.SplitSeq(strings.ReplaceAll(example, "&&", "\n"), "\n") {
				for _, flag := range flagName.FindAllString(line, -1) {
					// Another command may stand before this one.
					require.True(t, strings.Contains(flags, " "+flag) || !strings.Contains(line, name), "%s has no flag %s", name,
						flag)
				}
			}
			return
		}
		list, _, _ = strings.Cut(list, "\n\n")
		for line := range strings.Lines(list) {
			// "  erase submit    Submit a request"; a text that is wrapped starts
			// further right.
			if strings.HasPrefix(line, "  ") && line[2] != ' ' {
				command, _, _ := strings.Cut(line[2:], "  ")
				walk(strings.Fields(command))
			}
		}
	}
	walk(nil)
	return seen
}
