package doctor

import (
	"context"
	"net/http"
	"time"

	"lethe/configs"
	"lethe/internal/diskroom"
)

// Grade says how a check ended.
type Grade string

// The grades. A warning is something that works today.
const (
	OK      Grade = "ok"
	Warning Grade = "warning"
	Problem Grade = "problem"
)

// Finding is the outcome of one check, or one of several.
type Finding struct {
	// Check is what was looked at: one of disk, data_dir, keys, brokers, topics, rights, clock,
	// service, waiting, version.
	Check string `json:"check"`
	Grade Grade  `json:"grade"`
	// Says is one line; it holds no personal data.
	Says string `json:"says"`
	// Remedy is what to do, empty if nothing is wrong.
	Remedy string `json:"remedy,omitempty"`
}

// Options are what is looked at, and with what. All are needed.
type Options struct {
	Config configs.Config
	// Version is that of this program.
	Version string
	Now     func() time.Time
	// Disk tells the room of the file system that holds a path.
	Disk func(path string) (diskroom.Room, error)
	// HTTP asks the running service.
	HTTP *http.Client
}

// Examine makes every check, also after one that failed, and returns what it found in one
// order. What needs a broker is left out where none answers.
func Examine(ctx context.Context, o Options) []Finding {
	var all findings
	all.dataDir(o)
	all.disk(o)
	all.keys(ctx, o)
	all.brokers(ctx, o)
	all.service(ctx, o)
	return all
}

// findings grow check by check.
type findings []Finding

func (f *findings) ok(check, says string) { *f = append(*f, Finding{check, OK, says, ""}) }

func (f *findings) warn(check, says, remedy string) {
	*f = append(*f, Finding{check, Warning, says, remedy})
}

func (f *findings) bad(check, says, remedy string) {
	*f = append(*f, Finding{check, Problem, says, remedy})
}
