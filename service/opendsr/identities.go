package opendsr

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

const (
	typeCustomer = "controller_customer_id"
	formatRaw    = "raw"
)

// identity is a person's identity in the format of versions 1 and 2 of the specification.
type identity struct {
	Type   string `json:"identity_type"`
	Value  string `json:"identity_value,omitempty"`
	Format string `json:"identity_format"`
}

// valueOf is an identity of version 3, listed under its type.
type valueOf struct {
	Value    string `json:"value"`
	Encoding string `json:"encoding"`
}

// subjectsOf parses identities, as a list or as an object by their types. Those of controller_customer_id, raw, are
// subjects. Others are ignored, because a controller sends all that it knows of a person to every processor; their
// kinds are returned for the response. The default format of an identity is raw.
func subjectsOf(text json.RawMessage) (subjects, ignored []string, err error) {
	list, err := identitiesOf(text)
	if err != nil {
		return nil, nil, err
	}
	for i, one := range list {
		customer := strings.EqualFold(one.Type, typeCustomer)
		raw := one.Format == "" || strings.EqualFold(one.Format, formatRaw)
		switch {
		case !customer || !raw:
			ignored = append(ignored, kindOf(one))
		case one.Value == "":
			return nil, nil, refuse(fmt.Sprintf("subject_identities[%d], %s, has no value: send the customer's id, "+
				"or leave the identity out", i, typeCustomer))
		case !slices.Contains(subjects, one.Value):
			subjects = append(subjects, one.Value)
		}
	}
	slices.Sort(ignored)
	return subjects, slices.Compact(ignored), nil
}

func identitiesOf(text json.RawMessage) (list []identity, err error) {
	if len(text) == 0 || json.Unmarshal(text, &list) == nil {
		return list, nil
	}
	byType := make(map[string]valueOf)
	if json.Unmarshal(text, &byType) != nil {
		return nil, refuse("subject_identities is neither a list of objects with the strings identity_type, identity_value " +
			"and identity_format nor an object that has for each type an object with the strings value and encoding: " +
			"send one of the two, numbers in quotes")
	}
	list = nil
	for _, kind := range slices.Sorted(maps.Keys(byType)) {
		list = append(list, identity{kind, byType[kind].Value, byType[kind].Encoding})
	}
	return list, nil
}

// kindOf returns the type and the format of an identity if the specification defines them: other values are free
// text, and may be personal data.
func kindOf(one identity) string {
	return known(one.Type, "another type", typeCustomer, "email", "phone", "android_advertising_id", "android_id",
		"fire_advertising_id", "ios_advertising_id", "ios_vendor_id", "microsoft_advertising_id",
		"microsoft_publisher_id", "roku_advertising_id", "roku_publisher_id") + ", " +
		known(one.Format, "another format", formatRaw, "md5", "sha1", "sha256")
}

func known(text, otherwise string, names ...string) string {
	text = strings.ToLower(text)
	if text == "" {
		text = formatRaw
	}
	if slices.Contains(names, text) {
		return text
	}
	return otherwise
}

// butHas lists the unsupported identities of a request.
func butHas(ignored []string) string {
	if len(ignored) == 0 {
		return ""
	}
	return "; it has " + strings.Join(ignored, "; ") + ", which lethe does not hold: add the customer's id"
}
