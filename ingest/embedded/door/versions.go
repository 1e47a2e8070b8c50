package door

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// Versions are the requests that the broker answers: the versions without tagged fields, as Apache Kafka 2.3 has them
// and all clients can speak. A claimed number of tagged fields keeps the broker's decoder busy for minutes, however
// short the request. Clients send no telemetry, since nothing reads it.
func Versions() *kversion.Versions {
	v := kversion.Tip()
	for key := range int16(kmsg.MaxKey + 1) {
		if key == int16(kmsg.Metadata) {
			continue // only its newer versions have the ids of topics; checkMetadata walks them
		}
		request := kmsg.RequestForKey(key)
		most, known := v.LookupMaxKeyVersion(key)
		if request == nil || !known {
			continue
		}
		for request.SetVersion(most); most >= 0 && request.IsFlexible(); request.SetVersion(most) {
			most--
		}
		v.SetMaxKeyVersion(key, most)
	}
	return v
}

var errTagged = errors.New("it has tagged fields")

// checkMetadata walks a request for metadata that may have tagged fields, header included, and refuses those that do.
func checkMetadata(r kbin.Reader, version int16) error {
	const idsFrom, clusterRightsUntil, idBytes = 10, 10, 16
	if r.Uvarint() != 0 {
		return errTagged
	}
	for n := r.CompactArrayLen(); n > 0 && r.Ok(); n-- {
		if version >= idsFrom {
			r.Span(idBytes)
		}
		r.CompactNullableString()
		if r.Uvarint() != 0 {
			return errTagged
		}
	}
	r.Bool() // topics may be created
	if version <= clusterRightsUntil {
		r.Bool()
	}
	r.Bool() // rights of topics
	if r.Uvarint() != 0 {
		return errTagged
	}
	return r.Complete()
}
