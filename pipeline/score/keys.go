package score

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/ingest/bus"
	"lethe/internal/mixedstore"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
)

// Prefixes of the store's keys. Timesteps and shards are big-endian so that
// they sort.
const (
	offsetPrefix     = "o/" // topic/partition -> next offset
	placeKey         = "j"  // the last entry of the journal that was done
	lostKey          = "l"  // the folder was lost, and not all of its timesteps are read again
	servedKey        = "e"  // the models of the served ensemble, by shard
	kindsKey         = "k"  // how many models an ensemble has, and whether one is a meta-model
	modelPrefix      = "m/" // timestep, shard, digest -> checkpoint
	candidatePrefix  = "c/" // timestep, shard -> digest of the checkpoint that arrived last, revision
	manifestPrefix   = "f/" // timestep -> revision, manifest
	snapshotPrefix   = "g/" // timestep -> canonical snapshot with unscored transactions
	linkPrefix       = "n/" // timestep -> link
	pinPrefix        = "p/" // timestep -> the models for its reasons, by shard
	publishedPrefix  = "r/" // timestep -> published probabilities
	explainedPrefix  = "w/" // timestep -> alerts with and without published reasons
	suppressedPrefix = "x/" // suppression hash
	subjectPrefix    = "y/" // suppression hash of a subject: its last suppressed timestep
	redactedPrefix   = "z/" // suppression hash of features: their columns
)

// filePrefixes are the prefixes of values with records, or results computed from them: each is a file, which is
// unlinked when it is replaced or deleted.
func filePrefixes() []string {
	return []string{modelPrefix, manifestPrefix, snapshotPrefix, publishedPrefix, explainedPrefix}
}

// storeFormat is the version of these keys and their values.
func storeFormat() swapstore.Format { return swapstore.Format{Kind: "score-state", Version: 2} }

// candidate is the place of a checkpoint that arrived.
type candidate struct {
	timestep lethe.Timestep
	shard    lethe.ShardID
}

// model identifies a stored checkpoint. Its digest distinguishes those before and after an erasure, which both exist
// until the ensemble is swapped.
type model struct {
	candidate
	digest lethe.Digest
}

func (m model) key() []byte { return append(m.keyUnder(modelPrefix), m.digest[:]...) }

func modelOf(key []byte) (m model, err error) { return splitModel(modelPrefix, key, nil) }

// key is the key of the candidate's digest. The last candidate and the offset of messages become durable together.
func (c candidate) key() []byte { return c.keyUnder(candidatePrefix) }

// candidateOf decodes an entry of a candidate.
func candidateOf(key, value []byte) (m model, r lethe.Revision, err error) {
	if want := len(m.digest) + 4; len(value) != want {
		return m, 0, fmt.Errorf("candidate has %d bytes, want %d", len(value), want)
	}
	digest := value[:len(m.digest)]
	r = lethe.Revision(binary.BigEndian.Uint32(value[len(digest):]))
	m, err = splitModel(candidatePrefix, key, digest)
	return m, r, err
}

func encodeCandidate(digest lethe.Digest, r lethe.Revision) []byte {
	return binary.BigEndian.AppendUint32(digest[:], uint32(r))
}

func (c candidate) keyUnder(prefix string) []byte {
	return binary.BigEndian.AppendUint32(timestepkey.New(prefix, c.timestep), uint32(c.shard))
}

// splitModel decodes a key under a prefix; the digest ends the key, or follows it.
func splitModel(prefix string, key, digest []byte) (m model, err error) {
	t, rest, err := timestepkey.Cut(prefix, key)
	if err != nil {
		return m, err
	}
	rest = append(bytes.Clone(rest), digest...)
	if len(rest) != 4+len(m.digest) {
		return m, fmt.Errorf("key of a model has %d bytes behind the timestep, want %d", len(rest), 4+len(m.digest))
	}
	m.timestep, m.shard = t, lethe.ShardID(binary.BigEndian.Uint32(rest))
	copy(m.digest[:], rest[4:])
	return m, nil
}

// encodeServed lists the models of an ensemble, by shard.
func encodeServed(models []model) []byte {
	var out []byte
	for _, m := range models {
		out = append(binary.BigEndian.AppendUint64(out, uint64(m.timestep)), m.digest[:]...)
	}
	return out
}

func decodeServed(value []byte) ([]model, error) {
	const each = 8 + len(lethe.Digest{})
	if len(value)%each != 0 {
		return nil, fmt.Errorf("list of served models has %d bytes, want a multiple of %d", len(value), each)
	}
	out := make([]model, len(value)/each)
	for i := range out {
		at := value[i*each:]
		out[i].timestep, out[i].shard = lethe.Timestep(binary.BigEndian.Uint64(at)), lethe.ShardID(i)
		copy(out[i].digest[:], at[8:])
	}
	return out, nil
}

func offsetKey(tp bus.TopicPartition) []byte {
	return append([]byte(offsetPrefix), tp.String()...)
}

func subjectKey(d lethe.Digest) []byte { return append([]byte(subjectPrefix), d[:]...) }

func suppressedKey(d lethe.Digest) []byte { return append([]byte(suppressedPrefix), d[:]...) }

// link is the state of a snapshot in the stream.
type link struct {
	revision lethe.Revision
	// previous is the closed timestep before it, or NoTimestep.
	previous lethe.Timestep
	// done is set once the snapshot was scored, or had no ensemble before it.
	done bool
	// late means that transactions joined it since and wait to be scored.
	late bool
	// owed are the reasons to be published.
	owed owed
}

// owed is a set of kinds of reasons to be published.
type owed uint8

const (
	owesNothing owed = iota
	// owesNew is for alerts that were just published.
	owesNew
	// owesAgain is for alerts that lost neighbours by an erasure: reasons are made again once the ensemble has forgotten
	// them.
	owesAgain
)

const lateMark, newMark, againMark = " late", " reasons", " reasons again"

func (l link) encode() []byte {
	out := fmt.Appendf(nil, "%d %d %t", l.revision, l.previous, l.done)
	if l.late {
		out = append(out, lateMark...)
	}
	return append(out, [...]string{"", newMark, againMark}[l.owed]...)
}

func decodeLink(value []byte) (l link, err error) {
	fields, again := strings.CutSuffix(string(value), againMark)
	if again {
		l.owed = owesAgain
	} else if rest, found := strings.CutSuffix(fields, newMark); found {
		fields, l.owed = rest, owesNew
	}
	fields, l.late = strings.CutSuffix(fields, lateMark)
	_, err = fmt.Sscanf(fields, "%d %d %t", &l.revision, &l.previous, &l.done)
	if err != nil {
		return link{}, fmt.Errorf("link %q: %w", value, err)
	}
	return l, nil
}

// withRevision puts a revision before a value.
func withRevision(r lethe.Revision, value []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(r)), value...)
}

func splitRevision(value []byte) (lethe.Revision, []byte, error) {
	if len(value) < 4 {
		return 0, nil, fmt.Errorf("value of %s bytes has no revision", strconv.Itoa(len(value)))
	}
	return lethe.Revision(binary.BigEndian.Uint32(value)), value[4:], nil
}

func redactedKey(d lethe.Digest) []byte { return append([]byte(redactedPrefix), d[:]...) }

// openStore opens the store in the role's folder.
func openStore(fs vfs.FS, dir string) (*mixedstore.Store, error) {
	store, err := mixedstore.Open(fs, stateDir(dir), storeFormat(), filePrefixes()...)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	return store, nil
}
