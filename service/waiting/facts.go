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
	// Intake is what became of the latest records, by topic.
	Intake map[string]Outcome

	// Brokers are the places that are waited for, and why; Topics is what is wrong with topics, and Disk has the files
	// that cannot be written, and why.
	Brokers map[string]string
	Topics  []string
	Disk    map[string]string
	// Awaited are the data directories of other processes whose answers erasures have lacked for long.
	Awaited []deletions.Awaited
	// FreeBytes is the room on the disk of the data directory; negative if it is not known.
	FreeBytes int64
	// OpenFiles is how many file descriptors are in use, MostFiles their bound; 0 if they are not known.
	OpenFiles, MostFiles int
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
	// and High are -1 if they are not known.
	Read, Stable, High int64
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
