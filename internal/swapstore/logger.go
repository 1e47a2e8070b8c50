package swapstore

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// logger is Pebble's logger for the database in a folder. It logs nothing, because messages may
// quote keys.
type logger struct{ dir, remedy string }

// Infof discards the message.
func (logger) Infof(string, ...any) {}

// Errorf discards the message: errors that concern a caller are returned to it.
func (logger) Errorf(string, ...any) {}

// Fatalf is called, often in one of Pebble's goroutines, when a file is damaged or the log or
// manifest cannot be written. It must not return, because continuing would lose acknowledged
// writes. It ends the process with a failure of one line; stores are built to survive that.
func (l logger) Fatalf(format string, args ...any) {
	fmt.Fprintln(os.Stderr, "lethe: "+l.lastMessage(format, args...))
	os.Exit(1)
}

// background handles a failed flush or compaction. Pebble retries a flush immediately and
// forever, and opening a store waits for it; on a full or failed disk that would occupy a
// processor without any message.
func (l logger) background(err error) {
	var refused syscall.Errno
	if errors.As(err, &refused) && refused != syscall.ENOENT {
		l.Fatalf("%v", err)
	}
}

// lastMessage names the folder, the problem and the remedy.
func (l logger) lastMessage(format string, args ...any) string {
	for _, arg := range args {
		err, is := arg.(error)
		var refused syscall.Errno
		switch {
		case is && errors.As(err, &refused) && refused != syscall.ENOENT:
			return fmt.Sprintf("the store in %s cannot be written: %v (start again once the disk takes writes: "+
				"nothing that was acknowledged is lost)", l.dir, refused)
		case is && errors.Is(err, pebble.ErrCorruption):
			return l.damaged("")
		}
		if info, is := arg.(pebble.DataCorruptionInfo); is {
			return l.damaged(info.Path)
		}
	}
	// Pebble's format string is a constant; its arguments may quote keys.
	return fmt.Sprintf("the store in %s cannot go on: %s (start again)", l.dir, strings.TrimSpace(format))
}

// Damaged is the error for a damaged file of a folder on a file system: it names the remedy.
func Damaged(fs vfs.FS, dir, file string) error {
	return errors.New(logger{dir, remedyOf(fs)}.damaged(file))
}

func (l logger) damaged(file string) string {
	if file == "" {
		file = "a file"
	}
	return fmt.Sprintf("the store in %s is damaged: %s is not what was written (%s)", l.dir, file, l.remedy)
}
