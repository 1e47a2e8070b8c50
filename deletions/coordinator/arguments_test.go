package coordinator

import (
	"crypto"
	"crypto/ed25519"
	"crypto/sha256"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/authority"
	"lethe/ingest/bus"
)

func requestOf(id string, td *datadriven.TestData) lethe.ErasureRequest {
	r := lethe.ErasureRequest{RequestID: id, Scope: lethe.ScopeStubs}
	for _, arg := range td.CmdArgs[1:] {
		switch arg.Key {
		case "targets":
			for _, v := range arg.Vals {
				r.Targets = append(r.Targets, lethe.Transactions(lethe.TransactionID(v))...)
			}
		case "subject":
			key, until := subjectOf(arg.Vals[0])
			r.Targets = append(r.Targets, lethe.SubjectThrough(key, until))
		case "subjects":
			for _, v := range arg.Vals {
				r.Targets = append(r.Targets, lethe.SubjectThrough(v, lethe.NoTimestep))
			}
		case "payments":
			for _, v := range arg.Vals {
				source, target, _ := strings.Cut(v, ">")
				r.Targets = append(r.Targets, lethe.PaymentBetween(lethe.TransactionID(source), lethe.TransactionID(target)))
			}
		case "nonce":
			r.Nonce = strings.Repeat(arg.Vals[0], 32)
		case "scope":
			if r.Scope = lethe.Scope(arg.Vals[0]); r.Scope == "none" {
				r.Scope = ""
			}
		}
	}
	return r
}

// subjectOf takes a subject and a timestep apart.
func subjectOf(text string) (key string, at lethe.Timestep) {
	key, number, _ := strings.Cut(text, "@")
	t, err := strconv.Atoi(number)
	if err != nil {
		panic(err)
	}
	return key, lethe.Timestep(t)
}

func textArg(td *datadriven.TestData, name string) (text string) {
	for _, arg := range td.CmdArgs {
		if arg.Key == name {
			text = strings.Join(arg.Vals, ",")
		}
	}
	return text
}

// shortened joins what is read in a row, and leaves out a round of a search that
// is like the one before.
func shortened(told []string) (out []string) {
	for _, line := range told {
		topic, isRead := strings.CutPrefix(line, "read ")
		last := len(out) - 1
		if isRead && last >= 0 && strings.HasPrefix(out[last], "read ") {
			out[last] += " " + topic
			continue
		}
		out = append(out, line)
		const round = 3
		if n := len(out); n >= 2*round && slices.Equal(out[n-round:], out[n-2*round:n-round]) {
			out = out[:n-round]
		}
	}
	return out
}

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
