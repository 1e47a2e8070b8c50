package worlds

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// TestABackupHoldsWhatNamesACarrier: a backup may hold what names a transaction that is erased on
// account of its subject, and not the record that says so. Put back while the request waits, or
// once it was carried out, it leaves nothing of either, nor does what is sent again.
func TestABackupHoldsWhatNamesACarrier(t *testing.T) {
	for polls, want := range map[int]deletions.State{2: deletions.Rejected, patience / 10: deletions.Verified} {
		w := tell(t, 1)
		id, other := lethe.TransactionID(prefixOf(1)+"0"), lethe.TransactionID(prefixOf(1)+"1")
		w.sends(ingest.EncodeTransaction(lethe.Transaction{ID: other, Timestep: 1, Features: []float32{1, 2, 3}}))(other)
		w.sends(ingest.EncodeLabel(lethe.LabelRecord{ID: id, Timestep: 1, Label: lethe.Licit}))(id).topic = bus.Labels
		w.events[len(w.events)-1].polls = 10 // the graphs of the backup hold it, too
		w.events = append(w.events, event{operation: &operation{backup: true}})
		carrier := w.sends([]byte(id), []byte(`{"type":"transaction","id":"`+string(id)+
			`","timestep":1,"features":[7,8,9],"subjects":["`+customer+`"]}`), nil)(id)
		carrier.subjects, carrier.at, carrier.row = []string{customer}, 1, []float32{7, 8, 9}
		w.asks(lethe.ScopeStubs, "")
		asked := &w.events[len(w.events)-1]
		asked.polls, asked.request.Targets = polls, []lethe.Target{lethe.SubjectThrough(customer, 1)}
		// A payment to itself is refused; its dead letter would name the transaction.
		w.sends([]byte(id+">"+id), []byte(`{"type":"payment","source":"`+string(id)+`","target":"`+string(id)+
			`","timestep":1}`), nil)(id)
		w.events = append(w.events, event{operation: &operation{restore: true}})

		d, err := newDeployment(t).play(t.Context(), w.world)
		require.NoError(t, err)
		s, err := d.read(t.Context())
		require.NoError(t, err)
		for _, e := range s.ledger {
			if e.RequestID != asked.request.RequestID {
				continue
			}
			require.Equal(t, want, e.State)
			if want == deletions.Verified {
				require.Len(t, e.Progress.Found.Transactions, 1, "an auditor looks for what went with the subject")
			}
		}
		left, err := d.search(t.Context(), wantedOf(w.carriedOut(s)))
		require.NoError(t, err)
		require.Empty(t, left, "%v", s.states)
		require.NoError(t, d.stop())
	}
}
