package protocol

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/segmentio/kafka-go/compress"
)

// maxInflatedBytes bounds the decompressed size of a batch. Producers fill batches of a megabyte or
// less before they compress them.
const maxInflatedBytes = 32 << 20

// ErrInflated marks a batch whose decompressed size is over the limit.
var ErrInflated = errors.New("it inflates to more")

// inflated is the error of a batch that decompresses to more than limit bytes.
func inflated(limit int) error { return fmt.Errorf("%w than %d bytes", ErrInflated, limit) }

// inflate decompresses the records of a batch up to maxInflatedBytes.
func inflate(body []byte, codec int16) ([]byte, error) {
	return inflateTo(nil, body, codec, maxInflatedBytes)
}

// inflateTo decompresses the records of a batch. Its memory is bounded by a small multiple of the limit,
// whatever the claimed and the actual size. It writes into scratch if that is large enough.
func inflateTo(scratch, body []byte, codec int16, limit int) ([]byte, error) {
	switch compression := compress.Compression(codec); compression {
	case compress.None:
		return body, nil
	case compress.Snappy:
		return inflateSnappy(scratch, body, limit)
	case compress.Zstd:
		return inflateZstd(scratch, body, limit)
	case compress.Gzip, compress.Lz4:
		reader := compression.Codec().NewReader(bytes.NewReader(body))
		out, err := readBounded(reader, scratch, len(body), limit)
		return out, errors.Join(err, reader.Close())
	default:
		return nil, fmt.Errorf("unknown compression %d", codec)
	}
}

// readBounded reads everything up to the limit and allocates as the bytes arrive.
func readBounded(r io.Reader, scratch []byte, compressedBytes, limit int) ([]byte, error) {
	out := scratch[:0]
	if cap(out) == 0 {
		out = make([]byte, 0, min(4*compressedBytes+bytes.MinRead, limit+1))
	}
	for {
		n, err := r.Read(out[len(out):cap(out)])
		out = out[:len(out)+n]
		switch {
		case len(out) > limit:
			return nil, inflated(limit)
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, fmt.Errorf("decompress: %w", err)
		}
		if len(out) == cap(out) {
			grown := make([]byte, len(out), min(2*cap(out), limit+1))
			copy(grown, out)
			out = grown
		}
	}
}

// decoders are pooled by limit: creating one costs more than decoding most batches.
var decoders sync.Map //nolint:gochecknoglobals // a pool

// inflateZstd bounds the window too, which a decoder allocates at once. A batch whose first frame declares more than
// the limit is rejected before it is decompressed, because each reader and each repeated search reads it again.
func inflateZstd(scratch, body []byte, limit int) ([]byte, error) {
	var header zstd.Header
	if header.Decode(body) == nil && header.HasFCS && header.FrameContentSize > uint64(limit) {
		return nil, inflated(limit)
	}
	made, _ := decoders.LoadOrStore(limit, &sync.Pool{})
	pool := made.(*sync.Pool)
	decoder, _ := pool.Get().(*zstd.Decoder)
	if decoder == nil {
		var err error
		if decoder, err = newDecoder(limit); err != nil {
			return nil, fmt.Errorf("decompress: %w", err)
		}
	}
	err := decoder.Reset(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	out, err := readBounded(decoder, scratch, len(body), limit)
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) || errors.Is(err, zstd.ErrWindowSizeExceeded) {
		err = inflated(limit)
	}
	if decoder.Reset(nil) == nil {
		pool.Put(decoder)
	}
	return out, err
}

func newDecoder(limit int) (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(uint64(limit)), zstd.WithDecoderMaxWindow(uint64(limit)))
}

// inflateSnappy decodes one block, or a series of blocks in the framing of Java's snappy: 16 bytes
// of header, then every block after its length. A block begins with its decompressed length.
func inflateSnappy(scratch, body []byte, limit int) ([]byte, error) {
	blocks, err := snappyBlocks(body)
	if err != nil {
		return nil, err
	}
	total := 0
	for _, block := range blocks {
		size, err := snappy.DecodedLen(block)
		if err != nil {
			return nil, fmt.Errorf("decompress: %w", err)
		}
		if total += size; total > limit {
			return nil, inflated(limit)
		}
	}
	out := slices.Grow(scratch[:0], total)
	for _, block := range blocks {
		plain, err := snappy.Decode(out[len(out):cap(out)], block)
		if err != nil {
			return nil, fmt.Errorf("decompress: %w", err)
		}
		out = out[:len(out)+len(plain)]
	}
	return out, nil
}

func snappyBlocks(body []byte) ([][]byte, error) {
	const headerBytes = 16
	magic := []byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0}
	if !bytes.HasPrefix(body, magic) || len(body) < headerBytes {
		return [][]byte{body}, nil
	}
	var blocks [][]byte
	for rest := body[headerBytes:]; len(rest) > 0; {
		if len(rest) < 4 || uint64(binary.BigEndian.Uint32(rest)) > uint64(len(rest)-4) {
			return nil, errors.New("decompress: a block is cut short")
		}
		end := 4 + int(binary.BigEndian.Uint32(rest))
		blocks, rest = append(blocks, rest[4:end]), rest[end:]
	}
	return blocks, nil
}
