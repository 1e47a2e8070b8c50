package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lethe/ingest/bus"
	"lethe/internal/atomicfile"
)

// TopicsPath is the file of a data directory with the ids of its topics, which distinguish topics
// of the same name that were created one after the other.
func TopicsPath(dataDir string) string { return filepath.Join(dataDir, "topics") }

// errOtherTopics is returned at a start on topics that were created again.
var errOtherTopics = errors.New("topics were deleted and created again since lethe ran on this data directory: the " +
	"positions in it are of other records (put the broker's log and the data directory back from copies of one time, " +
	"or start over with an empty data directory)")

// topicWatch is the service in its check of topic ids.
type topicWatch struct{ *Service }

// errOtherPrefix is returned at a start with another prefix than the data directory was created
// with.
var errOtherPrefix = errors.New("other topics than lethe ran with on this data directory: the positions in it are of " +
	"records of those (give kafka.topic_prefix as it was, or start over with an empty data directory)")

// recorded returns the ids of the topics that the data directory was created with, by name.
func (s topicWatch) recorded() (then map[string]string, err error) {
	path := TopicsPath(s.config.DataDir)
	then = make(map[string]string)
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &then)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w (put it back from a copy of the data directory; or remove it, if you know that no "+
			"topic was deleted since the last stop: the next start writes it again)", path, err)
	}
	return then, nil
}

// sameTopics rejects topics that are all unknown to the data directory. If they held as many records as had been
// read from the known ones, it would go unnoticed that the earlier records are not read.
func (s topicWatch) sameTopics() error {
	then, err := s.recorded()
	if err != nil || len(then) == 0 {
		return err
	}
	for _, t := range bus.Topics() {
		if _, known := then[s.client.Name(t)]; known {
			return nil
		}
	}
	return fmt.Errorf("%s and others: %w", s.client.Name(bus.Transactions), errOtherPrefix)
}

// begin compares the topics with those that the data directory was created with, and stores the new
// ones.
func (s topicWatch) begin(ctx context.Context) error {
	now, err := s.client.Admin().Identities(ctx)
	if err != nil {
		return err
	}
	then, err := s.recorded()
	if err != nil {
		return err
	}
	s.identities = now
	if s.others = differing(then, now); len(s.others) > 0 {
		return nil
	}
	known := maps.Clone(then)
	maps.Copy(known, now)
	if maps.Equal(known, then) {
		return nil
	}
	text, err := json.MarshalIndent(known, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(TopicsPath(s.config.DataDir), append(text, '\n'), 0o644)
}

// refusal is the error of a start on topics that were created again. Roles that can identify lost records report those
// before.
func (s topicWatch) refusal() error {
	if len(s.others) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %w", strings.Join(s.others, ", "), errOtherTopics)
}

// differing returns the names whose values differ in both maps.
func differing(then, now map[string]string) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if was, known := then[name]; known && was != now[name] {
			names = append(names, name)
		}
	}
	return names
}

// look reports topics that differ from their required configuration, and those that were created again, to the health
// checks. Without a response it does nothing: the outage of brokers is reported elsewhere.
func (s topicWatch) look(ctx context.Context) {
	if now, err := s.client.Admin().Identities(ctx); err == nil {
		for _, name := range differing(s.identities, now) {
			s.outages.lastingly(name, "anew", "it was deleted and created again while lethe ran: what was not read is lost, "+
				"and what is written now is not read (stop lethe; put the broker's log and the data directory back from copies "+
				"of one time, or start over with an empty data directory)")
		}
	}
	problems, err := s.client.Admin().Check(ctx)
	if err != nil {
		return
	}
	var wrong, warnings []string
	for _, p := range problems {
		switch {
		case p.ByHand():
		case p.Follows() != "":
			warnings = append(warnings, p.Warning())
		default:
			wrong = append(wrong, p.String())
		}
	}
	s.outages.topicsAre(wrong)
	s.outages.warnOfTopics(warnings)
}

// warnOfTopics logs, once each, differing settings that lethe can run with.
func (o *outages) warnOfTopics(warnings []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, warning := range warnings {
		if !slices.Contains(o.warnings, warning) {
			o.log.Warn("a topic's setting is not as lethe wants it", "what", warning)
		}
	}
	o.warnings = warnings
}

// topicsAre reports faults of the topics until an operator fixes them.
func (o *outages) topicsAre(wrong []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !slices.Equal(o.wrong, wrong) {
		if len(wrong) == 0 {
			o.log.Info("topics are as lethe needs them again")
		} else {
			o.log.Error("topics are not as lethe needs them: records may be lost, or kept that are erased "+
				"(lethe topics plan says what mends it)", "problems", wrong)
		}
	}
	o.wrong = wrong
	o.publish()
}

// partitionsHold reports whether the topics have the same partitions as when the process began.
// Records in added ones are not read, and keys have moved to them, so that no timestep can be
// completed any more. Without a response it returns false.
func (s topicWatch) partitionsHold(ctx context.Context) (hold bool) {
	counts, err := s.client.Admin().Partitions(ctx)
	if err != nil {
		return false // the health checks report the outage; it is checked again
	}
	hold = true
	for _, topic := range slices.Sorted(maps.Keys(s.partitions)) {
		if had, has := s.partitions[topic], counts[topic]; has > had {
			hold = false
			s.outages.lastingly(string(topic), "partitions", fmt.Sprintf("it has %d partitions, and had %d when lethe began: "+
				"keys have moved, no timestep is closed or settled any more (start over with another kafka.topic_prefix "+
				"and empty data directories)", has, had))
		}
	}
	return hold
}
