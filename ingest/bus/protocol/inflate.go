package protocol

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/segmentio/kafka-go/compress"
)

// maxInflatedBytes bounds what a compressed batch may grow to. Producers fill
// batches of a megabyte or less before they compress them.
const maxInflatedBytes = 32 << 20

// errInflation is the error of a batch that grows beyond maxInflatedBytes.
var errInflation = fmt.Errorf("it inflates to more than %d bytes", maxInflatedBytes)

// inflate decompresses the records of a batch. However large it claims or turns
// out to be, it takes no more memory than a few times maxInflatedBytes.
func inflate(body []byte, codec int16) ([]byte, error) {
	switch compression := compress.Compression(codec); compression {
	case compress.None:
		return body, nil
	case compress.Snappy:
		return inflateSnappy(body)
	case compress.Zstd:
		return inflateZstd(body)
	case compress.Gzip, compress.Lz4:
		reader := compression.Codec().NewReader(bytes.NewReader(body))
		out, err := readBounded(reader, len(body))
		return out, errors.Join(err, reader.Close())
	default:
		return nil, fmt.Errorf("unknown compression %d", codec)
	}
}

// readBounded reads everything, for which there is room as it comes.
func readBounded(r io.Reader, compressedBytes int) ([]byte, error) {
	out := make([]byte, 0, min(4*compressedBytes+bytes.MinRead, maxInflatedBytes+1))
	for {
		n, err := r.Read(out[len(out):cap(out)])
		out = out[:len(out)+n]
		switch {
		case len(out) > maxInflatedBytes:
			return nil, errInflation
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, fmt.Errorf("decompress: %w", err)
		}
		if len(out) == cap(out) {
			grown := make([]byte, len(out), min(2*cap(out), maxInflatedBytes+1))
			copy(grown, out)
			out = grown
		}
	}
}

// inflateZstd bounds the window too, for which a decoder makes room at once.
func inflateZstd(body []byte) ([]byte, error) {
	decoder, err := zstd.NewReader(bytes.NewReader(body), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(maxInflatedBytes), zstd.WithDecoderMaxWindow(maxInflatedBytes))
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	defer decoder.Close()
	out, err := readBounded(decoder, len(body))
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) || errors.Is(err, zstd.ErrWindowSizeExceeded) {
		return nil, errInflation
	}
	return out, err
}

// inflateSnappy reads one block, or a row of blocks as Java's snappy frames them:
// 16 bytes of header, then every block behind its length. A block begins with the
// length to which it grows.
func inflateSnappy(body []byte) ([]byte, error) {
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
		if total += size; total > maxInflatedBytes {
			return nil, errInflation
		}
	}
	out := make([]byte, 0, total)
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
