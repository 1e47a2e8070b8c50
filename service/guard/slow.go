package guard

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// timedBody is a body that has to be read within the server's ReadTimeout. What comes after it, an
// answer that takes long, has not: the server would take the end of the time for the client's going
// away.
type timedBody struct {
	io.ReadCloser
	client *http.ResponseController
}

// readInTime returns the body as one that takes no longer than the server allows.
func readInTime(w http.ResponseWriter, body io.ReadCloser, empty bool) io.ReadCloser {
	b := &timedBody{body, http.NewResponseController(w)}
	if empty {
		b.isRead()
	}
	return b
}

// Read implements io.Reader.
func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.isRead()
	}
	return n, err
}

func (b *timedBody) isRead() {
	// A writer without deadlines has no client that could be slow.
	_ = b.client.SetReadDeadline(time.Time{})
}
