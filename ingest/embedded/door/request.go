package door

import (
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// headerBytes is the smallest header: kind, version, correlation id, length of the client's id.
const headerBytes = 10

// checked is a request that is well formed.
type checked struct {
	// hasResponse is false for a produce request whose client wants none.
	hasResponse bool
	// answer is the whole response to a request that the broker must not process, and reason why.
	answer []byte
	reason string
}

func (o *Options) maxBytes(key int16) int64 {
	if key == int16(kmsg.Produce) {
		return o.MaxRequestBytes
	}
	return o.MaxOtherBytes
}

// check parses a request as the broker does. An error ends the connection.
func check(raw []byte, o *Options) (_ checked, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a request cannot be parsed: %v", p)
		}
	}()
	reader := kbin.Reader{Src: raw}
	key, version, correlation := reader.Int16(), reader.Int16(), reader.Int32()
	most, known := o.Versions.LookupMaxKeyVersion(key)
	request := kmsg.RequestForKey(key)
	if !known || request == nil {
		return checked{}, fmt.Errorf("requests of kind %d are unknown", key)
	}
	if key == int16(kmsg.ApiVersions) && version > most {
		return refuseVersions(correlation), nil
	}
	if version < 0 || version > most {
		return checked{}, fmt.Errorf("%s in version %d, want 0 to %d", kmsg.NameForKey(key), version, most)
	}
	request.SetVersion(version)
	reader.NullableString()   // the client's id
	if request.IsFlexible() { // a request for metadata
		if err := errors.Join(reader.Complete(), checkMetadata(reader, version)); err != nil {
			return checked{}, fmt.Errorf("%s in version %d: %w", kmsg.NameForKey(key), version, err)
		}
		reader.Uvarint() // no tagged fields
	}
	if err := errors.Join(reader.Complete(), request.ReadFrom(reader.Src)); err != nil {
		return checked{}, fmt.Errorf("%s in version %d cannot be parsed: %w", kmsg.NameForKey(key), version, err)
	}
	return judge(request, correlation, o)
}
