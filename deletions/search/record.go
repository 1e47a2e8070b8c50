package search

import (
	"encoding/json"
	"slices"

	"lethe"
	"lethe/deletions/scan"
	"lethe/ingest"
)

// Found searches every part of a record, raw and decoded. Features are not searched for in its code, which is random:
// as broken JSON it may have any.
func Found(scanner *scan.Scanner, rec ingest.Record) []scan.Hit {
	hits := scanner.MatchRecord(rec.Key, rec.Parts()...)
	isCode := func(h ingest.Header) bool { return h.Key == ingest.CodeHeader }
	if !slices.ContainsFunc(hits, ofFeatures) || !slices.ContainsFunc(rec.Headers, isCode) {
		return hits
	}
	rec.Headers = slices.DeleteFunc(slices.Clone(rec.Headers), isCode)
	features := scanner.MatchRecord(rec.Key, rec.Parts()...)
	return slices.DeleteFunc(hits, func(h scan.Hit) bool { return ofFeatures(h) && !slices.Contains(features, h) })
}

// Hits is Found, without features of another transaction that has the same ones: they are its own.
func Hits(scanner *scan.Scanner, rec ingest.Record) []scan.Hit {
	hits := Found(scanner, rec)
	if ofAnother(rec, hits) {
		return nil
	}
	return hits
}

// ofAnother reports whether all hits are features in another transaction's intact record.
func ofAnother(rec ingest.Record, hits []scan.Hit) bool {
	if len(hits) == 0 || slices.ContainsFunc(hits, func(h scan.Hit) bool { return !IsFeatures(h.Kind) }) {
		return false
	}
	var tx struct {
		ID lethe.TransactionID `json:"id"`
	}
	return json.Unmarshal(rec.Value, &tx) == nil && tx.ID != "" && string(rec.Key) == string(tx.ID)
}

// Stripped returns another transaction's record without erased names, and whether nothing is found in it afterwards.
// A record with an erased subject must go as a whole.
func Stripped(scanner *scan.Scanner, rec ingest.Record) (_ ingest.Record, ok bool) {
	if rec.Tombstone() || slices.ContainsFunc(Hits(scanner, rec), ofSubject) {
		return rec, false
	}
	return ingest.Stripped(rec, func(part ingest.Record) bool {
		return len(slices.DeleteFunc(Hits(scanner, part), ofSubject)) > 0
	})
}

// IsFeatures reports whether fingerprints of a kind are of features.
func IsFeatures(k scan.Kind) bool { return k == scan.KindFeatures || k == scan.KindFeaturesText }

func ofSubject(h scan.Hit) bool { return h.Kind == scan.KindSubject }

func ofFeatures(h scan.Hit) bool { return h.Kind == scan.KindFeaturesOf }

// namesTarget reports whether a hit is not only of features.
func namesTarget(hits []scan.Hit) bool {
	return slices.ContainsFunc(hits, func(h scan.Hit) bool { return !ofFeatures(h) && !IsFeatures(h.Kind) })
}
