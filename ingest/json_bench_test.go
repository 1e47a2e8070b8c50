package ingest

import (
	"bytes"
	"math"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"lethe"
)

// What a transaction of 166 features takes to parse, and what the library would take: by its tokens, and by its values
// with the numbers parsed here. See decision 90.
func BenchmarkParseTransaction(b *testing.B) {
	tx := lethe.Transaction{ID: "232629023", Timestep: 1}
	for i := range 166 {
		tx.Features = append(tx.Features, float32(math.Sin(float64(i))))
	}
	_, value, err := EncodeTransaction(tx)
	require.NoError(b, err)
	library := func(read func(d *jsontext.Decoder, to []float32) []float32) func() []float32 {
		r := bytes.NewReader(value)
		d, features := jsontext.NewDecoder(r), make([]float32, 0, len(tx.Features))
		return func() []float32 {
			r.Reset(value)
			d.Reset(r)
			return libraryFeatures(b, d, features, read)
		}
	}
	var room rows
	for name, parse := range map[string]func() []float32{
		"lethe": func() []float32 {
			room.next, room.free = 0, nil
			o := object{room: &room}
			require.Nil(b, parseObject(&o, value, len(tx.Features)))
			return o.features
		},
		"library-tokens": library(func(d *jsontext.Decoder, to []float32) []float32 {
			for d.PeekKind() != ']' {
				number, err := d.ReadToken()
				if err != nil {
					b.Fatal(err)
				}
				v, err := number.Float()
				if err != nil {
					b.Fatal(err)
				}
				to = append(to, float32(v))
			}
			return to
		}),
		"library-values": library(nil),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(value)))
			for b.Loop() {
				require.Len(b, parse(), len(tx.Features))
			}
		})
	}
}

// libraryFeatures parses a transaction with the library. Without read it takes the list of features as a value, and
// parses the numbers as lethe does.
func libraryFeatures(
	b *testing.B, d *jsontext.Decoder, to []float32, read func(*jsontext.Decoder, []float32) []float32,
) []float32 {
	next := func() jsontext.Token {
		token, err := d.ReadToken()
		require.NoError(b, err)
		return token
	}
	next()
	for d.PeekKind() != '}' {
		switch name := next().String(); {
		case name != "features":
			next()
		case read == nil:
			list, err := d.ReadValue()
			require.NoError(b, err)
			list[len(list)-1] = ','
			s := scanner{text: append(list, ' '), at: 1}
			to = s.plainNumbers(to)
		default:
			next()
			to = read(d, to)
			next()
		}
	}
	return to
}
