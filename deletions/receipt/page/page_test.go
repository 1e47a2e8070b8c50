package page_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/receipt"
	"lethe/deletions/receipt/page"
	"lethe/deletions/scan"
)

var at = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func shown(t *testing.T, p page.Page) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, page.Write(&out, p))
	return out.String()
}

func sample() page.Page {
	ms := int64(1234)
	return page.Page{
		Receipt: receipt.Receipt{
			RequestID: "gdpr-17", State: deletions.Verified, Scope: lethe.ScopeStubs, RequestedAt: at,
			VerifiedAt: at.Add(time.Minute), Elapsed: deletions.Elapsed{Swapped: &ms},
			Outcomes: []deletions.TargetOutcome{
				{Outcome: deletions.OutcomeErased}, {Outcome: deletions.OutcomeNothingHeld}, {Outcome: deletions.OutcomeErased},
			},
			Timesteps:       []lethe.Timestep{3},
			SlicesReplaced:  []deletions.SliceRef{{Timestep: 3, Shard: 1}, {Timestep: 3, Shard: 4}},
			ShardsRetrained: []lethe.ShardID{1, 4}, Scan: scan.Summary{Files: 12, Records: 890},
			Artefacts: []receipt.ArtefactRow{
				{Artefact: receipt.SnapshotRows, Location: "stores", Action: receipt.Rewritten, Found: 2},
				{
					Artefact: receipt.KafkaTopics, Location: "records of others that named a target",
					Action: receipt.Rewritten, Found: 5,
				},
			},
			MayRemain: []string{"predictions of others"}, SoftwareVersion: "1.2", KernelSet: "fma",
			Backups: []receipt.KeptBackup{{ID: "backup-1", CreatedAt: at, ExpiresAt: at.Add(720 * time.Hour)}},
		},
		Verification: receipt.Verification{
			Valid: true, Signatures: []receipt.SignatureCheck{{KeyID: "ed25519:ab", Known: true, Valid: true}},
		},
		Log: "leaf 7 of the 12 of lethe/abc", CheckedAt: at,
	}
}

// text is what a person reads, in one line.
func text(html string) string {
	html = regexp.MustCompile(`(?s)<style>.*?</style>`).ReplaceAllString(html, "")
	return strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(html, " ")), " ")
}

func TestThePageSaysWhatTheReceiptSays(t *testing.T) {
	read := text(shown(t, sample()))
	for _, want := range []string{
		"Valid. Checked on 1 March 2026, 12:00:00 UTC", "Everything searched on 1 March 2026, 12:01:00 UTC",
		"records of others that named a target rewritten 5 0",
		"Targets 2 erased, 1 nothing held", "Scope stubs", "2 slices of 2 shards in 1 timesteps",
		"the models that are served never saw them 1.23 s", "nothing about the targets left any more –",
		"snapshot rows stores rewritten 2 0", "12 files and 890 records, 0 hits", "predictions of others",
		"backup-1 1 March 2026, 12:00:00 UTC 31 March 2026, 12:00:00 UTC", "ed25519:ab , a key that is trusted",
		"leaf 7 of the 12 of lethe/abc", "lethe 1.2, kernels fma",
	} {
		require.Contains(t, read, want)
	}
}

// V26: the first line of a receipt over nothing says so, before the verdict on its signatures.
func TestReceiptPage_NothingHeld_SaysSoFirst(t *testing.T) {
	p := sample()
	p.Receipt.Outcomes = []deletions.TargetOutcome{{Outcome: deletions.OutcomeNothingHeld}}
	read := text(shown(t, p))
	require.Contains(t, read, "gdpr-17 Nothing was held of any target: nothing was erased. Valid.")
	require.NotContains(t, read, "State verified")
}

// V31: the page names the keys that have signed the request.
func TestReceiptPage_NamesWhoSignedTheRequest(t *testing.T) {
	p := sample()
	p.Receipt.SignedBy = []string{"key-of-anna", "key-of-bert"}
	require.Contains(t, text(shown(t, p)), "Request signed by key-of-anna Request signed by key-of-bert")
}

func TestWhatIsNotValidSaysSoFirst(t *testing.T) {
	p := sample()
	p.Verification.Valid, p.Verification.Problems = false, []string{"payload: it was altered"}
	read := text(shown(t, p))
	require.Contains(t, read, "Not valid. Nothing below counts. payload: it was altered")
	require.NotContains(t, read, "Valid. Checked")
	require.Less(t, strings.Index(read, "Not valid"), strings.Index(read, "What was done"))
}

// What a receipt holds is text, whatever it looks like, and the page asks nobody for anything.
func TestNothingOfAReceiptIsTakenForHTML(t *testing.T) {
	p := sample()
	const evil = `</code><script src="https://example.org/x.js"></script>`
	p.Receipt.RequestID, p.Receipt.MayRemain = evil, []string{evil}
	p.Verification.Problems, p.Verification.Valid, p.Log = []string{evil}, false, evil
	html := shown(t, p)
	require.NotContains(t, html, "<script")
	require.Equal(t, 5, strings.Count(html, "&lt;script"))
	require.NotRegexp(t, `(?i)(src|href)\s*=`, regexp.MustCompile(`&lt;script src`).ReplaceAllString(html, ""))
	require.Contains(t, html, "default-src 'none'")
}

// Tags are closed in the order in which they were opened.
func TestThePageIsWellFormed(t *testing.T) {
	html := regexp.MustCompile(`(?s)<style>.*?</style>`).ReplaceAllString(shown(t, sample()), "")
	html = regexp.MustCompile(`<meta [^>]*>|<!doctype html>`).ReplaceAllString(html, "")
	decoder := xml.NewDecoder(strings.NewReader(html))
	for {
		_, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
	}
}
