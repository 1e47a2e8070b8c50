package configs

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// checker collects problems in the order in which they are found.
type checker struct {
	origin func(key string) string
	found  []error
}

// bounds is a closed interval, or one open at its lower end if above is set.
type bounds struct {
	from, to float64
	above    bool
}

func (k *checker) err() error { return errors.Join(k.found...) }

func (k *checker) bad(key string, value any, want string) {
	from := ""
	if k.origin != nil {
		from = k.origin(key)
	}
	k.found = append(k.found, problem(key, value, want, from))
}

// problem is the one form in which a wrong value is reported.
func problem(key string, value any, want, origin string) error {
	if s, ok := value.(string); ok {
		value = strconv.Quote(s)
	}
	if origin != "" {
		return fmt.Errorf("%s is %v, want %s (from %s)", key, value, want, origin)
	}
	return fmt.Errorf("%s is %v, want %s", key, value, want)
}

func (k *checker) oneOf(key, value string, known ...string) {
	if !slices.Contains(known, value) {
		k.bad(key, value, "one of "+list(known))
	}
}

func (k *checker) count(key string, value, from, to int) {
	if value < from || value > to {
		k.bad(key, value, fmt.Sprintf("%d to %d", from, to))
	}
}

// number is written so that NaN fails every bound.
func (k *checker) number(key string, value float64, b bounds) {
	inside := value >= b.from && value <= b.to
	want := fmt.Sprintf("%v to %v", b.from, b.to)
	if b.above {
		inside = inside && value > b.from
		want = fmt.Sprintf("more than %v, at most %v", b.from, b.to)
	}
	if !inside {
		k.bad(key, value, want)
	}
}

func (k *checker) duration(key string, value, from, to time.Duration) {
	if value < from || value > to {
		k.bad(key, shortDuration(value), fmt.Sprintf("%s to %s", shortDuration(from), shortDuration(to)))
	}
}

// hostPort accepts port 0 (any free one) only where the process listens.
func (k *checker) hostPort(key, value string, listens bool) {
	host, portText, err := net.SplitHostPort(value)
	port, portErr := strconv.ParseUint(portText, 10, 16)
	switch {
	case err != nil || portErr != nil || (port == 0 && !listens):
		k.bad(key, value, "host:port")
	case host == "" && !listens:
		k.bad(key, value, "host:port with a host")
	}
}

// topicPrefix holds Kafka's rule for topic names, with room for the longest of
// ours under its limit of 249 characters.
func (k *checker) topicPrefix(key, value string) {
	if len(value) > 200 || !regexp.MustCompile(`^[a-zA-Z0-9._-]*$`).MatchString(value) {
		k.bad(key, value, "at most 200 letters, digits, dots, underscores and hyphens")
	}
}

func list(names []string) string { return strings.Join(names, ", ") }

// shortDuration writes 5m0s as 5m.
func shortDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
