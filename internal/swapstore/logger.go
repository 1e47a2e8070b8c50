package swapstore

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
)

// logger is Pebble's logger for the database in a folder. It is silent, because
// messages may quote keys.
type logger struct{ dir, remedy string }

// Infof says nothing.
func (logger) Infof(string, ...any) {}

// Errorf says nothing: what concerns a caller is returned to it.
func (logger) Errorf(string, ...any) {}

// Fatalf is called, often in a goroutine of Pebble's own, when a file turns out to be
// damaged or the log or the manifest cannot be written. It must not return: going on
// would lose acknowledged writes. So it ends the process, as a failure whose reason
// is one line; a store is built to survive that.
func (l logger) Fatalf(format string, args ...any) {
	fmt.Fprintln(os.Stderr, "lethe: "+l.lastMessage(format, args...))
	os.Exit(1)
}

// background is told of a flush or compaction that failed. Pebble tries a flush again
// at once, for ever, and a store that is opened waits for it: where the disk takes no
// writes, that would keep a processor busy and tell nobody.
func (l logger) background(err error) {
	var refused syscall.Errno
	if errors.As(err, &refused) && refused != syscall.ENOENT {
		l.Fatalf("%v", err)
	}
}

// lastMessage names the folder, what is wrong with it, and the remedy.
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
	// What else it says is a constant of Pebble's; arguments may quote keys.
	return fmt.Sprintf("the store in %s cannot go on: %s (start again)", l.dir, strings.TrimSpace(format))
}

func (l logger) damaged(file string) string {
	if file == "" {
		file = "a file"
	}
	return fmt.Sprintf("the store in %s is damaged: %s is not what was written (%s)", l.dir, file, l.remedy)
}
