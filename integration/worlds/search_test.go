package worlds

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/residue"
	"lethe/internal/swapstore"
)

// wantedOf is what must not be found of the targets: ids and pseudonyms, and rows of
// features that nobody else has.
func wantedOf(w world) (out []residue.Form) {
	targets := w.targets()
	own, others := make(map[[features]uint32][]float32), make(map[[features]uint32][]float32)
	for _, e := range w.events {
		if len(e.row) != features || slices.Contains(e.row, 0) {
			continue // The bytes of zeros may stand anywhere.
		}
		rows := others
		if e.erased(targets) || string(e.redacted(targets).record.Value) != string(e.record.Value) {
			rows = own
		}
		var bits [features]uint32 // a missing feature does not equal itself
		for i, v := range e.row {
			bits[i] = math.Float32bits(v)
		}
		rows[bits] = e.row
	}
	for _, target := range targets {
		switch target.Kind {
		case lethe.PaymentTarget:
			for _, source := range w.spellings(target.Payment.Source) {
				for _, to := range w.spellings(target.Payment.Target) {
					payment := lethe.Payment{Source: source, Target: to}
					out = append(out, w.aloneAsPayment(residue.OfPayment(secret, payment, w.last+1), payment)...)
				}
			}
		case lethe.FeaturesTarget:
			out = append(out, residue.OfFeatures(target.Transaction, target.Columns))
		case lethe.SubjectTarget:
			if !slices.ContainsFunc(w.events, func(e event) bool {
				return slices.Contains(e.subjects, target.Subject) && !e.carries(target)
			}) {
				out = append(out, residue.OfSubject(secret, target.Subject)...)
			}
		default:
			for _, id := range w.spellings(target.Transaction) {
				out = append(out, w.alone(residue.OfID(secret, id), id)...)
			}
		}
	}
	for bits, row := range own {
		if others[bits] == nil {
			out = append(out, residue.OfRow(row)...)
		}
	}
	return out
}

// search looks through every topic, every file and every receipt and says where
// something is left. It decodes what is written in JSON, valid or broken, in any spelling. What
// requests that wait for a hold name in their own records is not counted.
func (d *deployment) search(ctx context.Context, wanted []residue.Form) ([]string, error) {
	var found []string
	note := func(place string, data []byte) {
		if names := residue.In(wanted, data); len(names) > 0 {
			found = append(found, strings.Join(names, ", ")+" in "+place)
		}
	}
	statuses, err := d.statuses(ctx)
	if err != nil {
		return nil, err
	}
	for _, topic := range bus.Topics() {
		err := d.topics.ReadEvery(ctx, topic, func(rec ingest.Record) error {
			if topic == bus.Erasures && statuses[string(rec.Key)].State == deletions.Held {
				return nil
			}
			place := fmt.Sprintf("%s/%d@%d", topic, rec.Partition, rec.Offset)
			if names := residue.In(wanted, rec.Key); len(names) > 0 {
				found = append(found, strings.Join(names, ", ")+" in "+place+" key")
			} else {
				note(place+" key", quoted(string(rec.Key)))
			}
			note(place, rec.Value)
			for _, h := range rec.Headers {
				note(place+" header "+h.Key, h.Value)
			}
			return nil
		}, nil)
		if err != nil {
			return nil, err
		}
	}
	folders := map[string]fs.FS{"receipts": os.DirFS(d.receipts)}
	all := slices.Concat(d.crew.folders(), d.folders(ofGraphs, "/build"), d.folders(ofScore, "/score"), []string{"/view"})
	for _, folder := range all {
		folders[folder] = swapstore.Files(d.disk, folder)
	}
	for folder, files := range folders {
		err := fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
			note("the name of "+folder+"/"+path, []byte(path))
			if err != nil || entry.IsDir() {
				return err
			}
			data, err := fs.ReadFile(files, path)
			note(folder+"/"+path, data)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(found)
	return found, nil
}
