package configs

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	_ "github.com/cockroachdb/datadriven" // for its flag -rewrite
	"github.com/stretchr/testify/require"
)

// reference is docs/configuration.md: a table of every key with its type, default and
// meaning, a heading for each section.
func reference() []byte {
	var out strings.Builder
	out.WriteString(referenceHead)
	defaults, last := Default(), "-"
	for _, s := range Settings() {
		within := ""
		if dot := strings.LastIndexByte(s.Key, '.'); dot >= 0 {
			within = s.Key[:dot]
		}
		if within != last {
			last = within
			title := within
			if title == "" {
				title = "The process"
			}
			fmt.Fprintf(&out, "\n## %s\n\n| key | type | default | |\n|---|---|---|---|\n", title)
		}
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s |\n", s.Key, typeName(s.typ), shown(s.in(&defaults).Interface()),
			strings.ReplaceAll(s.Help, "|", `\|`))
	}
	return []byte(out.String())
}

const referenceHead = `# Every key of the configuration

Made from the code (` + "`go test ./configs -run Reference -rewrite`" + `). A key may stand in the file
(` + "`--config`" + `, nested by its dots), in the environment
(` + "`LETHE_TRAINER_HIDDEN` for `trainer.hidden`" + `) or in a flag
(` + "`--set trainer.hidden=128`" + `). Flags override the environment, the environment overrides the file, and
the file overrides the defaults.

` + "`lethe config print`" + ` shows all keys with the values in effect, ` + "`lethe config validate`" + ` reports
everything that is wrong at once, and ` + "`lethe config schema`" + ` prints a JSON Schema of the file, for editors.

[configs/examples](../configs/examples) has files to start with: ` + "`embedded.yaml`" + ` has every key with
its default, ` + "`kafka.yaml`" + ` is for brokers of your own, ` + "`gin.yaml`" + ` for one network per shard, and
` + "`guide.yaml`" + ` for what the paper proposes. To use another model, set ` + "`trainer.model`" + ` alone: the
settings that depend on it have defaults that fit it.
`

func typeName(t reflect.Type) string {
	switch kind := t.Kind(); {
	case t == reflect.TypeFor[time.Duration]():
		return "duration"
	case kind == reflect.Slice:
		return "list"
	case kind == reflect.Bool:
		return "true or false"
	case kind == reflect.Float64:
		return "number"
	case kind == reflect.String:
		return "text"
	default:
		return "whole number"
	}
}

// shown is a default as the table has it.
func shown(value any) string {
	text := fmt.Sprint(plain(value))
	if list, ok := value.([]string); ok {
		text = strings.Join(list, ", ")
	}
	if text == "" {
		return "–"
	}
	return "`" + text + "`"
}

// Every key has its help and its place in the page, which is as the code has it.
func TestReferenceIsThePage(t *testing.T) {
	const page = "../docs/configuration.md"
	want := reference()
	if f := flag.Lookup("rewrite"); f.Value.String() == "true" {
		require.NoError(t, os.WriteFile(page, want, 0o644))
	}
	have, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Equal(t, string(want), string(have), "make it anew with go test ./configs -run Reference -rewrite")
	for _, s := range Settings() {
		require.NotEmpty(t, s.Help, s.Key)
		require.Equal(t, 1, strings.Count(string(have), "\n| `"+s.Key+"` |"), s.Key)
	}
}
