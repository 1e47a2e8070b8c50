package waiting

import (
	"time"

	"lethe"
	"lethe/deletions"
)

// Facts are what one process knows at one moment. What it does not know is empty, and is no wait.
type Facts struct {
	Now time.Time
	// After is for how long a condition holds before it is a wait, Quiet for how long a stream may be quiet.
	After, Quiet time.Duration

	// Transactions and Labels are the partitions of these topics.
	Transactions, Labels []Partition
	// Steps are the timesteps that are known, ascending.
	Steps []Step
	// MostOpen bounds the timesteps that are open; 0 if it is not known.
	MostOpen int
	// MostJump is by how much a timestep may exceed its partition's watermark.
	MostJump int
	// LabelLag is by how many timesteps more than one the models that score a timestep are behind it.
	LabelLag int
	// Intake is what became of the latest records, by topic.
	Intake map[string]Outcome

	// Brokers are the places that are waited for, and why; Topics is what is wrong with topics, and Disk has the files
	// that cannot be written, and why.
	Brokers map[string]string
	Topics  []string
	Disk    map[string]string
	// FreeBytes is the room on the disk of the data directory; negative if it is not known.
	FreeBytes int64
	// OpenFiles is how many file descriptors are in use, MostFiles their bound; 0 if they are not known.
	OpenFiles, MostFiles int

	// Roles are those that several processes may play, as far as brokers know them.
	Roles []Role
	// Erasures are the requests that are open and wait for somebody.
	Erasures deletions.Waits
	// AlertsFail says that the receiver of alerts has not taken the latest one, AlertsLeft counts those that are not tried
	// again before the process is restarted.
	AlertsFail bool
	AlertsLeft int
}

// Role counts the data directories that share a role, and their processes that brokers have heard of lately. Without
// directories nobody has ever played it.
type Role struct {
	Name                 string
	Directories, Running int
}

// Partition is one of a source topic.
type Partition struct {
	Topic  string
	Number int
	// Watermark is the oldest timestep that the partition has not ended.
	Watermark lethe.Timestep
	// Newest is when its latest record was written; zero if none was read by this process.
	Newest time.Time
	// Read is the offset that is read next, Stable the end of what can be read, High the end of what was written. Stable
	// and High are -1 if they are not known. Due is what Stable was the time before: what stood there then should be read
	// by now, though records come all the time.
	Read, Stable, High, Due int64
}

// Step is a timestep.
type Step struct {
	Timestep lethe.Timestep
	State    lethe.State
	Labels   int
}

// Outcome counts what became of the latest records of a topic.
type Outcome struct {
	// Accepted and Rejected count records.
	Accepted, Rejected int
	// Reasons count those that were rejected.
	Reasons map[string]int
}
