package graphs

import (
	"context"

	"lethe/pipeline/graphs/publish"
	"lethe/pipeline/journal"
	"lethe/snapshot"
)

// readDecided reads what was decided.
func readDecided(ctx context.Context, o Options) (*publish.Decisions, error) {
	if o.standing != nil {
		return &publish.Decisions{Shared: true, Journal: o.standing.Journal()}, nil
	}
	d := new(publish.Decisions)
	var err error
	d.Journal, err = o.standing.ReadJournal(ctx, o.Bus, journal.ForGraphs, roleName, o.Instance, func(e journal.Entry) {
		if features, is := e.Decision.(journal.FeaturesDecided); is {
			d.FeatureCount = features.Count
		}
	})
	return d, err
}

// reaches reports an error unless a store has done all that was decided before this process began its epoch.
func reaches(o Options, d *publish.Decisions, store *snapshot.Store) error {
	if !d.Shared {
		return nil
	}
	at, err := publish.Position(store)
	if err == nil && d.Journal.Before().Behind(at.Place) {
		err = o.standing.StandByAgain()
	}
	return err
}
