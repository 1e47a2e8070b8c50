package guard

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// timedBody is a body that has to be read within the server's ReadTimeout. The deadline is then
// cleared for long responses: otherwise the server would treat its expiry as a disconnect of the
// client.
type timedBody struct {
	io.ReadCloser
	client *http.ResponseController
}

// readInTime wraps the body so that reading it takes no longer than the server allows.
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
	// A writer without deadline support has no slow client.
	_ = b.client.SetReadDeadline(time.Time{})
}
