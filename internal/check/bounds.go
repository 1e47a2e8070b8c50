package check

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Bad reports a value with its own description of the allowed ones.
func (p *Problems) Bad(key string, value any, want string, args ...any) {
	if len(args) > 0 {
		want = fmt.Sprintf(want, args...)
	}
	*p = append(*p, Problem{Key: key, Value: value, Want: want})
}

// That reports the value unless ok.
func (p *Problems) That(ok bool, key string, value any, want string, args ...any) {
	if !ok {
		p.Bad(key, value, want, args...)
	}
}

// Whole bounds a whole number, both ends included.
func (p *Problems) Whole(key string, value, from, to int) {
	p.That(value >= from && value <= to, key, value, "%d to %d", from, to)
}

// AtLeast bounds a whole number from below.
func (p *Problems) AtLeast(key string, value, from int) {
	p.That(value >= from, key, value, "at least %d", from)
}

// Number bounds a number, both ends included. NaN is outside every bound, here and in the methods
// below.
func (p *Problems) Number(key string, value, from, to float64) {
	p.That(value >= from && value <= to, key, value, "%v to %v", from, to)
}

// Above bounds a number that must exceed the lower end.
func (p *Problems) Above(key string, value, from, to float64) {
	p.That(value > from && value <= to, key, value, "more than %v, at most %v", from, to)
}

// Below bounds a number that must be less than the upper end.
func (p *Problems) Below(key string, value, from, to float64) {
	p.That(value >= from && value < to, key, value, "%v or more, less than %v", from, to)
}

// Duration bounds a time span, both ends included.
func (p *Problems) Duration(key string, value, from, to time.Duration) {
	p.That(value >= from && value <= to, key, value, "%s to %s", Duration(from), Duration(to))
}

// OneOf accepts only the known names.
func (p *Problems) OneOf(key, value string, known ...string) {
	p.That(slices.Contains(known, value), key, value, "one of %s", strings.Join(known, ", "))
}

// Each accepts only lists of known names without repetition. It accepts an empty list.
func (p *Problems) Each(key, noun string, values []string, known ...string) {
	for i, value := range values {
		p.OneOf(key, value, known...)
		p.Once(key, noun, values, i)
	}
}

// Once reports the i-th value of a list if an earlier value equals it.
func (p *Problems) Once(key, noun string, values []string, i int) {
	p.That(!slices.Contains(values[:i], values[i]), key, values[i], "every %s once", noun)
}

// HostPort accepts the address of a server: a host and a port.
func (p *Problems) HostPort(key, value string) {
	host, port, ok := splitAddress(value)
	p.That(ok && port > 0, key, value, "host:port")
	p.That(!ok || port == 0 || host != "", key, value, "host:port with a host")
}

// ListenAddress accepts an address to listen on. Without a host it means all addresses; port 0
// means any free port.
func (p *Problems) ListenAddress(key, value string) {
	_, _, ok := splitAddress(value)
	p.That(ok, key, value, "host:port")
}

func splitAddress(value string) (host string, port uint64, ok bool) {
	host, text, err := net.SplitHostPort(value)
	if err != nil {
		return "", 0, false
	}
	port, err = strconv.ParseUint(text, 10, 16)
	return host, port, err == nil
}

// Sorted sorts the problems by the position of their keys in a list; problems of one key keep
// their order.
func (p Problems) Sorted(keys []string) Problems {
	sorted := slices.Clone(p)
	slices.SortStableFunc(sorted, func(a, b Problem) int {
		return cmp.Compare(slices.Index(keys, a.Key), slices.Index(keys, b.Key))
	})
	return sorted
}

// Duration formats 5m0s as 5m and 720h0m0s as 720h.
func Duration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
