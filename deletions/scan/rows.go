package scan

import "lethe"

// RowFingerprints returns the forms of one feature row, or none for a row that
// says nothing about whom it belongs to: without two different values beside 0 and
// missing ones, or too short. Unlike NodeFingerprints it does not know whether another transaction
// has the same.
func RowFingerprints(secret lethe.Secret, row []float32) ([]Fingerprint, error) {
	set := fingerprintSet{secret: secret}
	if !telling(row) {
		return nil, nil
	}
	if raw := featureBytes(row); len(raw) >= MinNeedleBytes {
		set.add(KindFeatures, raw)
	}
	if text := featureText(row); len(text) >= MinNeedleBytes {
		set.add(KindFeaturesText, text)
	}
	return set.list, set.err
}
