package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"lethe/ingest"
	"lethe/ingest/bus/protocol"
)

// Segment is a file of a partition's log at the time it was opened: together the segments contain
// every record acknowledged by then. Log files only grow, until a compaction replaces them.
type Segment struct {
	// Path is relative to the broker's directory, with slashes.
	Path string
	Info fs.FileInfo
	// Data is overwritten by the next segment.
	Data []byte

	topic     string
	partition int
	// newest means that the file was still being written, so that it may end in a partial batch.
	newest bool
}

// Compressed reports whether Data holds batches that a producer has compressed.
func (s *Segment) Compressed() bool { return protocol.Compressed(s.Data) }

// Records calls fn for every record. The error is that of fn, or ErrCorrupt.
func (s *Segment) Records(fn func(ingest.Record) error) error {
	whole, err := protocol.EachRecord(s.topic, s.partition, s.Data, fn)
	if err == nil && whole < len(s.Data) && !s.newest {
		err = fmt.Errorf("%w: %s, at byte %d of %d", ErrCorrupt, s.Path, whole, len(s.Data))
	}
	return err
}

// EachSegment reads a topic from its files: it calls fn for every file of its partitions, in order. A compaction
// truncates the files that it replaces, and so waits until a partition that is being read is read; one that failed has
// removed files, which are awaited. A topic without records has no files. The error is that of fn, ErrClosed, or of the
// file system. fn must not call Compact.
func (b *Broker) EachSegment(ctx context.Context, topic string, fn func(*Segment) error) error {
	var data []byte
	for partition, found := 0, true; found; partition++ {
		var err error
		if data, found, err = b.eachOf(ctx, Segment{topic: topic, partition: partition}, data, fn); err != nil {
			return fmt.Errorf("embedded broker: read %s/%d: %w", topic, partition, err)
		}
	}
	return nil
}

// eachOf calls fn for every file of the partition of s, and returns the buffer for reuse. A missing partition is not
// found.
func (b *Broker) eachOf(
	ctx context.Context, s Segment, data []byte, fn func(*Segment) error,
) (_ []byte, found bool, err error) {
	b.files.RLock()
	defer b.files.RUnlock()
	if err := b.awaitReopened(ctx); err != nil {
		return data, false, err
	}
	files, err := b.openPartition(s.topic, s.partition)
	defer closeAll(files)
	if err != nil {
		return data, false, err
	}
	for i, file := range files {
		name, err := filepath.Rel(b.dir, file.Name())
		if err != nil {
			return data, true, err
		}
		if s.Info, data, err = readAll(file, data); err != nil {
			return data, true, err
		}
		s.Path, s.Data, s.newest = filepath.ToSlash(name), data, i == len(files)-1
		if err := errors.Join(ctx.Err(), fn(&s)); err != nil {
			return data, true, err
		}
	}
	return data, files != nil, nil
}

// openTries is how often the files of a partition are listed again after one of them was removed
// before it was opened: records may be deleted from the beginning of a log.
const openTries = 10

// openPartition opens the files of a partition, oldest first. A missing partition has none.
func (b *Broker) openPartition(topic string, partition int) (files []*os.File, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, ErrClosed
	}
	dir := filepath.Join(partitionsDir(b.dir), fmt.Sprintf("%s-%d", url.PathEscape(topic), partition))
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for range openTries {
		if files, err = openSegments(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return files, err
}

// openSegments opens the files in a partition's folder, oldest first.
func openSegments(dir string) ([]*os.File, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.dat"))
	if err != nil {
		return nil, err
	}
	slices.SortFunc(names, func(a, b string) int {
		if later(a, b) {
			return 1
		}
		return -1
	})
	files := make([]*os.File, 0, len(names))
	for _, name := range names {
		file, err := os.Open(name)
		if err != nil {
			closeAll(files)
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// readAll reads a file to its current end, into a buffer that is reused.
func readAll(file *os.File, buffer []byte) (fs.FileInfo, []byte, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, buffer, err
	}
	buffer = slices.Grow(buffer[:0], int(info.Size()))[:info.Size()]
	_, err = io.ReadFull(file, buffer)
	return info, buffer, err
}

// closeAll closes files that were opened for reading only, so errors do not matter.
func closeAll(files []*os.File) {
	for _, file := range files {
		_ = file.Close()
	}
}
