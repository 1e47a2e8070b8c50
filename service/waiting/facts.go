package waiting

import (
	"time"

	"lethe"
	"lethe/deletions"
)

// Facts are the knowledge of one process at one moment. Unknown facts are empty, and cause no wait.
type Facts struct {
	Now time.Time
	// After is how long a condition must hold before it is a wait, Quiet how long a stream may be quiet.
	After, Quiet time.Duration

	// Transactions and Labels are the partitions of these topics.
	Transactions, Labels []Partition
	// Steps are the known timesteps, ascending.
	Steps []Step
	// MostOpen bounds the open timesteps; 0 if it is unknown.
	MostOpen int
	// MostJump is by how much a timestep may exceed its partition's watermark.
	MostJump int
	// LabelLag is by how many timesteps more than one the scoring models are behind a timestep.
	LabelLag int
	// Awaited is the last timestep of the ensemble that is to be served, of whose Models ModelsPresent are published.
	// Models is 0 if none is awaited.
	Awaited               lethe.Timestep
	ModelsPresent, Models int
	// Intake is the outcome of the latest records, by topic.
	Intake map[string]Outcome

	// Brokers are the unavailable places with the reasons; Topics lists problems of topics, and Disk has the files
	// that cannot be written, with the reasons.
	Brokers map[string]string
	Topics  []string
	Disk    map[string]string
	// FreeBytes is the free space on the disk of the data directory; negative if it is unknown.
	FreeBytes int64
	// OpenFiles is the number of file descriptors in use, MostFiles their limit; 0 if they are
	// unknown.
	OpenFiles, MostFiles int

	// Roles are those that several processes may run, as far as brokers know them.
	Roles []Role
	// Erasures are the open requests that wait for an action.
	Erasures deletions.Waits
	// AlertsFail means that the receiver of alerts has not accepted the latest one, AlertsLeft counts those that
	// are not retried before the process is restarted.
	AlertsFail bool
	AlertsLeft int
}

// Role counts the data directories that share a role, and their processes with a recent heartbeat. Without
// directories the role has never been run.
type Role struct {
	Name                 string
	Directories, Running int
}

// Partition is a partition of a source topic.
type Partition struct {
	Topic  string
	Number int
	// Watermark is the oldest timestep that the partition has not completed.
	Watermark lethe.Timestep
	// Newest is when its latest record was written; zero if this process has read none.
	Newest time.Time
	// Read is the next offset to read, Stable the last stable offset, High the high watermark. Stable and High are -1 if
	// unknown. Due is the previous value of Stable: records before it should have been read by now, even if new ones
	// arrive continuously.
	Read, Stable, High, Due int64
}

// Step is a timestep.
type Step struct {
	Timestep lethe.Timestep
	State    lethe.State
	Labels   int
}

// Outcome counts the outcomes of the latest records of a topic.
type Outcome struct {
	// Accepted and Rejected count records.
	Accepted, Rejected int
	// Reasons count the rejected ones.
	Reasons map[string]int
}
