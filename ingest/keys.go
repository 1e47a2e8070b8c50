package ingest

import (
	"fmt"
	"strconv"
	"strings"

	"lethe"
)

// controlPrefix starts the keys of control records; no transaction id does.
const controlPrefix = "!"

const markerPrefix = controlPrefix + "marker/"

// TransactionKey is the key of a transaction and of its label.
func TransactionKey(id lethe.TransactionID) []byte { return []byte(id) }

// PaymentKey is the key of a payment.
func PaymentKey(source, target lethe.TransactionID) []byte {
	return []byte(string(source) + ">" + string(target))
}

// CloseKey is the key of the close of one partition.
func CloseKey(t lethe.Timestep, partition int) []byte {
	return fmt.Appendf(nil, "%sclose/%d/%d", controlPrefix, t, partition)
}

// SettleKey is the key of the settle of one partition.
func SettleKey(t lethe.Timestep, partition int) []byte {
	return fmt.Appendf(nil, "%ssettle/%d/%d", controlPrefix, t, partition)
}

// MarkerKey is the key of the marker of one partition. It is the same every
// time, so that compaction retains only one marker.
func MarkerKey(partition int) []byte {
	return []byte(markerPrefix + strconv.Itoa(partition))
}

// tombstone returns the event of a tombstone with the given key. The key of a payment contains '>',
// which no id contains. A key that is not a valid id deletes nothing: lethe accepts no such record,
// and writes such tombstones itself to withdraw rejected records.
func tombstone(key string, payments bool) Event {
	source, target, joined := strings.Cut(key, ">")
	switch {
	case joined && payments && lethe.ValidID(source) && lethe.ValidID(target):
		return PaymentTombstone{lethe.TransactionID(source), lethe.TransactionID(target)}
	case lethe.ValidID(key):
		return TransactionTombstone{lethe.TransactionID(key)}
	default:
		return Ignored{}
	}
}
