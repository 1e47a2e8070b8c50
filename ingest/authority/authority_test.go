package authority_test

import (
	"crypto"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/authority"
	"lethe/internal/jws"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func keyNamed(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

func public(name string) ed25519.PublicKey { return keyNamed(name).Public().(ed25519.PublicKey) }

func keys(t *testing.T) authority.Keys {
	k, err := authority.ParseKeys([]byte(strings.Join([]string{
		"# who may say what", "",
		authority.Line(authority.Compliance, "anna", public("anna")) + " # at her desk",
		authority.Line(authority.Compliance, "anna", public("anna-2")),
		authority.Line(authority.Compliance, "bert", public("bert")),
		authority.Line(authority.Producer, "feed", public("feed")),
	}, "\n")))
	require.NoError(t, err)
	return k
}

// read is how a record that was written stands in a topic.
func read(topic string, rec ingest.Outgoing) ingest.Record {
	return ingest.Record{Topic: topic, Key: rec.Key, Value: rec.Value, Headers: rec.Headers}
}

func closing(t *testing.T, signer authority.Signer) ingest.Outgoing {
	key, value := ingest.EncodeClose(1, 0)
	rec, err := signer.Sign(ingest.Outgoing{Key: key, Value: value, Headers: []ingest.Header{{Key: "other"}}})
	require.NoError(t, err)
	return rec
}

// Every statement of a signature is looked at, and the refusal says which one fails.
func TestTheStatementThatFailsIsNamed(t *testing.T) {
	const topic = "lethe.transactions.v1"
	by := func(names ...string) authority.Signer {
		s := authority.Signer{Topic: topic, At: noon}
		for _, name := range names {
			s.Keys = append(s.Keys, keyNamed(name))
		}
		return s
	}
	elsewhere := by("feed")
	elsewhere.Topic = "test.transactions.v1"
	altered := read(topic, closing(t, by("feed")))
	altered.Value = []byte(`{"type":"close","timestep":2}`)
	partition := read(topic, closing(t, by("feed")))
	partition.Key = ingest.CloseKey(1, 1)
	broken := read(topic, closing(t, by("feed")))
	broken.Headers = append(broken.Headers, ingest.Header{Key: "lethe.jws", Value: []byte("{}")})
	anothers := read(topic, closing(t, by("feed")))
	text := string(anothers.Headers[1].Value)
	anothers.Headers[1].Value = []byte(strings.Replace(text, `"signature":"`, `"signature":"AA`, 1))
	timeless := read(topic, closing(t, authority.Signer{Topic: topic, At: time.Unix(0, 0), Keys: by("feed").Keys}))
	feed := jws.Thumbprint(public("feed"))
	for name, c := range map[string]struct {
		rec    ingest.Record
		reason ingest.Reason
		detail string
	}{
		"unsigned":                {read(topic, closing(t, by())), ingest.Unsigned, "by a key of the role producer"},
		"unknown":                 {read(topic, closing(t, by("mallory"))), ingest.UnknownKey, "is not in the file of keys"},
		"role":                    {read(topic, closing(t, by("anna"))), ingest.WrongRole, "role compliance, not producer"},
		"one right and one wrong": {read(topic, closing(t, by("feed", "mallory"))), ingest.UnknownKey, "mallory"},
		"another value":           {altered, ingest.BadSignature, "the signature of key " + feed + " is not of this record"},
		"another partition":       {partition, ingest.BadSignature, "for another key of the topic"},
		"another deployment":      {read(topic, closing(t, elsewhere)), ingest.BadSignature, "for another topic"},
		"no signatures":           {broken, ingest.BadSignature, "signatures: "},
		"no time":                 {timeless, ingest.BadSignature, "without saying when"},
		"another signature":       {anothers, ingest.BadSignature, "is not of this record"},
	} {
		_, refusal := keys(t).Check(c.rec, authority.Producer)
		require.NotNil(t, refusal, name)
		require.Equal(t, c.reason, refusal.Reason, "%s: %s", name, refusal.Detail)
		if c.detail != "mallory" {
			require.Contains(t, refusal.Detail, c.detail, name)
		}
	}
	signed, refusal := keys(t).Check(read(topic, closing(t, by("feed"))), authority.Producer)
	require.Nil(t, refusal)
	require.Equal(t, authority.Signed{By: []string{feed}, At: noon}, signed, "it counts for ever")
}

func TestSignaturesHaveTheirTime(t *testing.T) {
	signer := authority.Signer{Topic: "t", At: noon, Valid: time.Hour, Keys: []crypto.Signer{keyNamed("feed")}}
	signed, refusal := keys(t).Check(read("t", closing(t, signer)), authority.Producer)
	require.Nil(t, refusal)
	require.Nil(t, signed.InTime(noon.Add(59*time.Minute)))
	require.Equal(t, "it expired at 2026-03-01T13:00:00Z", signed.InTime(noon.Add(time.Hour)).Detail)
	require.Nil(t, signed.InTime(noon.Add(-9*time.Minute)), "the clocks differ")
	require.Equal(t, ingest.SignatureExpired, signed.InTime(noon.Add(-11*time.Minute)).Reason)

	signer.Valid = 0
	signed, refusal = keys(t).Check(read("t", closing(t, signer)), authority.Producer)
	require.Nil(t, refusal, "control records count for ever")
	refusal = signed.InTime(noon)
	require.NotNil(t, refusal, "nothing else does")
	require.Equal(t, ingest.BadSignature, refusal.Reason)
	require.Contains(t, refusal.Detail, "until when")
}

// Two keys of one person are one person; a key that was taken from the file is nobody's.
func TestHoldersAreCountedNotKeys(t *testing.T) {
	id := func(name string) string { return jws.Thumbprint(public(name)) }
	k := keys(t)
	require.Equal(t, 1, k.Holders([]string{id("anna"), id("anna-2"), id("anna")}))
	require.Equal(t, 2, k.Holders([]string{id("anna-2"), id("bert")}))
	require.Equal(t, 1, k.Holders([]string{id("bert"), id("feed"), id("mallory")}))
	require.Equal(t, 2, k.Count(authority.Compliance))
}

func TestFilesOfKeys(t *testing.T) {
	line := authority.Line(authority.Producer, "feed", public("feed"))
	for text, want := range map[string]string{
		"producer feed":                       "line 1: 2 words, want three: role, name and key",
		"\nboss feed " + line[len(line)-43:]:  `line 2: role "boss", want producer, compliance or admin`,
		"producer feed AAAA":                  "line 1: the key is not the 43 characters",
		line + "\n" + line:                    "line 2: the key stands there twice",
		fmt.Sprintf("producer %065d AAAA", 1): "line 1: a holder has a name of 1 to 64 bytes",
	} {
		_, err := authority.ParseKeys([]byte(text))
		require.ErrorIs(t, err, authority.ErrKeys)
		require.ErrorContains(t, err, want)
	}
}

// A requirement that nobody could fulfil ends a start.
func TestRequirementsCanBeFulfilled(t *testing.T) {
	c := authority.Config{KeysFile: "f", Requests: 2, Control: true}
	_, err := authority.NewPolicy(c, keys(t))
	require.NoError(t, err)
	alone, err := authority.ParseKeys([]byte(authority.Line(authority.Compliance, "anna", public("anna"))))
	require.NoError(t, err)
	_, err = authority.NewPolicy(c, alone)
	require.ErrorContains(t, err, "1 holders")
	require.Error(t, authority.Config{Requests: 1}.Validate(), "no file")
	require.Error(t, authority.Config{Requests: 3, KeysFile: "f"}.Validate())
}

// What is rejected for its signature has a way out, as docs/topics.md has it: it is signed anew by a key that may, or
// the file of keys has the key.
func TestEveryReasonOfSignatures_WayOut_IsAccepted(t *testing.T) {
	const topic = "lethe.transactions.v1"
	by := func(name string) authority.Signer {
		return authority.Signer{Topic: topic, At: noon, Valid: time.Hour, Keys: []crypto.Signer{keyNamed(name)}}
	}
	elsewhere := by("feed")
	elsewhere.Topic = "test.transactions.v1"
	unsigned := by("feed")
	unsigned.Keys = nil
	check := func(k authority.Keys, rec ingest.Outgoing, at time.Time) *ingest.Refusal {
		signed, refusal := k.Check(read(topic, rec), authority.Producer)
		if refusal == nil {
			refusal = signed.InTime(at)
		}
		return refusal
	}
	feed := closing(t, by("feed"))
	for _, c := range []struct {
		reason   ingest.Reason
		rejected ingest.Outgoing
		at       time.Time
		mended   ingest.Outgoing
		keys     string
	}{
		{ingest.Unsigned, closing(t, unsigned), noon, feed, ""},
		{ingest.UnknownKey, closing(t, by("mallory")), noon, closing(t, by("mallory")), "mallory"},
		{ingest.WrongRole, closing(t, by("anna")), noon, feed, ""},
		{ingest.BadSignature, closing(t, elsewhere), noon, feed, ""},
		{ingest.SignatureExpired, feed, noon.Add(-time.Hour), closing(t, authority.Signer{
			Topic: topic, At: noon.Add(-time.Hour), Valid: time.Hour, Keys: by("feed").Keys}), ""},
	} {
		refusal := check(keys(t), c.rejected, c.at)
		require.NotNil(t, refusal, c.reason)
		require.Equal(t, c.reason, refusal.Reason)
		known := keys(t)
		if c.keys != "" {
			var err error
			known, err = authority.ParseKeys([]byte(authority.Line(authority.Producer, c.keys, public(c.keys))))
			require.NoError(t, err)
		}
		require.Nil(t, check(known, c.mended, c.at), c.reason)
	}
}
