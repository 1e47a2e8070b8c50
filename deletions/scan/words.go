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

// wordBytes is the length from which an id can be a word, and quotedIDBytes that from which it is searched in quotes.
// Shorter ones are found by chance, and are searched in delimited forms whatever they are.
const wordBytes, quotedIDBytes = 3, 4

// isListed reports whether a list has a word.
func isListed(word string) bool {
	word = " " + strings.ToLower(word) + " "
	return strings.Contains(words, word) || strings.Contains(ownWords, word)
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
	case len(id) < quotedIDBytes:
		return []Kind{KindIDFramed}
	default:
		return []Kind{KindIDFramed, KindIDQuoted}
	}
}

// words stand in Pebble's files and in those of brokers, in small letters.
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

// ownWords are those of the texts that lethe may write: made from the sources of the packages that write records and
// files (go test ./deletions/scan -run OwnWords -rewrite).
const ownWords = " " +
	"0123456789abcdef 016d 016x 02t15 04d 06d 08x 1m30s 200s 20q 40q 43q abcdefghijklmnop " +
	"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz0123456789 aborted absent accept accepted access accuracy ack " +
	"acknowledged acks acls act1 action actor add additionalproperties address adds adj admin advice affected after " +
	"again age aggregated aggregation ahead alert alerts alg algorithm all allow allowed alone alpha already altered " +
	"among anchor and anew anneal another answer answers any anyof api application apply appnp approve architecture " +
	"are array arrive artefact artefacts asked assign assignment asyncapi att attempt attempts attention auc audience " +
	"auth authentication auto average avro avx avx2 awaits away back backoff backup backups bad balance balanced " +
	"barrier base base64 based batch batches batchnorm bearer been before began begin begins begun behind bekm belong " +
	"belongs below best beta beyond bfnrt bias binary bindings bins bits blend block blocks bloom blpa body boolean " +
	"boosted both bounds broker brokers budget buffer buffers build but byte bytes bytewisecomparator c2sp cache " +
	"calibration came can cancel canceled cancelled candidate cannot canonical carried carrier carries centre centres " +
	"certain certificate change changed changes channel channels character characters cheaper check checkpoint " +
	"checkpoints checksum child chose chunk chunks cipher ciphertext claim clamp class classes clean cleanable cleaned " +
	"cleaner cleanup client clients clock close closed cluster code collector collectors colon column columnar columns " +
	"come comes comma command commas commit commitment commitments commits compact compacted compaction compactions " +
	"comparator comparatorleveldb comparer compares compliance component components compression " +
	"compressionnocompression computed concatenate concluded concurrency concurrent config configs configuration " +
	"conflict confluent connection connections consistency consumer content contenttype continual continuation " +
	"contribution control conv conv1 converged convert copies copy correct corrupt could count counted counts covered " +
	"cpu create created creates cross csv current cut damaged dat data date dead deadline deal debt debug decay " +
	"decided decimal decision declared decode decrypt dedupe deed deep default defaultcontenttype defaultkeyschema " +
	"defaults degree delay delete deleted deletes deletion deletions denied dense deployment depth descend " +
	"describeconfigs described description destroyed detail dial dict did differ differs digest digester digestof " +
	"digits dimensions dir directed direction directories directory dirty disable disk disks disposition distance " +
	"divided dlq does domain downloads draft drift dropout dropped dst due duplicate duration each earlier early " +
	"ed25519 edge edgelist edges elapsed elided elliptic elu embedded empty enable enabled encrypt encryption end " +
	"ended endpoint ends engine enough ensemble entries entry environment epoch epochs eps equal erase erased erasure " +
	"erasures error errors escape estimated estimates even event events every everything exact exist exp expected " +
	"expired expires explained extra factor failed failure fairness false fast fc1 fc2 feature features fetch field " +
	"fields file files filter final finding finds fingerprint fingerprints finite first fit float32 flush fma folder " +
	"folders for force forest forget forgotten form format formats forms found four fraction framed free from full " +
	"gain garbage gat gatv2 gave gcn gen gin give given global goes golden gone good got gpfb graph graphs group " +
	"groups grow hack had hand handler has hash hashes have header headers heads held help here heuristic hex " +
	"hexadecimal hidden high history hits hold holds home hop hops host hosts hour how http https hubs identity idle " +
	"ids ignored illicit independent index indices indptr infinite info ingest init inline input inputs insecure " +
	"inside instance instances insync integer intercept internal interval intn introduces invalid isotonic issuer " +
	"items iterations its itself january joined joins journal json jump just jws kafka keep keeps kept kernel kernels " +
	"key keyed keys keystore kid kind kms knew know known knows label labelled labels lag large last late lateness " +
	"later latest layer layers layout lbld lcal lckp leader leaf learn learned learning learnt least leaves ledger " +
	"left length lengths less lethe letter letters level leveldb levels lgbt lgen lgrs lgvn libc licit lifetime lift " +
	"lifted limit limits lin lin1 lin2 line lineage linear linked list literal llin llrg lman lmcf lmet lmln loaded " +
	"local location lock log logappendtime login logistic logit logits logs long longest look loop lopt loss lost lpmh " +
	"lslc lsnp lstk luni mac machine macro macs made magic magnitude major making malformed manifest many marker " +
	"markers mask max maximum may mean mechanism member members memory merge merged merger message messages meta " +
	"metadata method metrics min minimum mirror mismatch missing mixup mlp mlp3 model models moments more most mount " +
	"move moved much multilevel multiplier must name named names namespace nearest needed needle needs negative " +
	"neighbours nested network never newer newest next nobody nocompression node nodes nonce none norm normal " +
	"normalise not note nothing now npy null number numpy oauthbearer object objective obsolete octet off offset " +
	"offsets oidc older omitempty omitted omitzero once one only open openblas opendsr operand operands operation " +
	"operations operator operators optimiser options optionswindow order org origin other others out outcome outcomes " +
	"output outside over overdue overflows own owner owners pack paid pair pairs parameters parent parse part partial " +
	"partition partitions partly parts pass passes password path patience pattern payload payment payments pebble pem " +
	"pending per permanent permission permutation persist person phase pids place places plain plaintext plan platt " +
	"plays point policy port portable position positions positive posteriors precision prediction predictions prefix " +
	"prefixed present previous principal printable prints private probabilities probability probe problem problems " +
	"process processor producer progress projection proof propagate propagation properties property proposed protected " +
	"protobuf protocols provisional pseudonym pseudonyms pub public published purge purged put quality quiet quotas " +
	"quoted quotes rack random range rate ratio reaches read readable reader reads reason reasons reassign " +
	"rebuildsegments recall receipt receipts receive received recent recomputed reconcile record records redacted ref " +
	"refine refitted refused regression rejected release relu remain remainder remaining remote remove removed reopen " +
	"reopened repair repeats replaced replaces replay replayable replayed replica replicas replication republished " +
	"request requested requests required rescue resource response restart restore restored result results retain " +
	"retention retrain retrained retraining retried return returned returns revision revisions rewrite rewriting " +
	"rewritten rfc right rocksdb role roles roll rolled rolling root rotate rotation rounds route row rows run running " +
	"sage said salt salts same sampling sasl saying scale scan scanned schedule schema schemaformat sclose scope " +
	"scopes score scored scores scoring scram seal sealed search searched second secondary seconds secret section seed " +
	"segment segments self send sent sequence serializer serializers served server service session set setting " +
	"settings settle settled setup several sgc sha sha256 shard shards share shared shares short shown shutdown side " +
	"signature signatures signed signing similarity since size sizes skip slack sleeps slice slices slow snapshot " +
	"snapshots software somebody something sorted source sources space spaces spelling spellings spent split src " +
	"ssettle ssl sst sstable stable stack staging stands start started state statement states static status stay stays " +
	"step steps still stood stop stopped storage store stored stores strategy stream strict strike string struck stub " +
	"stubs subject subjects submit success such suites sum summary sums supergat superseded supported suppress " +
	"suppressed suppression surrogate swap swapped swaps sweeps switch sync system table tables tabular tail take " +
	"taken takes target targets tau tcp teleport temperature test testdata text texts than that the them then there " +
	"these they this those threads threshold through thumbprint tie time timeout times timestamp timestep timesteps " +
	"title tlog tls tmp token tokens tombstone tombstoned tombstones too topic topics total traces train trained " +
	"trainer training transaction transactional transactions transcripts transit transition transparency tree trees " +
	"tries true truncated trusted truth try twice two txs typ type types ubjects uint uncompressed unconfirmed under " +
	"undirected unicode union unknown unlearnt unlinked unpacking unparseable unproven unread unreadable unsigned " +
	"unsupported until update updated upstream url use used user username utc utf uxxxx valid validate value values " +
	"var vault vector vectors verification verified verify verifying version view wait waiting waits want wants warn " +
	"was watermark way webhook webhooks weight weights were what when where whether which who whole whom whose why " +
	"will window windows with withdrawn withheld without words workers would write writes written wrong yaml yet zero " +
	"zstd "

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
