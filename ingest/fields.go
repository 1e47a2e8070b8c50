package ingest

// fieldNamed returns the field with a name in a record.
//
//nolint:cyclop // one case a field
func fieldNamed(name string) field {
	switch name {
	case "type":
		return fieldType
	case "id":
		return fieldID
	case "timestep":
		return fieldTimestep
	case "features":
		return fieldFeatures
	case "source":
		return fieldSource
	case "target":
		return fieldTarget
	case "label":
		return fieldLabel
	case "request_id":
		return fieldRequestID
	case "nodes":
		return fieldNodes
	case "scope":
		return fieldScope
	case "reason":
		return fieldReason
	case "requested_at":
		return fieldRequestedAt
	case "nonce":
		return fieldNonce
	case "request_digest":
		return fieldRequestDigest
	case "deadline":
		return fieldDeadline
	case "hold_id":
		return fieldHoldID
	case "until":
		return fieldUntil
	case "payments":
		return fieldPayments
	case "subjects":
		return fieldSubjects
	case "features_of":
		return fieldFeaturesOf
	case "columns":
		return fieldColumns
	default:
		return noField
	}
}
