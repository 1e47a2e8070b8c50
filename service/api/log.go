package api

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"strconv"

	receipts "lethe/deletions/receipt"
	"lethe/deletions/translog"
	"lethe/pipeline/view"
)

// LogAnswer is the newest checkpoint of the transparency log.
type LogAnswer struct {
	Size int64  `json:"size"`
	Root string `json:"root"`
	// Checkpoint is the signed note.
	Checkpoint string `json:"checkpoint"`
}

func checkpoint(v *view.Reader, _ *http.Request) (any, error) {
	note, err := v.Checkpoint()
	if err == nil && note == "" {
		err = errNothing
	}
	if err != nil {
		return nil, err
	}
	tree, err := translog.ParseCheckpoint(note)
	return LogAnswer{tree.N, tree.Hash.String(), note}, err
}

// KeysAnswer has the keys that sign receipts, statuses and the log.
type KeysAnswer struct {
	// Keys are the current key and its predecessors, the newest first.
	Keys []PublicKey `json:"keys"`
}

// PublicKey is an Ed25519 key. To trust its signatures a client must know it from an independent
// source.
type PublicKey struct {
	// ID is the thumbprint by which signatures name the key (RFC 7638).
	ID string `json:"key_id"`
	// Key is its 32 bytes in base64url, the x of a JSON web key.
	Key string `json:"public_key"`
}

func (a *API) keys(*view.Reader, *http.Request) (any, error) {
	known := a.o.Keys()
	if len(known) == 0 {
		return nil, errNothing
	}
	var out KeysAnswer
	for _, key := range known {
		out.Keys = append(out.Keys, PublicKey{receipts.KeyID(key), base64.RawURLEncoding.EncodeToString(key)})
	}
	return out, nil
}

// LogLeaf is a leaf with its index.
type LogLeaf struct {
	Index int64           `json:"index"`
	Leaf  json.RawMessage `json:"leaf"`
}

func leaves(v *view.Reader, r *http.Request) (any, error) {
	q := query{r: r}
	q.only("limit", "cursor")
	limit, after := q.limit(), q.cursor()
	if q.err != nil {
		return nil, q.err
	}
	first := int64(0)
	if after != nil {
		if len(after) != 8 || after[0] > 0x7f {
			return nil, view.ErrCursor
		}
		first = int64(binary.BigEndian.Uint64(after))
	}
	list, err := v.Leaves(first, limit+1)
	if err != nil {
		return nil, err
	}
	out := Page[LogLeaf]{Items: []LogLeaf{}}
	for i, leaf := range list {
		if i == limit {
			out.NextCursor = cursorOf(binary.BigEndian.AppendUint64(nil, uint64(first)+uint64(limit)))
			break
		}
		out.Items = append(out.Items, LogLeaf{first + int64(i), leaf})
	}
	return out, nil
}

// proof responds with the inclusion proof of a leaf in the log of the newest checkpoint.
func proof(v *view.Reader, r *http.Request) (any, error) {
	index, err := strconv.ParseInt(r.PathValue("index"), 10, 64)
	if err != nil || index < 0 {
		return nil, errNothing
	}
	note, err := v.Checkpoint()
	if err != nil || note == "" {
		return nil, orMissing(err)
	}
	signed, err := translog.ParseCheckpoint(note)
	if err != nil || index >= signed.N {
		return nil, orMissing(err)
	}
	leaf, hashes, found, err := v.Prove(index, signed.N)
	if err != nil || !found {
		return nil, orMissing(err) // leaves are published before the checkpoint, and the view may be behind
	}
	return translog.Proof{Checkpoint: note, Index: index, Leaf: string(leaf), Hashes: hashes}, nil
}

func orMissing(err error) error {
	if err == nil {
		return errNothing
	}
	return err
}
