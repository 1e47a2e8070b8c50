package badinput_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
)

// TestCommandLine runs the transcript of commands that cannot work, and of some
// that do, against the folders and the service of a stage. What fails says so
// in one line.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	datadriven.RunTest(t, "testdata/cli", func(t *testing.T, d *datadriven.TestData) string {
		switch d.Cmd {
		case "lethe":
			return s.command(t, d)
		case "stop":
			require.Zero(t, s.service.Stop())
			return ""
		case "role-fails":
			s.start(t)
			s.roleFails(t)
			return ""
		default:
			d.Fatalf(t, "no command %q", d.Cmd)
			return ""
		}
	})
}

// ended is what a command left.
type ended struct {
	code           int
	stdout, stderr string
}

// command runs one command line. Its result is the exit status, what it said,
// and the members of its JSON document.
//
//	env=(A=B)  sets a variable
//	json       wants one JSON document on standard output
//	text       wants other text there, if it succeeds
//	nobody     takes away the rights of root
//	progress   allows lines of progress on standard error
//	log        allows lines of the log there, of a service that was up for a moment
func (s *stage) command(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	args := words(t, s.replaced(d.Input))
	var environ []string
	if d.HasArg("env") {
		var setting string
		d.ScanArgs(t, "env", &setting)
		environ = append(environ, setting)
	}
	program, _, _ := strings.Cut(d.Input, " ")
	r := s.run(t, program, args, environ, d.HasArg("nobody"))
	said := r.stderr
	if d.HasArg("log") {
		said = logLine.ReplaceAllString(said, "")
	}
	if d.HasArg("progress") {
		said = progressLine.ReplaceAllString(said, "")
	}
	if r.code != 0 {
		require.Contains(t, []int{1, 2, 3}, r.code, "%s: %s", d.Pos, r.stderr)
		require.Regexp(t, `^`+program+`: [^\n]+\n$`, said, d.Pos)
		require.NotRegexp(t, `goroutine|panic|exit status|Usage:|%!|runtime error|0x[0-9a-f]{6}`, said, d.Pos)
		require.True(t, r.stdout == "" || d.HasArg("json"), "%s: standard output of a failure: %s", d.Pos, r.stdout)
	} else {
		require.Empty(t, said, d.Pos)
		require.NotEmpty(t, r.stdout, d.Pos)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "exit %d\n%s", r.code, s.normalised(said))
	if d.HasArg("json") {
		out.WriteString(document(t, d.Pos, r.stdout))
	} else if r.code == 0 {
		require.True(t, d.HasArg("text"), "%s: it was to fail, and says: %s", d.Pos, r.stdout)
	}
	return out.String()
}

var (
	progressLine = regexp.MustCompile(`(?m)^\[ *[0-9.]+s\] .*\n`)
	logLine      = regexp.MustCompile(`(?m)^time=.*\n`)
)

// document checks that there is one JSON document and nothing else, and lists
// its members.
func document(t *testing.T, pos, text string) string {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	var v any
	require.NoError(t, decoder.Decode(&v), "%s: %s", pos, text)
	var rest any
	require.ErrorIs(t, decoder.Decode(&rest), io.EOF, "%s: more than one document: %s", pos, text)
	members, isObject := v.(map[string]any)
	if !isObject {
		return fmt.Sprintf("a list of %d\n", len(v.([]any)))
	}
	delete(members, "commit") // named only by a build from a repository
	return "members: " + strings.Join(slices.Sorted(maps.Keys(members)), " ") + "\n"
}

const commandTimeout = 40 * time.Second

func (s *stage) run(t *testing.T, program string, args, environ []string, asNobody bool) ended {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), commandTimeout)
	defer cancel()
	c := exec.CommandContext(ctx, s.path(program), args...)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr, c.Dir = &stdout, &stderr, s.dir
	c.Env = append([]string{"HOME=" + s.dir, "TMPDIR=" + s.dir}, environ...)
	if asNobody && os.Geteuid() == 0 {
		const nobody = 65534
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	err := c.Run()
	var exit *exec.ExitError
	require.True(t, err == nil || errors.As(err, &exit), "%v", err)
	require.NoError(t, ctx.Err(), "%s %s: no end in sight", program, strings.Join(args, " "))
	return ended{c.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// words splits a command line at blanks, without the program; single quotes hold
// words together.
func words(t *testing.T, line string) []string {
	t.Helper()
	_, line, _ = strings.Cut(line, " ")
	parts := strings.Split(line, "'")
	require.Equal(t, 1, len(parts)%2, "a quote without its end")
	var out []string
	for i, part := range parts {
		if i%2 == 1 {
			out = append(out, part)
		} else {
			out = append(out, strings.Fields(part)...)
		}
	}
	return out
}

// names are what stands in the transcript for what differs from run to run.
func (s *stage) names() [][2]string {
	return [][2]string{
		{"$ID", s.erased},
		{"$HTTP", strconv.Itoa(s.ports.HTTP)},
		{"$KAFKA", strconv.Itoa(s.ports.Kafka)},
		{"$DIR", s.dir},
	}
}

func (s *stage) replaced(text string) string {
	for _, n := range s.names() {
		text = strings.ReplaceAll(text, n[0], n[1])
	}
	return text
}

var issuedBy = regexp.MustCompile(`the receipt is of [0-9a-f]{32},`)

// keyID is the thumbprint of a key.
var keyID = regexp.MustCompile(`(^|[^A-Za-z0-9_-])[A-Za-z0-9_-]{43}([^A-Za-z0-9_-]|$)`)

// leafNumber is where in the log a receipt stands: how many leaves come before depends on timing.
var leafNumber = regexp.MustCompile(`another receipt: leaf [0-9]+`)

var fromPort = regexp.MustCompile(`127\.0\.0\.1:[0-9]+->`)

func (s *stage) normalised(text string) string {
	for _, n := range s.names() {
		text = strings.ReplaceAll(text, n[1], n[0])
	}
	text = keyID.ReplaceAllString(fromPort.ReplaceAllString(text, ""), "$1$$KEY$2")
	text = leafNumber.ReplaceAllString(text, "another receipt: leaf $$N")
	return issuedBy.ReplaceAllString(text, "the receipt is of $$DEPLOYMENT,")
}
