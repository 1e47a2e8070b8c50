package ingest

import (
	"fmt"
	"strconv"

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
