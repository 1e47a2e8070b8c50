package receipts

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/configs"
	"lethe/deletions/translog"
	"lethe/integration/process"
	"lethe/internal/jws"
)

// statement is what another program expects of a signed receipt: RFC 7515, section 7.2.1.
type statement struct {
	Payload    string      `json:"payload"`
	Signatures []signature `json:"signatures"`
	// Log is a member of lethe's own, which others pass over.
	Log string `json:"log,omitempty"`
}

type signature struct {
	Protected string `json:"protected"`
	Signature string `json:"signature"`
	// Header is the unprotected one, which lethe does not write.
	Header map[string]string `json:"header,omitempty"`
}

// signer is a key in the two files of it.
type signer struct {
	key             ed25519.PrivateKey
	private, public string
}

func newSigner(t *testing.T, folder string, first byte) signer {
	t.Helper()
	s := signer{
		key:     ed25519.NewKeyFromSeed(append([]byte{first}, make([]byte, ed25519.SeedSize-1)...)),
		private: filepath.Join(folder, fmt.Sprintf("%d.pem", first)),
		public:  filepath.Join(folder, fmt.Sprintf("%d.pub.pem", first)),
	}
	private, err := x509.MarshalPKCS8PrivateKey(s.key)
	require.NoError(t, err)
	public, err := x509.MarshalPKIXPublicKey(s.key.Public())
	require.NoError(t, err)
	for path, block := range map[string]*pem.Block{
		s.private: {Type: "PRIVATE KEY", Bytes: private}, s.public: {Type: "PUBLIC KEY", Bytes: public},
	} {
		require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(block), 0o600))
	}
	return s
}

// erased runs a small deployment that forgets a transaction, and returns its receipt and the
// key it has pinned.
func erased(t *testing.T, bin string) (receipt, publicKey string) {
	t.Helper()
	dir, stream := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "stream")
	r := process.Run(t, bin, "generate", "--out", stream, "--steps", "4", "--nodes-per-step", "60", "--features", "6",
		"--seed", "3")
	require.Zero(t, r.Code, r.Stderr)
	r = process.Run(t, bin, "demo", "--dataset", stream, "--data-dir", dir, "--json", "--set", "partition.shards=3",
		"--set", "trainer.hidden=8", "--set", "trainer.model=elliptic-gin", "--set", "repair.one_hop=false")
	require.Zero(t, r.Code, r.Stderr)
	receipts, err := filepath.Glob(filepath.Join(dir, "receipts", "*.json"))
	require.NoError(t, err)
	require.Len(t, receipts, 1)
	return receipts[0], filepath.Join(dir, "keys", "receipt-ed25519.pub.pem")
}

// stage is a receipt as it was signed, and as others would like to have it.
type stage struct {
	t      *testing.T
	bin    string
	folder string
	// good is what the deployment has signed, and both what an auditor has signed as well.
	good, both string
	// pinned is the deployment's public key.
	pinned         string
	auditor, other signer
	signed         statement
	// hostile are receipts that nobody may believe, with the statement by which lethe refuses.
	hostile map[string]string
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{t: t, bin: process.Build(t), folder: t.TempDir()}
	s.good, s.pinned = erased(t, s.bin)
	s.auditor, s.other = newSigner(t, s.folder, 1), newSigner(t, s.folder, 2)
	s.both = filepath.Join(s.folder, "countersigned.json")
	r := process.Run(t, s.bin, "receipt", "countersign", s.good, "--key", s.auditor.private, "--public-key", s.pinned,
		"--out", s.both)
	require.Zero(t, r.Code, r.Stderr)
	data, err := os.ReadFile(s.good)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &s.signed))
	s.hostile = s.tamper()
	return s
}

// with writes an altered receipt.
func (s *stage) with(name string, alter func(*statement)) string {
	s.t.Helper()
	altered := statement{s.signed.Payload, append([]signature(nil), s.signed.Signatures...), s.signed.Log}
	alter(&altered)
	data, err := json.Marshal(altered)
	require.NoError(s.t, err)
	path := filepath.Join(s.folder, name+".json")
	require.NoError(s.t, os.WriteFile(path, data, 0o600))
	return path
}

// replaced replaces what a base64url text says.
func replaced(t *testing.T, text, old, by string) string {
	t.Helper()
	said, err := base64.RawURLEncoding.DecodeString(text)
	require.NoError(t, err)
	require.Contains(t, string(said), old)
	return base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(string(said), old, by, 1)))
}

// deployment is the id that the receipt states.
func (s *stage) deployment() (id string) {
	s.t.Helper()
	text, err := base64.RawURLEncoding.DecodeString(s.signed.Payload)
	require.NoError(s.t, err)
	var said struct{ Deployment string }
	require.NoError(s.t, json.Unmarshal(text, &said))
	return said.Deployment
}

// kid is the name of the deployment's key.
func (s *stage) kid() string {
	s.t.Helper()
	key, err := configs.ReadPublicKey(s.pinned)
	require.NoError(s.t, err)
	return jws.Thumbprint(key)
}

// tamper makes the receipts that nobody may believe.
func (s *stage) tamper() map[string]string {
	return map[string]string{
		s.with("field", func(d *statement) {
			d.Payload = replaced(s.t, d.Payload, `"scope":"stubs"`, `"scope":"shard"`)
		}): "signature: it does not belong to payload",
		s.with("forged", func(d *statement) {
			one := &d.Signatures[0]
			forged := ed25519.Sign(s.other.key, []byte(one.Protected+"."+d.Payload))
			one.Signature = base64.RawURLEncoding.EncodeToString(forged)
		}): "signature: it does not belong to payload",
		s.with("deployment", func(d *statement) {
			// What another deployment signs, and says that it is of that.
			d.Payload = replaced(s.t, d.Payload, s.deployment(), strings.Repeat("5", 32))
			one, public := &d.Signatures[0], s.other.key.Public().(ed25519.PublicKey)
			one.Protected = replaced(s.t, one.Protected, s.kid(), jws.Thumbprint(public))
			by := ed25519.Sign(s.other.key, []byte(one.Protected+"."+d.Payload))
			one.Signature = base64.RawURLEncoding.EncodeToString(by)
		}): "kid: no signature is by the trusted key",
		s.with("none", func(d *statement) {
			d.Signatures[0] = signature{Protected: replaced(s.t, d.Signatures[0].Protected, "EdDSA", "none")}
		}): `alg: "none", want EdDSA`,
		s.with("stripped", func(d *statement) { d.Signatures = []signature{} }): "signature: there is none",
	}
}

// What lethe signs, others verify unmodified, and what was tampered with they refuse as lethe
// does.
func TestOthersVerifyReceipts(t *testing.T) {
	some(t, "python3", "node")
	s := newStage(t)
	var unprotected []string
	for name, header := range map[string]map[string]string{"alg": {"alg": "none"}, "kid": {"kid": "another"}} {
		receipt := s.with("unprotected-"+name, func(d *statement) { d.Signatures[0].Header = header })
		unprotected = append(unprotected, receipt)
		r := process.Run(t, s.bin, "receipt", "verify", receipt, "--public-key", s.pinned)
		require.Equal(t, 1, r.Code)
		require.Contains(t, r.Stderr, `a member "/signatures/0/header" that nobody has signed`)
	}
	for name, install := range map[string]func(*testing.T) checker{"python": python, "node": node} {
		t.Run(name, func(t *testing.T) {
			check := install(t)
			for _, c := range []struct{ receipt, key string }{
				{s.good, s.pinned}, {s.both, s.pinned}, {s.both, s.auditor.public},
			} {
				for library, said := range check(t, c.receipt, c.key) {
					require.Equal(t, found, said, "%s: %s under %s", library, c.receipt, c.key)
				}
			}
			refuses(t, check(t, s.good, s.other.public), "another key")
			for receipt := range s.hostile {
				refuses(t, check(t, receipt, s.pinned), receipt)
			}
			// The compact form, which PyJWT reads, has no such header.
			for _, receipt := range unprotected {
				said := check(t, receipt, s.pinned)
				delete(said, "PyJWT")
				refuses(t, said, receipt)
			}
		})
	}
	for receipt, want := range s.hostile {
		r := process.Run(t, s.bin, "receipt", "verify", receipt, "--public-key", s.pinned)
		require.Equal(t, 1, r.Code, receipt)
		require.Contains(t, r.Stderr, want)
	}
}

// A receipt carries the proof that it is in its deployment's log: lethe refuses one without,
// or with another's, though its signature holds.
func TestTheProofGoesWithTheReceipt(t *testing.T) {
	s := newStage(t)
	alone := filepath.Join(s.folder, "alone.json")
	data, err := os.ReadFile(s.good)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(alone, data, 0o600))
	r := process.Run(t, s.bin, "receipt", "verify", alone, "--public-key", s.pinned)
	require.Zero(t, r.Code, r.Stderr)
	require.Contains(t, r.Stdout, "lethe.log/")
	for name, c := range map[string]struct{ old, by, want string }{
		"unlogged":     {s.signed.Log, "", "log: nothing shows that it is in the transparency log"},
		"another-leaf": {"index ", "index 1", "log: the leaf is not in the log of the checkpoint"},
		"another-log":  {"lethe.log/", "lethe.log/f", "log: the checkpoint is of another log"},
		"forged-note": {"\n\u2014 lethe.log", "\n\u2014 lethe.lag",
			"log: the checkpoint is not signed by the key of this log"},
		"another-proof": {"extra ", "extra eyJ9", "log: "},
	} {
		path := s.with(name, func(d *statement) {
			require.Contains(t, d.Log, c.old)
			d.Log = strings.Replace(d.Log, c.old, c.by, 1)
		})
		r := process.Run(t, s.bin, "receipt", "verify", path, "--public-key", s.pinned)
		require.Equal(t, 1, r.Code, name)
		require.Contains(t, r.Stderr, c.want, name)
	}
}

// Where an auditor must have signed too, a checkpoint of the log counts by the deployment's key
// alone: who countersigns could make a log of his own. The deployment's key is the first.
func TestACheckpointOfTheAuditorIsNotTheDeployments(t *testing.T) {
	s := newStage(t)
	verify := func(receipt string, keys ...string) process.Result {
		args := []string{"receipt", "verify", receipt}
		for _, key := range keys {
			args = append(args, "--public-key", key)
		}
		return process.Run(t, s.bin, args...)
	}
	r := verify(s.both, s.pinned, s.auditor.public)
	require.Zero(t, r.Code, r.Stderr)

	var both statement
	data, err := os.ReadFile(s.both)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &both))
	proof, err := translog.ParseProof(both.Log)
	require.NoError(t, err)
	said, err := translog.ParseCheckpoint(proof.Checkpoint)
	require.NoError(t, err)
	signer, err := translog.NewSigner(said.Origin, s.auditor.key)
	require.NoError(t, err)
	again, err := signer.Sign(said.Tree)
	require.NoError(t, err)
	proof.Checkpoint = again.Note
	path := s.with("auditors-log", func(d *statement) { *d = both; d.Log = proof.Text() })
	r = verify(path, s.pinned, s.auditor.public)
	require.Equal(t, 1, r.Code)
	require.Contains(t, r.Stderr, "log: the checkpoint is not signed by the key of this log")

	r = verify(s.both, s.auditor.public, s.pinned)
	require.Equal(t, 1, r.Code)
	require.Contains(t, r.Stderr, "that is the first --public-key, an auditor's comes behind it")
}

// refuses wants every library to refuse a signature.
func refuses(t *testing.T, said map[string]string, what string) {
	t.Helper()
	asked := 0
	for _, library := range []string{"PyJWT", "jwcrypto", "jose"} {
		if answer, is := said[library]; is {
			require.NotEqual(t, found, answer, "%s: %s", library, what)
			asked++
		}
	}
	require.Positive(t, asked)
}
