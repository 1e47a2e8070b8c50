package coordinator

import (
	"crypto"
	"crypto/ed25519"
	"crypto/sha256"
	"strings"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/authority"
	"lethe/ingest/bus"
)

// keyNamed is the key that has a name in transcripts.
func keyNamed(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

// twoMustSign has anna, who has two keys, and bert sign requests. The producer's key may not, and
// mallory's is not known.
func (d *deployment) twoMustSign() authority.Policy {
	var lines []string
	for _, one := range []struct {
		key, holder string
		role        authority.Role
	}{
		{"anna", "anna", authority.Compliance}, {"anna-2", "anna", authority.Compliance},
		{"bert", "bert", authority.Compliance}, {"producer", "feed", authority.Producer},
	} {
		lines = append(lines, authority.Line(one.role, one.holder, keyNamed(one.key).Public().(ed25519.PublicKey)))
	}
	keys, err := authority.ParseKeys([]byte(strings.Join(lines, "\n")))
	require.NoError(d, err)
	policy, err := authority.NewPolicy(authority.Config{KeysFile: "keys", Requests: 2}, keys)
	require.NoError(d, err)
	return policy
}

// write publishes a record on erasures.v1, signed as a command asks for:
//
//	sign=(anna,bert)  by these keys
//	valid=1h          for so long, a week if it is not said; 0s is for ever
//	ago=1h            so long ago
//	of=NAME           the signatures that the newest record of this key has
//	on=TOPIC          for another topic
func (d *deployment) write(td *datadriven.TestData, rec ingest.Outgoing) {
	signer := authority.Signer{Topic: string(bus.Erasures), At: d.now, Valid: 7 * 24 * time.Hour}
	for _, arg := range td.CmdArgs {
		switch arg.Key {
		case "sign":
			for _, name := range arg.Vals {
				signer.Keys = append(signer.Keys, crypto.Signer(keyNamed(name)))
			}
		case "valid":
			valid, err := time.ParseDuration(arg.Vals[0])
			require.NoError(d, err)
			signer.Valid = valid
		case "on":
			signer.Topic = arg.Vals[0]
		case "ago":
			ago, err := time.ParseDuration(arg.Vals[0])
			require.NoError(d, err)
			signer.At = d.now.Add(-ago)
		case "of":
			for _, other := range d.bus.topics[bus.Erasures] {
				if string(other.Key) == arg.Vals[0] && !other.Tombstone() {
					rec.Headers = other.Headers
				}
			}
		}
	}
	rec, err := signer.Sign(rec)
	require.NoError(d, err)
	d.bus.append(bus.Erasures, rec)
}
