package bench

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"lethe/dataset"
	"lethe/lab/citation"
	"lethe/lab/graphs"
	"lethe/lab/protocol"
)

// The data sets by the names that the paper gives them, and the Bitcoin-OTC
// ratings in Elliptic's format.
const (
	Cora       = "Cora"
	CiteSeer   = "CiteSeer"
	DBLP       = "DBLP"
	CS         = "CS"
	Elliptic   = "Elliptic"
	BitcoinOTC = "Bitcoin-OTC"
)

// Citations lists the citation and co-author graphs of the paper.
func Citations() []string { return []string{Cora, CiteSeer, DBLP, CS} }

// Streams lists the data sets with timesteps.
func Streams() []string { return []string{Elliptic, BitcoinOTC} }

// fileOf is where a data set lies in the data folder or a folder in it; several
// places are tried.
func fileOf(name string) []string {
	switch name {
	case Elliptic:
		return []string{"elliptic_bitcoin_dataset", "elliptic"}
	case BitcoinOTC:
		return []string{"bitcoin-otc/elliptic-format", "bitcoin-otc"}
	default:
		lower := strings.ToLower(name)
		return []string{lower + ".npz", "planetoid/" + lower + ".npz", lower + "/" + lower + ".npz"}
	}
}

// ErrAbsent marks a data set that is not in the data folder. The caller should
// say so in place of its figures; the error names the file.
var ErrAbsent = errors.New("not run")

// Data finds and loads data sets under a folder. It may be used from several
// goroutines at once.
type Data struct {
	dir   string
	mutex sync.Mutex
	// graphs are kept by name and whether features are raw.
	graphs  map[string]*protocol.Graph
	streams map[string]*dataset.Stream
	digests map[string]string
}

// NewData looks for data sets in a folder.
func NewData(dir string) *Data {
	return &Data{
		dir: dir, graphs: make(map[string]*protocol.Graph),
		streams: make(map[string]*dataset.Stream), digests: make(map[string]string),
	}
}

// Find returns the path of a data set, or an error that wraps ErrAbsent and
// names the file that is missing.
func (d *Data) Find(name string) (string, error) {
	places := fileOf(name)
	for _, place := range places {
		path := filepath.Join(d.dir, filepath.FromSlash(place))
		if _, err := graphs.Detect(path); err == nil {
			return path, nil
		}
	}
	missing := places[0]
	if slices.Contains(Streams(), name) {
		missing += "/" + dataset.FeaturesFile
	}
	return "", fmt.Errorf("%w: file %s", ErrAbsent, missing)
}

// graph loads a citation graph once.
func (d *Data) graph(name string, raw bool) (*protocol.Graph, error) {
	path, err := d.Find(name)
	if err != nil {
		return nil, err
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	key := fmt.Sprintf("%s raw=%t", name, raw)
	if d.graphs[key] == nil {
		c, err := citation.Load(path)
		if err != nil {
			return nil, err
		}
		d.graphs[key] = protocol.FromCitation(c, raw)
	}
	return d.graphs[key], nil
}

// stream loads a data set with timesteps once.
func (d *Data) stream(ctx context.Context, name string) (*dataset.Stream, error) {
	path, err := d.Find(name)
	if err != nil {
		return nil, err
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.streams[name] == nil {
		if d.streams[name], err = dataset.LoadElliptic(ctx, path); err != nil {
			return nil, err
		}
	}
	return d.streams[name], nil
}

// Digest names the bytes of a data set.
func (d *Data) Digest(name string) (string, error) {
	path, err := d.Find(name)
	if err != nil {
		return "", err
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.digests[name] != "" {
		return d.digests[name], nil
	}
	hash := sha256.New()
	err = filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		fmt.Fprintf(hash, "%s\n", entry.Name())
		_, err = io.Copy(hash, f)
		return errors.Join(err, f.Close())
	})
	if err != nil {
		return "", fmt.Errorf("digest of %s: %w", name, err)
	}
	d.digests[name] = hex.EncodeToString(hash.Sum(nil)[:16])
	return d.digests[name], nil
}
