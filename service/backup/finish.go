package backup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lethe/configs"
	"lethe/deletions"
	"lethe/deletions/backups"
	"lethe/deletions/disk"
	"lethe/internal/sleep"
	"lethe/internal/swapstore"
	"lethe/pipeline/requests"
	"lethe/service"
)

// Again is the result of repeated erasures. The JSON names are part of the command line.
type Again struct {
	// Requests are those made by lethe itself, and Targets counts their targets.
	Requests []string `json:"requests"`
	Targets  int      `json:"targets"`
	// Held are the requests that wait for a hold: lethe run continues with them.
	Held []string `json:"held"`
	// Ended are requests that were in progress when the backup was restored, with their current
	// state.
	Ended map[string]string `json:"ended"`
}

// Finish repeats, in a service that is not reachable from outside, the erasures since the backup
// was made, and then allows the directory to be used.
func Finish(ctx context.Context, c configs.Config, version string, logger *slog.Logger) (a Again, err error) {
	a = Again{Requests: []string{}, Held: []string{}, Ended: map[string]string{}}
	note, found, err := lastNote(c)
	if err != nil {
		return a, err
	}
	if found {
		if err := carryOut(ctx, c, version, logger, &a, note); err != nil {
			return a, fmt.Errorf("%s is not finished (remove it and put the backup back again): %w", c.DataDir, err)
		}
	}
	return a, os.Remove(filepath.Join(c.DataDir, service.RestoringName))
}

// lastNote reads the note about the restored backup.
func lastNote(c configs.Config) (note backups.Restored, found bool, err error) {
	if !c.UsesEmbeddedBroker() {
		return note, false, nil
	}
	err = withLedger(c, func(store *swapstore.Store) error {
		note, found, err = backups.Last(disk.KV(store))
		return err
	})
	return note, found, err
}

func carryOut(
	ctx context.Context, c configs.Config, version string, logger *slog.Logger, a *Again, note backups.Restored,
) (err error) {
	// The service must not be reachable at its usual addresses.
	c.HTTP.Address, c.Embedded.Port = "127.0.0.1:0", 0
	o := service.Defaults(c, version, logger)
	o.Restoring = true
	s, err := service.New(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.Run(running) }()
	err = a.await(ctx, s.Client(), note, ended)
	stop()
	if failed := <-ended; err == nil {
		err = failed
	}
	return err
}

const pollEvery = 200 * time.Millisecond

// await waits until every request made by lethe itself is verified or held.
func (a *Again) await(
	ctx context.Context, topics requests.Bus, note backups.Restored, ended chan error,
) error {
	statuses := requests.Follow(topics)
	for {
		list, err := statuses.List(ctx)
		if err != nil {
			return err
		}
		open := a.take(list, note)
		// The topic is read completely each time: a deletion may have been compacted, and is then
		// visible only by absence.
		asked, err := note.Published(ctx, topics)
		if err != nil {
			return err
		}
		if asked <= len(a.Held) && open == 0 {
			return nil
		}
		select {
		case err := <-ended:
			ended <- nil
			return errors.Join(errors.New("the service ended"), err)
		default:
		}
		if err := sleep.For(ctx, pollEvery); err != nil {
			return err
		}
	}
}

// take stores the states of the requests and returns the number of open ones.
func (a *Again) take(list []deletions.Status, note backups.Restored) (open int) {
	a.Requests, a.Held, a.Targets = a.Requests[:0], a.Held[:0], 0
	for _, s := range list {
		for _, id := range note.UnderWay {
			if s.RequestID == id {
				a.Ended[id] = string(s.State)
			}
		}
		if !strings.HasPrefix(s.RequestID, note.Prefix()) {
			continue
		}
		a.Requests, a.Targets = append(a.Requests, s.RequestID), a.Targets+s.Counts.Targets
		switch s.State {
		case deletions.Verified:
		case deletions.Held:
			a.Held = append(a.Held, s.RequestID)
		default:
			open++
		}
	}
	return open
}
