package deletions_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/internal/memorykv"
)

// ledgerSession is a ledger that a transcript drives, and its clock.
type ledgerSession struct {
	kv     *memorykv.KV
	now    time.Time
	ledger *deletions.Ledger
}

func newLedgerSession() *ledgerSession {
	s := &ledgerSession{kv: memorykv.New(), now: epoch}
	s.open()
	return s
}

// open opens the ledger over what is stored.
func (s *ledgerSession) open() {
	s.ledger = deletions.NewLedger(s.kv, func() time.Time { return s.now })
}

func TestLedgerTranscript(t *testing.T) {
	datadriven.Walk(t, "testdata/ledger", func(t *testing.T, path string) {
		s := newLedgerSession()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var first string
			if len(d.CmdArgs) > 0 {
				first = d.CmdArgs[0].Key
			}
			switch d.Cmd {
			case "receive", "move", "stop", "retry":
				return s.change(d, first)
			case "reopen":
				s.open()
				return ""
			case "wait":
				step, err := time.ParseDuration(first)
				require.NoError(t, err)
				s.now = s.now.Add(step)
				return ""
			case "history", "list", "summary":
				out, err := s.query(d, first)
				require.NoError(t, err)
				return out
			default:
				d.Fatalf(t, "unknown command")
				return ""
			}
		})
	})
}

// change does what moves a request on, and shows it then.
func (s *ledgerSession) change(d *datadriven.TestData, id string) (out string) {
	switch d.Cmd {
	case "receive":
		r := request(id)
		for _, a := range d.CmdArgs[1:] {
			r.Targets = append(r.Targets, lethe.Transactions(lethe.TransactionID(a.Key))...)
		}
		return showEntry(s.ledger.Receive(testSecret, r))
	case "stop":
		state, code := deletions.State(d.CmdArgs[1].Key), deletions.FailureCode(d.CmdArgs[2].Key)
		return showEntry(s.ledger.Stop(id, state, code))
	case "retry":
		return showEntry(s.ledger.Retry(id))
	default:
		for _, a := range d.CmdArgs[1:] {
			out = showEntry(s.ledger.Transition(id, deletions.State(a.Key), nil))
		}
		return out
	}
}

// query shows what the ledger holds.
func (s *ledgerSession) query(d *datadriven.TestData, id string) (string, error) {
	var out strings.Builder
	switch d.Cmd {
	case "history":
		e, err := s.ledger.Get(id)
		for _, c := range e.History {
			fmt.Fprintf(&out, "%s %s %s\n", c.At.Format("15:04:05.000"), c.State, c.Failure)
		}
		return out.String(), err
	case "list":
		var states []deletions.State
		for _, a := range d.CmdArgs {
			states = append(states, deletions.State(a.Key))
		}
		entries, err := s.ledger.List(states...)
		for _, e := range entries {
			out.WriteString(showEntry(e, nil))
		}
		return out.String(), err
	default:
		counts, err := s.ledger.Count()
		var shown []string
		for _, state := range deletions.States() {
			if counts[state] > 0 {
				shown = append(shown, fmt.Sprintf("%s=%d", state, counts[state]))
			}
		}
		return strings.Join(shown, " ") + "\n", err
	}
}

// showEntry shows a request's state, or the error.
func showEntry(e deletions.Entry, err error) string {
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	s := e.Status()
	out := fmt.Sprintf("%s %s attempts=%d", s.RequestID, s.State, s.Attempts)
	if s.Failure != "" {
		out += " failure=" + string(s.Failure)
	}
	if s.FailedIn != "" {
		out += " failed_in=" + string(s.FailedIn)
	}
	return out + "\n"
}
