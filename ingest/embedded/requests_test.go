package embedded_test

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lethe/ingest/bus"
	"lethe/ingest/embedded"
	"lethe/ingest/embedded/door"
)

// fill gives every field of a request a value, extremes and names that exist among them.
func fill(v reflect.Value, draw *rand.Rand, names []string) {
	switch v.Kind() { //nolint:exhaustive // requests have no others
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Name != "Version" && f.Name != "UnknownTags" {
				fill(v.Field(i), draw, names)
			}
		}
	case reflect.Pointer:
		if draw.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), draw, names)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(names[draw.IntN(len(names))]))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), draw.IntN(4), 4))
		for i := range v.Len() {
			fill(v.Index(i), draw, names)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), draw, names)
		}
	case reflect.String:
		v.SetString(names[draw.IntN(len(names))])
	case reflect.Bool:
		v.SetBool(draw.IntN(2) == 0)
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		most := int64(1)<<(8*v.Type().Size()-1) - 1
		v.SetInt([]int64{0, 1, 2, 3, -1, -2, 100, most, -most - 1}[draw.IntN(9)])
	case reflect.Uint8:
		v.SetUint(uint64(draw.IntN(256)))
	}
}

// Requests that are well formed and make no sense end neither the broker nor its log.
func TestDoor_RandomRequests_EndNothing(t *testing.T) {
	b, c := start(t, t.TempDir(), embedded.Config{CleanOnDemand: true})
	draw := rand.New(rand.NewPCG(1, 2))
	names := []string{"", "a", "group", "..", "consumer", "range", c.Name(bus.Labels), c.Name(bus.Control), "t"}
	var keys []int16
	door.Versions().EachMaxKeyVersion(func(key, newest int16) {
		if newest >= 0 {
			keys = append(keys, key)
		}
	})
	var conn net.Conn
	for range 3000 {
		if conn == nil {
			conn = dialed(t, b)
		}
		key := keys[draw.IntN(len(keys))]
		newest, _ := door.Versions().LookupMaxKeyVersion(key)
		m := kmsg.RequestForKey(key)
		fill(reflect.ValueOf(m).Elem(), draw, names)
		m.SetVersion(int16(draw.IntN(int(newest) + 1)))
		_, err := conn.Write(framedRequest(m))
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(20*time.Millisecond)))
		if err == nil {
			_, err = io.CopyN(io.Discard, conn, 8)
		}
		if err != nil || draw.IntN(20) == 0 {
			_ = conn.Close()
			conn = nil
		} else if err := drain(conn); err != nil {
			_ = conn.Close()
			conn = nil
		}
	}
	requireServes(t, b)
	require.NoError(t, b.Compact())
}

// drain reads what is left of a response.
func drain(conn net.Conn) error {
	buffer := make([]byte, 64<<10)
	if err := conn.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
		return err
	}
	for {
		if _, err := conn.Read(buffer); err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				return nil
			}
			return err
		}
	}
}
