package doctor

import (
	"context"
	"net/http"
	"time"

	"lethe/configs"
	"lethe/internal/diskroom"
)

// Grade is the result of a check.
type Grade string

// The grades. A warning is a problem that does not prevent operation today.
const (
	OK      Grade = "ok"
	Warning Grade = "warning"
	Problem Grade = "problem"
)

// Finding is the outcome of one check, or one of several.
type Finding struct {
	// Check is the checked subject: one of disk, data_dir, keys, brokers, topics, rights, clock,
	// service, waiting, version.
	Check string `json:"check"`
	Grade Grade  `json:"grade"`
	// Message is one line without personal data.
	Message string `json:"says"`
	// Remedy is the action to take, empty if nothing is wrong.
	Remedy string `json:"remedy,omitempty"`
}

// Options configures the checks. All fields are required.
type Options struct {
	Config configs.Config
	// Version is that of this program.
	Version string
	Now     func() time.Time
	// Disk returns the free space of the file system that holds a path.
	Disk func(path string) (diskroom.Room, error)
	// HTTP is the client for the running service.
	HTTP *http.Client
}

// Examine runs every check, also after one that failed, and returns the findings in a fixed order.
// Checks that need a broker are left out if none responds.
func Examine(ctx context.Context, o Options) []Finding {
	var all findings
	all.dataDir(o)
	all.disk(o)
	all.keys(ctx, o)
	all.brokers(ctx, o)
	all.service(ctx, o)
	return all
}

// findings accumulates the results of the checks.
type findings []Finding

func (f *findings) ok(check, message string) { *f = append(*f, Finding{check, OK, message, ""}) }

func (f *findings) warn(check, message, remedy string) {
	*f = append(*f, Finding{check, Warning, message, remedy})
}

func (f *findings) bad(check, message, remedy string) {
	*f = append(*f, Finding{check, Problem, message, remedy})
}
