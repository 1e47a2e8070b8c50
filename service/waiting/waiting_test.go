package waiting_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/service/waiting"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const after, quiet = 30 * time.Second, time.Hour

// part is a partition of which everything was read.
func part(topic string, number int, watermark lethe.Timestep) waiting.Partition {
	return waiting.Partition{Topic: topic, Number: number, Watermark: watermark, Read: 10, Stable: 10, High: 10, Due: 10}
}

// facts are those of a stream that is well: timestep 3 fills, 2 waits for labels that have not come.
func facts() waiting.Facts {
	return waiting.Facts{
		After: after, Quiet: quiet, MostOpen: 100, MostJump: 1000, FreeBytes: 1 << 40, OpenFiles: 400, MostFiles: 1024,
		Transactions: []waiting.Partition{part("transactions.v1", 0, 3), part("transactions.v1", 1, 3)},
		Labels:       []waiting.Partition{part("labels.v1", 0, 2), part("labels.v1", 1, 2)},
		Steps: []waiting.Step{
			{Timestep: 1, State: lethe.Settled, Labels: 5}, {Timestep: 2, State: lethe.Closed}, {Timestep: 3, State: lethe.Open},
		},
	}
}

// TestWaits tells of every cause when it is a wait, whose move it is, where, and in which words.
func TestWaits(t *testing.T) {
	for _, c := range []struct {
		name      string
		change    func(f *waiting.Facts)
		cause     waiting.Cause
		move      waiting.Party
		lasts     time.Duration
		place     string
		partition int
		says, do  string
	}{
		{"a partition without records", func(f *waiting.Facts) { f.Transactions[0].Watermark = 4 }, waiting.PartitionBehind,
			waiting.Producer, after, "transactions.v1", 1, "Timestep 3 is open: transactions.v1 partition 1 has not passed it",
			"Send a close record for timestep 3 to every partition of transactions.v1."},
		{"labels without settle, no model", func(f *waiting.Facts) {
			f.Steps = []waiting.Step{{Timestep: 1, State: lethe.Closed, Labels: 5}, {Timestep: 3, State: lethe.Open}}
			f.Labels[0].Watermark, f.Labels[1].Watermark = 0, 0
		}, waiting.LabelsUnsettled, waiting.Producer, after, "labels.v1", 0, "no model is served",
			"send a settle record for timestep 1 to every partition of labels.v1"},
		{"one partition of labels is not settled", func(f *waiting.Facts) {
			f.Steps[1].Labels, f.Labels[0].Watermark = 3, 3
		}, waiting.LabelsUnsettled, waiting.Producer, after, "labels.v1", 1, "partition 1 has no settle", "timestep 2"},
		{"labels that have stopped", func(f *waiting.Facts) { f.Steps[1].Labels = 3 }, waiting.LabelsUnsettled,
			waiting.Producer, quiet, "labels.v1", 0, "Timestep 2 is closed and has labels", "timestep 2"},
		{"nothing comes", func(*waiting.Facts) {}, waiting.StreamQuiet, waiting.Producer, quiet, "transactions.v1", -1,
			"Timestep 3 is open, and nothing comes", "send a close record"},
		{"an open transaction", func(f *waiting.Facts) { f.Transactions[1].High = 15 }, waiting.OpenTransaction,
			waiting.Producer, after + after/2, "transactions.v1", 1, "offsets 10 to 14 cannot be read", "commit or abort"},
		{"a busy partition without a close record", func(f *waiting.Facts) {
			f.Transactions[0].Watermark = 4
			f.Transactions[1].Stable, f.Transactions[1].High = 12, 12
		}, waiting.PartitionBehind, waiting.Producer, after, "transactions.v1", 1, "has not passed it", "close record"},
		{"a timestep without labels for which predictions wait", func(f *waiting.Facts) {
			f.Steps = append(f.Steps[:2], waiting.Step{Timestep: 3, State: lethe.Closed})
		}, waiting.LabelsUnsettled, waiting.Producer, quiet, "labels.v1", 0, "no label of it has come", "timestep 2"},
		{"some records are rejected", func(f *waiting.Facts) {
			f.Intake = map[string]waiting.Outcome{"transactions.v1": {Accepted: 70, Rejected: 30,
				Reasons: map[string]int{"bad_id": 30}}}
		}, waiting.RecordsRejected, waiting.Producer, after, "transactions.v1", -1, "30 of the latest 100", "bad_id"},
		{"most of few requests are rejected", func(f *waiting.Facts) {
			f.Intake = map[string]waiting.Outcome{"erasures.v1": {Accepted: 4, Rejected: 6,
				Reasons: map[string]int{"bad_id": 6}}}
		}, waiting.RecordsRejected, waiting.Producer, after, "erasures.v1", -1, "6 of the latest 10", "bad_id"},
		{"a process of train is gone", func(f *waiting.Facts) {
			f.Roles = []waiting.Role{{Name: "score", Directories: 1, Running: 1}, {Name: "train", Directories: 2, Running: 1}}
		}, waiting.ProcessMissing, waiting.Operator, after, "", -1, "Of 2 data directories that share the role train, 1",
			"members strike"},
		{"a data directory does not answer", func(f *waiting.Facts) {
			f.Erasures.Absent = []deletions.AbsentDirectory{{Role: "train", Instance: "5a5a"}}
		}, waiting.ErasureUnanswered, waiting.Operator, after, "", -1, "5a5a of role train", "members strike"},
		{"an erasure has failed", func(f *waiting.Facts) { f.Erasures.Failed = 1 }, waiting.ErasureFailed, waiting.Operator,
			after, "", -1, "1 erasure requests have failed", "erase list"},
		{"an erasure is held", func(f *waiting.Facts) { f.Erasures.Held = 2 }, waiting.ErasureHeld, waiting.Operator,
			after, "", -1, "2 erasure requests wait for a hold", "hold lift"},
		{"an erasure lacks a signature", func(f *waiting.Facts) { f.Erasures.Held, f.Erasures.Unsigned = 2, 1 },
			waiting.ErasureHeld, waiting.Operator, after, "", -1, "wait for another signature", "erase approve"},
		{"an alert is not taken", func(f *waiting.Facts) { f.AlertsFail = true }, waiting.AlertsUndelivered,
			waiting.Operator, after, "", -1, "the latest alert", "Mend the receiver"},
		{"alerts are left", func(f *waiting.Facts) { f.AlertsLeft = 3 }, waiting.AlertsUndelivered,
			waiting.Operator, after, "", -1, "3 alerts", "restart"},
		{"most records are rejected", func(f *waiting.Facts) {
			f.Intake = map[string]waiting.Outcome{"transactions.v1": {Accepted: 2, Rejected: 898,
				Reasons: map[string]int{"bad_id": 890, "late": 8}}}
		}, waiting.RecordsRejected, waiting.Producer, after, "transactions.v1", -1,
			"898 of the latest 900 records of transactions.v1 were rejected, 890 of them as bad_id.", "--reason bad_id"},
		{"the first record is rejected", func(f *waiting.Facts) {
			f.Intake = map[string]waiting.Outcome{"labels.v1": {Rejected: 1, Reasons: map[string]int{"bad_id": 1}}}
		}, waiting.RecordsRejected, waiting.Producer, after, "labels.v1", -1, "1 of the latest 1", "--reason bad_id"},
		{"a gap", func(f *waiting.Facts) {
			f.Intake = map[string]waiting.Outcome{"transactions.v1": {Rejected: 4, Reasons: map[string]int{"timestep_jump": 4}}}
		}, waiting.TimestepGap, waiting.Operator, after, "transactions.v1", -1, "as timestep_jump",
			"max_timestep_jump (1000)"},
		{"a few records are rejected among many", func(f *waiting.Facts) {
			f.Intake = map[string]waiting.Outcome{"transactions.v1": {Accepted: 9000, Rejected: 3,
				Reasons: map[string]int{"bad_id": 2, "late": 1}}}
		}, waiting.RecordsRejected, waiting.Producer, after, "transactions.v1", -1,
			"3 of the latest 9003", "--reason bad_id"},
		{"many late records", func(f *waiting.Facts) {
			f.Intake = map[string]waiting.Outcome{"transactions.v1": {Accepted: 70, Rejected: 30,
				Reasons: map[string]int{"late": 30}}}
		}, waiting.RecordsRejected, waiting.Producer, after, "transactions.v1", -1, "as late", "--reason late"},
		{"a few records beyond a gap among others that are rejected", func(f *waiting.Facts) {
			f.Intake = map[string]waiting.Outcome{"transactions.v1": {Accepted: 90, Rejected: 10,
				Reasons: map[string]int{"timestep_jump": 3, "bad_id": 7}}}
		}, waiting.TimestepGap, waiting.Operator, after, "transactions.v1", -1, "3 of them as timestep_jump", "raise"},
		{"a role that nobody has ever played", func(f *waiting.Facts) { f.Roles = []waiting.Role{{Name: "score"}} },
			waiting.ProcessMissing, waiting.Operator, after, "", -1, "ever played the role score", "roles=score"},
		{"models that are not published", func(f *waiting.Facts) { f.Awaited, f.ModelsPresent, f.Models = 1, 5, 7 },
			waiting.ModelsMissing, waiting.Operator, 10 * after, "", -1, "Timestep 1 is settled, and 2 of 7 models",
			"role train"},
		{"a few in wrong partitions", func(f *waiting.Facts) {
			f.Intake = map[string]waiting.Outcome{"labels.v1": {Accepted: 90, Rejected: 4,
				Reasons: map[string]int{"wrong_partition": 4}}}
		}, waiting.WrongPartition, waiting.Producer, 0, "labels.v1", -1, "4 of the latest 94", "partitioner=murmur2_random"},
		{"too many open", func(f *waiting.Facts) { f.MostOpen = 1 }, waiting.TooManyOpen, waiting.Producer, 0, "", -1,
			"1 timesteps are open", "Send close records"},
		{"too many waiting", func(f *waiting.Facts) {
			f.Intake = map[string]waiting.Outcome{"labels.v1": {Accepted: 90, Rejected: 4,
				Reasons: map[string]int{"too_many_waiting": 4}}}
		}, waiting.TooManyWaiting, waiting.Producer, 0, "labels.v1", -1, "4 records", "Send the transactions"},
		{"a clock ahead", func(f *waiting.Facts) { f.Transactions[0].Newest = start.Add(after + 2*time.Hour) },
			waiting.ClockAhead, waiting.Producer, after, "transactions.v1", 0, "2h0m0s ahead", "Synchronise"},
		{"brokers away", func(f *waiting.Facts) { f.Brokers = map[string]string{"brokers": "refused"} }, waiting.BrokersAway,
			waiting.Broker, 0, "", -1, "brokers: refused", "continues by itself"},
		{"topics", func(f *waiting.Facts) { f.Topics = []string{"labels.v1: retention"} }, waiting.TopicsWrong,
			waiting.Operator, 0, "", -1, "labels.v1: retention", "topics plan"},
		{"a disk that takes no writes", func(f *waiting.Facts) { f.Disk = map[string]string{"a": "write a: no space"} },
			waiting.DiskFull, waiting.Operator, 0, "", -1, "no space", "Make room"},
		{"a disk that is nearly full", func(f *waiting.Facts) { f.FreeBytes = 100 << 20 }, waiting.DiskFull, waiting.Operator,
			0, "", -1, "100 MiB free, less than 512", "Make room"},
		{"file descriptors", func(f *waiting.Facts) { f.OpenFiles = 1000 }, waiting.FileDescriptors, waiting.Operator, 0, "",
			-1, "1000 of 1024", "ulimit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := facts()
			c.change(&f)
			tracker := waiting.NewTracker()
			find := func(at time.Duration) *waiting.Wait {
				f.Now = start.Add(at)
				list, _ := tracker.Update(f)
				for i := range list {
					if list[i].Cause == c.cause {
						return &list[i]
					}
				}
				return nil
			}
			first := find(0)
			if c.lasts > 0 {
				require.Nil(t, first)
				require.Nil(t, find(c.lasts-time.Millisecond))
			}
			w := find(c.lasts)
			require.NotNil(t, w)
			require.Equal(t, start, w.Since)
			require.Equal(t, c.move, w.Move)
			require.Equal(t, c.place, w.Topic)
			require.Contains(t, w.Message, c.says)
			require.Contains(t, w.Do, c.do)
			if c.partition >= 0 {
				require.Equal(t, c.partition, *w.Partition)
			}
		})
	}
}

// TestAStreamThatIsWellShowsNothing goes through an hour in which each partition passes a timestep a little after the
// others, labels come and timesteps settle.
func TestAStreamThatIsWellShowsNothing(t *testing.T) {
	tracker, f := waiting.NewTracker(), facts()
	for second := range 3600 {
		f.Now = start.Add(time.Duration(second) * time.Second)
		now := lethe.Timestep(3 + second/60)
		for p := range f.Transactions {
			f.Transactions[p].Watermark = now
			if p == 1 && second%60 < 25 { // behind for a moment
				f.Transactions[p].Watermark = now - 1
			}
			f.Transactions[p].Read++
			f.Transactions[p].Stable, f.Transactions[p].High = f.Transactions[p].Read, f.Transactions[p].Read+int64(second%3)
			f.Transactions[p].Newest, f.Labels[p].Newest = f.Now, f.Now
			f.Labels[p].Watermark = now - 2
		}
		f.Steps = []waiting.Step{
			{Timestep: now - 3, State: lethe.Settled, Labels: 4}, {Timestep: now - 2, State: lethe.Closed, Labels: 4},
			{Timestep: now - 1, State: lethe.Open}, {Timestep: now, State: lethe.Open},
		}
		if second%60 >= 25 {
			f.Steps[2].State = lethe.Closed
		}
		f.Intake = map[string]waiting.Outcome{
			"transactions.v1": {Accepted: 90, Rejected: 1, Reasons: map[string]int{"late": 1}},
		}
		list, log := tracker.Update(f)
		require.Empty(t, list, "after %d s", second)
		require.Empty(t, log)
	}
}

// TestLogNamesACauseOnceAMinute begins a wait, has it last for three minutes, and ends it.
func TestLogNamesACauseOnceAMinute(t *testing.T) {
	tracker, f := waiting.NewTracker(), facts()
	f.FreeBytes = 1
	lines := 0
	for second := range 180 {
		f.Now = start.Add(time.Duration(second) * time.Second)
		_, log := tracker.Update(f)
		lines += len(log)
	}
	require.Equal(t, 3, lines)
	f.FreeBytes = 1 << 40
	_, log := tracker.Update(f)
	require.Len(t, log, 1)
	require.True(t, log[0].Ended)
	_, log = tracker.Update(f)
	require.Empty(t, log)
}

// TestProgressOfAnErasureBeginsItsTimeAgain has one request after the other wait for a directory.
func TestProgressOfAnErasureBeginsItsTimeAgain(t *testing.T) {
	tracker, f := waiting.NewTracker(), facts()
	for second := range 300 {
		f.Now = start.Add(time.Duration(second) * time.Second)
		since := start.Add(time.Duration(second/10) * 10 * time.Second)
		f.Erasures.Absent = []deletions.AbsentDirectory{{Role: "train", Instance: "5a5a", Since: since}}
		list, _ := tracker.Update(f)
		require.Empty(t, list)
	}
}

// TestLabelsOfLaterTimestepsHideNoneThatNeverSettles has labels come for two hours.
func TestLabelsOfLaterTimestepsHideNoneThatNeverSettles(t *testing.T) {
	tracker, f := waiting.NewTracker(), facts()
	f.Steps = []waiting.Step{
		{Timestep: 1, State: lethe.Settled, Labels: 5}, {Timestep: 2, State: lethe.Closed, Labels: 3},
	}
	for second := range 7200 {
		f.Now = start.Add(time.Duration(second) * time.Second)
		f.Labels[0].Newest = f.Now
		list, _ := tracker.Update(f)
		require.Equal(t, f.Now.Sub(start) >= quiet, len(list) > 0)
	}
}
