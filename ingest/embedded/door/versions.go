package door

import (
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// Versions are the requests that the broker answers: the versions without tagged fields, as Apache Kafka 2.3 has them
// and all clients can speak. A claimed number of tagged fields keeps the broker's decoder busy for minutes, however
// short the request. Clients send no telemetry, since nothing reads it.
func Versions() *kversion.Versions {
	v := kversion.Tip()
	for key := range int16(kmsg.MaxKey + 1) {
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
