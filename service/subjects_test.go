package service_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/receipt"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/service"
	"lethe/service/servicetest"
	"lethe/snapshot"
)

// A subject goes with what carries it up to a timestep. The plan counts that and names who
// carries others too; what carries the subject later stays.
func TestASubjectGoesWithWhatCarriesIt(t *testing.T) {
	t.Parallel()
	const customer, other = "customer-17", "customer-9"
	stream := servicetest.SmallStream(t, 4, 60, 9)
	marked := func(at lethe.Timestep, i int, subjects ...string) lethe.TransactionID {
		tx := &servicetest.Step(stream, at).Transactions[i]
		tx.Subjects = subjects
		return tx.ID
	}
	gone := []lethe.TransactionID{marked(2, 0, customer), marked(2, 1, customer), marked(3, 5, other, customer)}
	stays := []lethe.TransactionID{marked(2, 2, other), marked(4, 0, customer)}
	c := servicetest.SmallConfig(t, t.TempDir())
	s := start(t, c)
	s.Replay(stream)
	until := lethe.Timestep(3)

	asked := service.PlanRequest{Subjects: []string{customer}, Until: &until, Scopes: []string{"stubs"}, Export: true}
	plan := s.Plan(asked)
	require.Equal(t, 3, plan.Carried)
	require.Equal(t, gone[2:], plan.Several)
	require.Equal(t, 1, plan.Held)
	require.Equal(t, []lethe.Timestep{2, 3}, plan.Scopes[0].Timesteps)
	var exported []lethe.TransactionID
	require.Equal(t, customer, plan.Export[0].Subject)
	require.Equal(t, until, *plan.Export[0].Until)
	require.Len(t, plan.Export[0].Carried, 3)
	require.Equal(t, []service.HeldPlace{{Topic: bus.Transactions, Records: 3}}, plan.Export[0].Places)
	for _, held := range plan.Export[1:] {
		exported = append(exported, held.ID)
		require.NotEmpty(t, held.Features)
	}
	slices.Sort(exported)
	require.Equal(t, slices.Sorted(slices.Values(gone)), exported)
	asked.Until = nil
	require.Equal(t, 4, s.Plan(asked).Carried, "up to the newest timestep")

	eraseTargets(s, "leaves", lethe.SubjectThrough(customer, until))
	r := servicetest.Receipt(t, c, "leaves")
	require.Equal(t, []int{3, 1}, []int{r.Counts.Carried, r.Counts.SeveralSubjects})
	records := 0
	for _, id := range gone {
		records += recordsOf(stream, id)
	}
	require.Equal(t, int64(3), foundOf(r, receipt.SnapshotRows))
	require.GreaterOrEqual(t, foundOf(r, receipt.KafkaTopics), int64(records), "the log may be cleaned before it is read")
	require.Equal(t, []lethe.Timestep{2, 3}, r.Timesteps)
	require.Equal(t, []deletions.Outcome{deletions.OutcomeErased}, outcomes(s, "leaves"))
	for _, id := range gone {
		require.Zero(t, s.Plan(service.PlanRequest{Nodes: []string{string(id)}}).Held)
		require.Empty(t, servicetest.Left(t, c.DataDir, servicetest.FormsOf(t, c, stream, id)))
	}
	for _, id := range stays {
		require.Equal(t, 1, s.Plan(service.PlanRequest{Nodes: []string{string(id)}}).Held)
	}
	s.Stop()
}

// foundOf is what a receipt says was found of a class of artefacts, in the first place that it names.
func foundOf(r receipt.Receipt, class receipt.Artefact) int64 {
	at := slices.IndexFunc(r.Artefacts, func(row receipt.ArtefactRow) bool { return row.Artefact == class })
	return r.Artefacts[at].Found
}

// What carries a subject and comes after the request is erased by its own id, with whatever else names
// it: what is left is what a service has that it never came to. The receipt of that has the id of
// the request for the subject in its own.
func TestWhatComesLateOfASubjectLeavesNothing(t *testing.T) {
	t.Parallel()
	const customer = "customer-17"
	stream := servicetest.SmallStream(t, 4, 60, 9)
	late := servicetest.LabelledIllicit(stream, 3)[0]
	require.Greater(t, recordsOf(stream, late), 2, "the transaction should have a payment and a label")
	for i := range servicetest.Step(stream, 3).Transactions {
		if tx := &servicetest.Step(stream, 3).Transactions[i]; tx.ID == late {
			tx.Subjects = []string{customer}
		}
	}
	c := servicetest.SmallConfig(t, t.TempDir())
	s := start(t, c)
	eraseTargets(s, "leaves", lethe.SubjectThrough(customer, 3))
	require.Equal(t, []deletions.Outcome{deletions.OutcomeNothingHeld}, outcomes(s, "leaves"))

	s.Replay(stream)
	s.Await(func(st *service.Status) bool { return st.Erasures[deletions.Verified] == 2 })
	kept, err := filepath.Glob(filepath.Join(service.ReceiptsDir(c.DataDir), "leaves.late-*.json"))
	require.NoError(t, err)
	require.Len(t, kept, 1)
	// It may come again, now without its subject.
	sendTransaction(s, lethe.Transaction{
		ID: late, Timestep: 3, Features: servicetest.Step(stream, 3).Transactions[0].Features,
	})
	s.Quiet()
	requireNothingOf(s, c, late, servicetest.FormsOf(t, c, stream, late))

	never := start(t, servicetest.SmallConfig(t, t.TempDir()))
	never.Replay(servicetest.Without(stream, late))
	require.Equal(t, never.Newest(bus.Snapshots), s.Newest(bus.Snapshots))
	require.Equal(t, never.Newest(bus.Predictions), s.Newest(bus.Predictions))
	never.Stop()
	s.Stop()
}

// What carries a subject and was refused as late lies in a dead letter, and so does what names it. It carries the
// subject all the same, and goes with it.
func TestWhatWasRefusedAsLateOfASubjectLeavesNothing(t *testing.T) {
	t.Parallel()
	const customer = "customer-17"
	stream := servicetest.SmallStream(t, 4, 60, 9)
	late := servicetest.LabelledIllicit(stream, 2)[0]
	c := servicetest.SmallConfig(t, t.TempDir())
	c.Ingest.Late = snapshot.DeadLetter
	s := start(t, c)
	s.Replay(servicetest.Without(stream, late))
	other := servicetest.Step(stream, 2).Transactions[0].ID
	require.NotEqual(t, late, other)
	sendTransaction(s, lethe.Transaction{
		ID: late, Timestep: 2, Features: servicetest.Step(stream, 2).Transactions[0].Features, Subjects: []string{customer},
	})
	send(s, bus.Transactions)(ingest.EncodePayment(lethe.Payment{Source: late, Target: other, Timestep: 2}))
	send(s, bus.Labels)(ingest.EncodeLabel(lethe.LabelRecord{ID: late, Timestep: 2, Label: lethe.Illicit}))
	s.Quiet()
	require.Len(t, s.Newest(bus.DeadLetters), 3)

	eraseTargets(s, "leaves", lethe.SubjectThrough(customer, 3))
	require.Equal(t, []deletions.Outcome{deletions.OutcomeErased}, outcomes(s, "leaves"))
	s.Quiet()
	requireNothingOf(s, c, late, servicetest.FormsOf(t, c, stream, late))
	s.Stop()
}

// sendingOf is what takes an encoded record for a topic.
func sendingOf(topic bus.Topic) func(key, value []byte, err error) sending {
	return func(key, value []byte, err error) sending { return sending{topic, key, value, err} }
}

// A transaction that was rejected is in no graph and carries nothing: its dead letter goes with a subject in it, and
// its label, which names the transaction alone, stays until the transaction itself is erased.
func TestASubjectOfARejectedTransaction_ItsLabelStaysUntilItIsErased(t *testing.T) {
	t.Parallel()
	const customer, id = "customer-17", lethe.TransactionID("rejected-4711")
	stream := servicetest.SmallStream(t, 3, 60, 9)
	c := servicetest.SmallConfig(t, t.TempDir())
	s := start(t, c)
	s.Replay(stream)
	send(s, bus.Labels)(ingest.EncodeLabel(lethe.LabelRecord{ID: id, Timestep: 4, Label: lethe.Illicit}))
	sendTransaction(s, lethe.Transaction{
		ID: id, Timestep: 4, Features: []float32{1, 2}, Subjects: []string{customer},
	})
	s.Quiet()
	require.Len(t, deadLetters(s), 1)
	eraseTargets(s, "leaves", lethe.SubjectThrough(customer, 9))
	require.Empty(t, deadLetters(s))
	require.NotEmpty(t, servicetest.Left(t, c.DataDir, idForms(id)))
	eraseTargets(s, "itself", lethe.Transactions(id)[0])
	requireClean(s, c.DataDir, idForms(id))
}
