package scan

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"lethe"
)

// An id may be a word that lethe, Pebble or the broker write themselves, such as
// "illicit" or "close". Its bytes stand in records of anybody and in every folder, so
// they say nothing about it. Such an id is looked for in fields that hold ids, and as a
// key; its pseudonym, which no word is, stands next to it wherever lethe keeps it.

// wordBytes is the length from which an id can be a word. Shorter ones are found by
// chance, and are searched in delimited forms whatever they are.
const wordBytes = 4

// isListed reports whether the list has a word.
func isListed(word string) bool {
	return strings.Contains(words, " "+strings.ToLower(word)+" ")
}

// isWord reports whether an id, or each of its parts, is a word.
func isWord(id string) bool {
	if len(id) < wordBytes {
		return false
	}
	parts := strings.FieldsFunc(id, func(r rune) bool { return r > 127 || !joins(byte(r)) })
	return len(parts) > 0 && !slices.ContainsFunc(parts, func(part string) bool { return !isListed(part) })
}

// field is what the name of a field says about a string in it.
type field int

const (
	anyField field = iota
	idField
	// plainField is a field of the record formats that holds no id.
	plainField
)

func fieldOf(name string) field {
	switch name {
	case "id", "source", "target", "transaction", "nodes":
		return idField
	case "type", "label", "timestep", "features", "scope", "nonce", "requested_at":
		return plainField
	default:
		return anyField
	}
}

// mayHold reports whether a string there that reads as an id is one.
func (f field) mayHold(id string) bool {
	if isWord(id) {
		return f == idField
	}
	return f != plainField
}

// NotSearched returns the forms in which an id would be searched for if it were not a
// word, ascending.
func NotSearched(id lethe.TransactionID) []Kind {
	switch {
	case !isWord(string(id)):
		return nil
	case len(id) >= BoundedIDBytes:
		return []Kind{KindID}
	default:
		return []Kind{KindIDFramed, KindIDQuoted}
	}
}

// words stand in lethe's records, receipts and stores, in Pebble's files and in the
// topics, in small letters.
const words = " " +
	"accepted acks acls action affected after age aggregated aggregation algorithm alone already anchor another " +
	"apply artefact artefacts assignment at attempt attempts away backoff backups base based before below bits " +
	"block blocks bloom body both broker brokers build by bytes bytewisecomparator cache cannot certain change " +
	"check checkpoint checkpoints checksum chunk chunks clamp class classes cleanable cleaner cleanup close " +
	"closed cluster code collector collectors column columnar commit compact compaction compactions comparator " +
	"comparatorleveldb comparer components compression compressionnocompression computed concatenate concluded " +
	"concurrency concurrent config configs conflict content continual copies copy count counts covered created " +
	"cross current data date dead debt decay decimal default defaultkeyschema degree delay delete deleted " +
	"deletion deletions dense deployment detail dict digest directed dirty disable disk disposition dlq downloads " +
	"duplicate early ed25519 edge edges elided elliptic embedded empty enable enabled endpoint ends ensemble " +
	"entries entry epoch epochs erase erased erasure erasures error errors event events false feature features " +
	"field file files filter fingerprint fingerprints finite flush format formats found fraction free from full " +
	"garbage global graph graphs group groups hack hash hashes have header headers held heuristic hex hidden high " +
	"history hits hour id ids ignored illicit index ingest inside instance instances interval is kafka keep keeps " +
	"kept kernel kernels keyed keys kind knew known label labels large last late latest layer layers leaf " +
	"learning ledger length less lethe letter letters level leveldb libc licit lifetime limit linear linked list " +
	"loaded local location lock logistic loop macs made magic magnitude major malformed manifest marker markers " +
	"maximum mean member merge merged merger message meta method minimum missing mixup model models multilevel " +
	"multiplier name named needle newest next nocompression node nodes nonce none null number object obsolete of " +
	"offset offsets once only open operand operands operator optimiser options optionswindow order other outcome " +
	"outcomes outside pack parent part partial partition partitions pass passes payload payment payments pebble " +
	"pending phase pids place places point policy prediction predictions prefix previous probabilities " +
	"probability progress propagation properties property pseudonym public purge purged quality quotas quoted " +
	"random range rate ratio reason received recomputed reconcile record records refused rejected remain " +
	"remaining repair repeats replaced replica replicas replication request requests restart result results " +
	"retention retrain retrained retraining return returned revision revisions rewrite rewriting rewritten " +
	"rocksdb role roles roll rolling rows sage sampling sasl scale scan scanned schedule schema scope score " +
	"scored scores search searched second secondary seconds secret seed segment segments self sent sequence " +
	"served service set settings settle settled sha256 shard shards shared shutdown side signature similarity " +
	"size skip slice slices snapshot snapshots software sorted source sources space split sstable stable start " +
	"started state states static status stay step steps stop stopped storage store stores strategy strict stub " +
	"stubs subject success suppress suppressed suppression swap swapped switch sync system table tables tail " +
	"target targets test text that them then they threshold through time timeout times timestamp timestep " +
	"timesteps to tombstone tombstoned tombstones topic topics total train trained trainer training transaction " +
	"transactions tree trees true type types uint uncompressed unconfirmed undirected unknown unlinked " +
	"unparseable updated used user v1 v2 validate value values vector vectors verification verified verify " +
	"verifying version watermark weight weights were what whole window windows with withdrawn withheld without " +
	"words write writes zero zstd "

// tokens are those of a JSON text, one after another: nothing of a text is kept, however long it is. A text that is
// broken is read as if it were whole as far as that goes.
type tokens struct {
	text []byte
	at   int
}

// token is one of { } [ ], or a string, without its quotes, or something else, such as a number.
type token struct {
	kind byte
	raw  []byte
}

const (
	stringToken  = '"'
	literalToken = '0'
	noToken      = 0
)

// next returns the next one, or one of no kind at the end. Commas and colons are none.
func (t *tokens) next() token {
	for ; t.at < len(t.text); t.at++ {
		switch c := t.text[t.at]; c {
		case ' ', '\t', '\r', '\n', ',', ':':
		case '{', '}', '[', ']':
			t.at++
			return token{kind: c}
		case '"':
			from := t.at + 1
			to := closingQuote(t.text, from)
			t.at = to + 1
			return token{stringToken, t.text[min(from, to):to]}
		default:
			from := t.at
			for t.at++; t.at < len(t.text) && !endsLiteral(t.text[t.at]); {
				t.at++
			}
			return token{literalToken, t.text[from:t.at]}
		}
	}
	return token{}
}

func endsLiteral(c byte) bool { return isSpace(c) || bytes.IndexByte([]byte(",:{}[]"), c) >= 0 }

// opens reports whether values follow that belong to it.
func (t token) opens() bool { return t.kind == '{' || t.kind == '[' }

// closes reports whether it ends those.
func (t token) closes() bool { return t.kind == '}' || t.kind == ']' }

// isNull reports whether it is null.
func (t token) isNull() bool { return t.kind == literalToken && string(t.raw) == missingText }

// said is what a string says.
func (t token) said() string {
	if bytes.IndexByte(t.raw, '\\') < 0 && utf8.Valid(t.raw) {
		return string(t.raw)
	}
	var out string
	quoted := append(append([]byte{'"'}, t.raw...), '"')
	if json.Unmarshal(quoted, &out) != nil {
		return string(unescape(t.raw))
	}
	return out
}

// pastValue goes past the value that a token begins.
func (t *tokens) pastValue(first token) {
	for depth := 0; ; first = t.next() {
		switch {
		case first.opens():
			depth++
		case first.closes():
			depth--
		}
		if depth <= 0 || first.kind == noToken {
			return
		}
	}
}
