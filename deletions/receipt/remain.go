package receipt

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/scan"
)

// MayRemain returns the data that an erasure at this scope leaves, in the receipt's words.
//
// With independent shards, the other transactions' assignment is as it would be without the records.
func MayRemain(scope lethe.Scope, independentShards bool) []string {
	var out []string
	switch scope {
	case lethe.ScopeShard:
		out = append(out,
			"Slices of other shards keep the stubs that stood for the erased records: "+
				"the number of neighbours of a joined record, and no feature "+
				"of the erased one. Models of those shards were trained with them.")
	case lethe.ScopeStubs, lethe.ScopePartition:
	}
	if scope != lethe.ScopePartition && !independentShards {
		out = append(out, partitionResidue)
	}
	return append(out,
		"Predictions of other transactions that were sent before the erasure stay as they were sent; "+
			"a model that knew the erased records may have made them.",
		"The ledger and the suppression list keep keyed hashes of the ids and keyed fingerprints of the records, "+
			"so that the records are refused if they return and can be searched for. "+
			"They cannot be linked to the records without the deployment's secret.",
		"Copies that were made outside lethe, and what the storage below the file system keeps of unlinked files, "+
			"are not covered.")
}

const partitionResidue = "The assignment of the other transactions of the timestep to shards was computed " +
	"with the erased records and is kept."

// ReasonsStay declares the remains of reasons, behind MayRemain.
const ReasonsStay = "Reasons that were sent with predictions of other transactions stay as they were sent, but those " +
	"of transactions that had a payment with an erased record: these were made anew."

// FeaturesStay declares the remains of transactions with erased features, behind MayRemain.
const FeaturesStay = "Of a transaction of which features were erased, its other features, its id and the prediction " +
	"that was made of it before stay."

// InSpellings declares that other spellings were searched in records only.
func InSpellings(notSearched []scan.Kind) []string {
	if !slices.Contains(notSearched, scan.KindSpellings) {
		return nil
	}
	return []string{"Records were searched for every spelling that counts as the same name. Outside of records, as in " +
		"names that clients gave a broker, the normal form was searched for, and Unicode's form D: " +
		"another spelling there was not."}
}

// GoneFolders declares the folders not searched.
func GoneFolders(list []deletions.GoneFolder) (out []string) {
	for _, g := range list {
		what := fmt.Sprintf("The folder of role %s in the data directory of instance %.8s was not searched: an operator "+
			"declared that directory gone for good (lethe run --take-over) at %s, and another one plays the role since. "+
			"If it is still there, it may hold the records.", g.Role, g.Instance, g.DeclaredAt.Format(time.RFC3339))
		if g.Struck {
			what = fmt.Sprintf("The folder of role %s in the data directory of instance %.8s was not searched: an operator "+
				"declared that directory gone for good and struck it off (lethe members strike, or lethe run --take-over) "+
				"at %s. If it is still there, it may hold the records.", g.Role, g.Instance, g.DeclaredAt.Format(time.RFC3339))
		}
		if g.Earlier > 0 {
			what = fmt.Sprintf("The folders of role %s in %d data directories before those were not searched, for the same "+
				"reason.", g.Role, g.Earlier)
		}
		out = append(out, what)
	}
	return out
}

// InBackups declares backups that may hold the records.
func InBackups(list []KeptBackup) (out []string) {
	for _, b := range list {
		out = append(out, fmt.Sprintf("Backup %s of %s may hold the records. It is to be destroyed by %s; put back before, "+
			"it has them erased again.", b.ID, b.CreatedAt.Format(time.RFC3339), b.ExpiresAt.Format(time.RFC3339)))
	}
	return out
}

// InUnreadable declares the batches not searched.
func InUnreadable(searched []deletions.PlaceSearch) (out []string) {
	for _, place := range searched {
		for _, u := range place.Unreadable {
			out = append(out, fmt.Sprintf("Offsets %d to %d of %s partition %d (%d bytes, SHA-256 %s) were not searched: "+
				"nobody can read them. If records there name a target, as a payment with it does, they still do.", u.First, u.Last,
				place.Place, u.Partition, u.Bytes, u.SHA256))
		}
	}
	return out
}

// InHeldRequests declares held requests whose own records name something erased.
func InHeldRequests(list []deletions.HeldRequest) (out []string) {
	for _, h := range list {
		holds := "was held until just before"
		switch {
		case len(h.Holds) == 0 && h.Unsigned:
			holds = "waits for the signature of one more person"
		case len(h.Holds) > 0:
			holds = "waits for the hold " + strings.Join(h.Holds, ", ")
		}
		out = append(out, fmt.Sprintf("Request %s %s. Its own record in erasures.v1 names something that was erased here, "+
			"and goes when that request has been carried out or cancelled.", h.RequestID, holds))
	}
	return out
}

// InClientNames declares names chosen by clients that contain something erased.
func InClientNames(searched []deletions.PlaceSearch) (out []string) {
	for _, p := range searched {
		if p.ClientNames > 0 {
			out = append(out, fmt.Sprintf("Clients of the embedded broker chose names that hold something that was erased, in "+
				"%d places of its files groups.log and pids.log: a consumer group, metadata of a commit or a transactional id. "+
				"Delete the consumer group, have the producer take another transactional id, then stop lethe, remove "+
				"broker/log/pids.log from the data directory, and start it.", p.ClientNames))
		}
	}
	return out
}
