package badinput_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/integration/process"
)

// leastCommands is the number of commands that are built, groups included.
const leastCommands = 21

var flagName = regexp.MustCompile(`--[a-z][a-z-]*`)

// TestEveryCommandShowsAnExample walks all commands from lethe --help on. An
// example must be a command line of the command itself, with flags that it has.
func TestEveryCommandShowsAnExample(t *testing.T) {
	bin := process.Build(t)
	seen := 0
	var walk func(path []string)
	walk = func(path []string) {
		seen++
		name := strings.Join(append([]string{"lethe"}, path...), " ")
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
					require.True(t, strings.Contains(flags, " "+flag) || !strings.Contains(line, name), "%s has no flag %s", name, flag)
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
	require.GreaterOrEqual(t, seen, leastCommands)
}
