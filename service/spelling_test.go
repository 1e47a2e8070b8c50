package service_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"lethe"
	"lethe/audit"
	"lethe/configs"
	"lethe/dataset"
	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/ingest/bus"
	"lethe/internal/normalise"
	"lethe/service"
	"lethe/service/servicetest"
)

// rename gives a transaction another id in everything that names it.
func rename(s *dataset.Step, from, to lethe.TransactionID) {
	for i := range s.Transactions {
		if s.Transactions[i].ID == from {
			s.Transactions[i].ID = to
		}
	}
	for i := range s.Payments {
		if p := &s.Payments[i]; p.Source == from {
			p.Source = to
		} else if p.Target == from {
			p.Target = to
		}
	}
	for i := range s.Labels {
		if s.Labels[i].ID == from {
			s.Labels[i].ID = to
		}
	}
}

// eraseTargets publishes a request for any targets and waits until it is verified.
func eraseTargets(r *running, id string, targets ...lethe.Target) {
	r.T.Helper()
	r.Submit(lethe.ErasureRequest{RequestID: id, Targets: targets})
	require.Equal(r.T, deletions.Verified, r.Outcome(id))
}

// What is produced in Unicode's form D is erased by its form C, and the other way round: in a graph, with its label and
// payments, in a dead letter, waiting for its other end, escaped in JSON, and by the subject that it carries.
func TestAnErasureOfAnotherUnicodeFormLeavesNothing(t *testing.T) {
	t.Parallel()
	decomposed := func(name string) string { return norm.NFD.String(name) }
	const plain, carried, letter, waiting, escaped = "caf\u00e9-17", "r\u00e9sum\u00e9-2", "\u00e4rger-5", "na\u00efve-8",
		"fa\u00e7ade-4"
	const customer = "Am\u00e9lie Dupr\u00e9"
	stream := servicetest.SmallStream(t, 4, 60, 41)
	two, three := servicetest.Step(stream, 2), servicetest.Step(stream, 3)
	rename(two, two.Payments[0].Source, lethe.TransactionID(decomposed(plain)))
	three.Transactions[1].Subjects = []string{decomposed(customer)}
	rename(three, three.Transactions[1].ID, lethe.TransactionID(decomposed(carried)))
	c := servicetest.SmallConfig(t, t.TempDir())
	s := start(t, c)
	s.Replay(stream)
	send(s, bus.Transactions)([]byte(decomposed(letter)),
		[]byte(`{"type":"transaction","id":"`+decomposed(letter)+`","timestep":5,"features":["1"]}`), nil)
	sendPayment(s, lethe.TransactionID(decomposed(waiting)), "other-end", 5)
	send(s, bus.Labels)([]byte(decomposed(escaped)),
		[]byte(`{"type":"label","id":"fac\u0327ade-4","timestep":5,"label":"licit"}`), nil)
	s.Quiet()
	require.Len(t, deadLetters(s), 1)

	names := []string{plain, carried, letter, waiting, escaped, customer}
	var forms []lethe.TransactionID
	for _, name := range names {
		forms = append(forms, lethe.TransactionID(name), lethe.TransactionID(decomposed(name)))
	}
	require.NotEmpty(t, servicetest.Left(t, c.DataDir, idForms(forms...)))
	plan := s.Plan(service.PlanRequest{Nodes: []string{plain, decomposed(plain), "nobody"}})
	require.Equal(t, 1, plan.Held)
	require.Equal(t, []string{"nobody"}, plan.Unknown.Nodes)
	require.Nil(t, plan.OtherSpellings)
	plan = s.Plan(service.PlanRequest{
		Nodes: []string{"CAFE\u0301-\uff117", "other-one", "a,b"}, Edges: []string{"NA\u00cfVE-8>Other-End"},
		Subjects: []string{"AM\u00c9LIE DUPR\u00c9 ", "Am\u00e9lie Durand"},
	})
	require.Equal(t, &service.UnknownTargets{
		Nodes: []string{"CAF\u00c9-\uff117"}, Edges: []string{"NA\u00cfVE-8>Other-End"},
		Subjects: []string{"AM\u00c9LIE DUPR\u00c9 "},
	}, plan.OtherSpellings)
	require.Equal(t, 1, plan.Joined)

	eraseTargets(s, "composed", lethe.Transactions(plain, letter, waiting, escaped)...)
	eraseTargets(s, "subject", lethe.SubjectThrough(customer, 3))
	eraseTargets(s, "decomposed", lethe.Transactions(lethe.TransactionID(decomposed(plain)))...)
	for _, id := range []string{"composed", "subject"} {
		for _, outcome := range outcomes(s, id) {
			require.Equal(t, deletions.OutcomeErased, outcome, id)
		}
	}
	require.Equal(t, []deletions.Outcome{deletions.OutcomeAlreadyErased}, outcomes(s, "decomposed"))
	require.Empty(t, deadLetters(s))
	requireClean(s, c.DataDir, idForms(forms...))

	// It comes again in either form, and is dropped.
	again := two.Transactions[0]
	for _, id := range []string{plain, decomposed(plain)} {
		again.ID, again.Timestep = lethe.TransactionID(id), 5
		sendTransaction(s, again)
	}
	s.Quiet()
	requireClean(s, c.DataDir, idForms(forms...))
}

// The rule is what names are stored by: with another one, neither the data directory nor the topics are gone on with.
func TestAnotherRuleOfNamesIsRefused(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallConfig(t, t.TempDir())
	s := start(t, c)
	s.Await(func(st *service.Status) bool { return st.LagRecords == 0 })
	s.Stop()
	c.Ingest.Records.Normalise = []string{"nfc", "casefold"}
	err := refused(t, c)
	require.ErrorIs(t, err, service.ErrSettings)
	require.ErrorContains(t, err, "ingest.normalise is casefold nfc here, graphs has nfc")
	require.True(t, c.HasRole(configs.RoleGraphs))
}

// By choice names are one in whatever case, with blanks around them and with any digits.
func TestFoldedNamesAreOne(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 3, 40, 43)
	two := servicetest.Step(stream, 2)
	two.Transactions[0].Subjects = []string{"Customer \uff11\uff17 "}
	rename(two, two.Transactions[1].ID, "Case-A\u0664")
	c := servicetest.SmallConfig(t, t.TempDir())
	c.Ingest.Records.Normalise = []string{"nfc", "casefold", "trim", "digits"}
	s := start(t, c)
	s.Replay(stream)
	eraseTargets(s, "folded", append(lethe.Transactions("CASE-a4"), lethe.SubjectThrough("customer 17", 2))...)
	require.Equal(t, []deletions.Outcome{deletions.OutcomeErased, deletions.OutcomeErased}, outcomes(s, "folded"))
	requireClean(s, c.DataDir, idForms("Case-A\u0664", "case-a4", "Customer \uff11\uff17", "customer 17"))
}

// What clients call themselves is in no record, and lethe has no say in it: it keeps no erasure from its end, and the
// receipt tells of it.
func TestNamesThatClientsChoseAreToldOnTheReceipt(t *testing.T) {
	t.Parallel()
	const id = "case-20000005"
	stream := servicetest.SmallStream(t, 3, 40, 47)
	rename(servicetest.Step(stream, 2), servicetest.Step(stream, 2).Transactions[0].ID, id)
	c := servicetest.SmallConfig(t, t.TempDir())
	s := start(t, c)
	s.Replay(stream)
	client := &kafka.Client{Addr: kafka.TCP(s.Brokers()...)}
	_, err := client.OffsetCommit(t.Context(), &kafka.OffsetCommitRequest{
		GroupID: id, GenerationID: -1, Topics: map[string][]kafka.OffsetCommit{
			c.Kafka.TopicPrefix + string(bus.Predictions): {{Partition: 0, Offset: 1, Metadata: id}},
		},
	})
	require.NoError(t, err)
	_, err = client.InitProducerID(t.Context(), &kafka.InitProducerIDRequest{
		TransactionalID: id, TransactionTimeoutMs: 1000,
	})
	require.NoError(t, err)
	require.Equal(t, deletions.Verified, s.Erase("names", lethe.ScopeStubs, id))
	_, err = client.DeleteGroups(t.Context(), &kafka.DeleteGroupsRequest{GroupIDs: []string{id}})
	require.NoError(t, err)
	s.Stop()
	told := strings.Join(servicetest.Receipt(t, c, "names").MayRemain, "\n")
	require.Contains(t, told, "groups.log")
	servicetest.Audited(t, audit.Options{Config: c})
	// The remedy, as it stands there.
	pids := regexp.MustCompile(`remove (\S+/pids\.log) from the data directory`).FindStringSubmatch(told)
	require.NotEmpty(t, pids, told)
	require.NoError(t, os.Remove(filepath.Join(c.DataDir, filepath.FromSlash(pids[1]))))
	s = start(t, c)
	requireClean(s, c.DataDir, idForms(id))
}

// In names that clients gave the broker no other spelling than the normal form is searched for: the receipt says so.
func TestAReceiptNamesSpellingsThatAreNotSearchedOutsideOfRecords(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 2, 60, 41)
	c := servicetest.SmallConfig(t, t.TempDir())
	c.Ingest.Records.Normalise = []string{normalise.NFC, normalise.Casefold}
	s := start(t, c)
	s.Replay(stream)
	require.Equal(t, deletions.Verified, s.Erase("digits", lethe.ScopeStubs, "20000005"))
	require.Equal(t, deletions.Verified, s.Erase("letters", lethe.ScopeStubs, "Order-20000005"))
	require.NotContains(t, servicetest.Receipt(t, c, "digits").NotSearched, scan.KindSpellings)
	letters := servicetest.Receipt(t, c, "letters")
	require.Contains(t, letters.NotSearched, scan.KindSpellings)
	require.Contains(t, strings.Join(letters.MayRemain, "\n"), "another spelling there was not")
	s.Stop()
}
