package coordinator

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/late"
	"lethe/deletions/ledgercopy"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// Each command does one thing, lets the coordinator go on as far as it can, and
// shows the calls that it made and where the requests stand.
//
//	request ID targets=(..) [payments=(A>B,..)] [subjects=(..)] [subject=KEY@UNTIL] [scope=S] [nonce=N]
//	           [deadline=30s]            submit a request, with scope=none without one
//	                                     (the deployment's is shard)
//	late KEY@TIMESTEP targets=(..) [behind=ID]
//	                                     ask for what came late of a subject, which is read
//	                                     after a request was taken back
//	cancel ID [other]                    take a request back, or one of another content
//	approve ID [other]                   sign it, as write says
//	again KEY                            write the first signed record of a key once more, as it is
//	hold NAME targets=(..) [subjects=(..)] [until=1h]
//	                                     keep transactions, and what carries subjects
//	lift NAME                            end a hold
//	record TOPIC key=K [value=V]         publish a record
//	answer ID role=R step=S [shards=(..)] [attempt=N]
//	search [slow] [late]                 run the search that is due: waiting takes time,
//	                                     the process hangs as it begins
//	pass 2s                              let time pass
//	overwritten KEY                      who led before has written a record of control.v1 with the key
//	restart                              a new process over what is durable
//	fail call=N [full]                   let the call after N others fail, as a full disk does
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		d := deploy(t)
		d.oneHop = strings.HasSuffix(path, "onehop")
		if strings.HasSuffix(path, "signed") {
			d.authority = d.twoMustSign()
		}
		if strings.HasSuffix(path, "together") || strings.HasSuffix(path, "apart") {
			d.window = 10 * time.Second
		}
		require.NoError(t, d.boot())
		require.NoError(t, d.advance())
		d.told = nil
		datadriven.RunTest(t, path, func(t *testing.T, td *datadriven.TestData) string {
			d.TB = t
			err := d.command(td)
			if err == nil {
				err = d.deliver()
			}
			if err == nil {
				err = d.advance()
			}
			return d.show(err)
		})
	})
}

func (d *deployment) command(td *datadriven.TestData) error {
	var id string
	if len(td.CmdArgs) > 0 {
		id = td.CmdArgs[0].Key
	}
	switch td.Cmd {
	case "request":
		r := requestOf(id, td)
		if text := textArg(td, "deadline"); text != "" {
			after, err := time.ParseDuration(text)
			require.NoError(d, err)
			r.Deadline = d.now.Add(after)
		}
		key, value, err := ingest.EncodeErasure(r, time.Time{})
		require.NoError(d, err)
		d.write(td, ingest.Outgoing{Key: key, Value: value})
	case "late":
		return d.late(td)
	case "cancel":
		d.write(td, d.cancelling(id, td.HasArg("other")))
	case "approve":
		cancel := d.cancelling(id, td.HasArg("other"))
		value := strings.Replace(string(cancel.Value), `"type":"cancel"`, `"type":"approve"`, 1)
		d.write(td, ingest.Outgoing{Key: []byte("!approve/" + id), Value: []byte(value)})
	case "hold":
		hold := ingest.Hold{Name: id, Reason: "case 7"}
		for _, target := range requestOf(id, td).Targets {
			if target.Kind == lethe.SubjectTarget {
				hold.Subjects = append(hold.Subjects, target.Subject)
				continue
			}
			hold.Transactions = append(hold.Transactions, target.Transaction)
		}
		if text := textArg(td, "until"); text != "" {
			after, err := time.ParseDuration(text)
			require.NoError(d, err)
			hold.Until = d.now.Add(after)
		}
		key, value, err := ingest.EncodeHold(hold)
		require.NoError(d, err)
		d.write(td, ingest.Outgoing{Key: key, Value: value})
	case "again":
		for _, rec := range slices.Clone(d.bus.topics[bus.Erasures]) {
			if string(rec.Key) == id && len(rec.Headers) > 0 {
				d.bus.append(bus.Erasures, ingest.Outgoing{Key: rec.Key, Value: rec.Value, Headers: rec.Headers})
				break
			}
		}
	case "lift":
		key, value, err := ingest.EncodeLift(ingest.Lift{Name: id})
		require.NoError(d, err)
		d.write(td, ingest.Outgoing{Key: key, Value: value})
	case "record":
		rec := ingest.Outgoing{Key: []byte(textArg(td, "key")), Value: []byte(td.Input)}
		if td.HasArg("deleted") {
			rec.Value = nil
		}
		d.bus.append(bus.Topic(id), rec)
	case "dropped":
		// A record that the graphs have met and dropped, and that compaction has removed since.
		source := bus.TopicPartition{Topic: bus.Topic(id)}
		rec := ingest.Record{Topic: id, Key: []byte(textArg(td, "key")), Value: []byte(td.Input)}
		return d.Records.Withdraw(d.Context(), bus.Batch{Source: source, Records: []ingest.Record{rec}}, []int{0})
	case "counts":
		e, err := deletions.NewLedger(d.kv, nil).Get(id)
		require.NoError(d, err)
		d.told = append(d.told, fmt.Sprintf("found of %s in source topics: %d", id, e.Progress.Counts.SourceRecords))
	case "answer":
		a := deletions.NewAck(id, textArg(td, "role"), "1", deletions.Step(textArg(td, "step")))
		a.Ensemble = lethe.Digest{byte(len(a.Step))}
		if a.Step == deletions.StepScanned || a.Step == deletions.StepErased {
			a.Scan = newScan()
		}
		if td.HasArg("shards") {
			td.ScanArgs(d, "shards", &a.Shards)
		}
		if td.HasArg("attempt") {
			td.ScanArgs(d, "attempt", &a.Attempt)
		}
		d.answer(a)
	case "search":
		d.ticking, d.hanging = td.HasArg("slow"), td.HasArg("late")
		return d.verify()
	case "pass":
		pause, err := time.ParseDuration(id)
		require.NoError(d, err)
		d.now = d.now.Add(pause)
		return d.Tick(d.Context())
	case "restored":
		// As backups.Resume does.
		td.ScanArgs(d, "again", &d.restored.Requests)
		if d.restored.At = d.now; td.HasArg("unlearnt") {
			td.ScanArgs(d, "unlearnt", &d.restored.Unlearnt)
		}
		ended, err := deletions.NewLedger(d.kv, fakeClock{d}.Now).Stop(id, deletions.Rejected, deletions.RejectedRestored)
		require.NoError(d, err)
		copied, err := ledgercopy.Records(ended)
		require.NoError(d, err)
		for _, rec := range copied {
			d.bus.append(bus.Control, rec)
		}
		d.bus.append(bus.Erasures, ingest.Outgoing{Key: []byte(id)})
	case "overwritten":
		return d.PublishAgain(d.Context(), []string{id})
	case "restart":
		d.notes.read = 0
		return d.boot()
	case "fail":
		td.ScanArgs(d, "call", &d.failAt)
		d.failAt += d.calls
		if d.failure = errCrash; td.HasArg("full") {
			d.failure = &fs.PathError{Op: "write", Path: "CURRENT", Err: syscall.ENOSPC}
		}
	default:
		td.Fatalf(d, "unknown command")
	}
	return nil
}

// cancelling is the record that takes a request back, or one of another content.
func (d *deployment) cancelling(id string, other bool) ingest.Outgoing {
	e, err := deletions.NewLedger(d.kv, nil).Get(id)
	if err != nil || other {
		e.Digest = lethe.Digest{1}
	}
	key, value, err := ingest.EncodeCancel(ingest.Cancel{RequestID: id, Digest: e.Digest})
	require.NoError(d, err)
	return ingest.Outgoing{Key: key, Value: value}
}

// late asks for what came late of a subject.
func (d *deployment) late(td *datadriven.TestData) error {
	id := td.CmdArgs[0].Key
	key, at := subjectOf(id)
	var list []late.Carrier
	for _, target := range requestOf(id, td).Targets {
		list = append(list, late.Carrier{Target: target, At: at, Subjects: []string{"nobody", key}})
	}
	asks := late.Requests{
		Secret: testSecret, Ledger: deletions.NewLedger(d.kv, nil), Most: 2, Out: d.bus, Now: fakeClock{d}.Now,
	}
	if cancelled := textArg(td, "behind"); cancelled != "" {
		asked := len(d.bus.topics[bus.Erasures])
		require.NoError(d, asks.Ask(d.Context(), list))
		late := slices.Clone(d.bus.topics[bus.Erasures][asked:])
		d.bus.topics[bus.Erasures] = d.bus.topics[bus.Erasures][:asked]
		d.bus.append(bus.Erasures, d.cancelling(cancelled, false))
		require.NoError(d, d.deliver())
		for _, rec := range late {
			d.bus.append(bus.Erasures, ingest.Outgoing{Key: rec.Key, Value: rec.Value})
		}
		return nil
	}
	return asks.Ask(d.Context(), list)
}

// show tells what was called since, and where the requests stand.
func (d *deployment) show(err error) string {
	var out strings.Builder
	for _, line := range shortened(d.told) {
		fmt.Fprintln(&out, line)
	}
	d.told = nil
	if err != nil {
		fmt.Fprintf(&out, "error: %v\n", err)
	}
	list, listErr := deletions.NewLedger(d.kv, nil).List()
	require.NoError(d, listErr)
	for _, e := range list {
		fmt.Fprintf(&out, "=> %s %s", e.RequestID, e.State)
		if e.Failure() != deletions.NoFailure {
			fmt.Fprintf(&out, " because %s", e.Failure())
		}
		if e.Overdue() {
			out.WriteString(", overdue")
		}
		if e.Attempts > 0 {
			fmt.Fprintf(&out, ", attempt %d", e.Attempts)
		}
		for _, o := range e.Progress.Outcomes {
			if o.Decided() {
				fmt.Fprintf(&out, ", %s", o.Outcome)
			}
		}
		if d.receipts.kept[e.RequestID] != nil {
			out.WriteString(", receipt")
		}
		if len(e.SignedBy) > 0 {
			fmt.Fprintf(&out, ", signed by %d keys", len(e.SignedBy))
		}
		for _, h := range e.Progress.HeldRequests {
			fmt.Fprintf(&out, ", still named %d times by %s, held by %v", h.Records, h.RequestID, h.Holds)
		}
		out.WriteString("\n")
	}
	return out.String()
}
