package residue

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"lethe"
)

// decoded is the decoded JSON of a file: its strings and its arrays of numbers.
type decoded struct {
	texts    map[string]bool
	rows     [][]float32
	payments map[Payment]bool
	// of holds the features that objects give for ids.
	of map[string][][]float32
}

// decodeAll decodes every JSON object, array and string in data with encoding/json, at any position.
func decodeAll(data []byte) decoded {
	s := decoded{texts: make(map[string]bool), payments: make(map[Payment]bool), of: make(map[string][][]float32)}
	for at := 0; at < len(data); {
		next := bytes.IndexAny(data[at:], `{["`)
		if next < 0 {
			break
		}
		at += next
		n, ok := s.decode(data[at:])
		if !ok {
			at++
			continue
		}
		at += n
	}
	return s
}

// decode decodes the JSON value at the beginning of data and returns its length.
func (s *decoded) decode(data []byte) (int, bool) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var value any
	if d.Decode(&value) != nil {
		return 0, false
	}
	s.take(value)
	return int(d.InputOffset()), true
}

func (s *decoded) take(value any) {
	switch v := value.(type) {
	case string:
		s.text(v)
	case map[string]any:
		for name, member := range v {
			s.text(name)
			s.take(member)
		}
		source, isSource := v["source"].(string)
		target, isTarget := v["target"].(string)
		if isSource && isTarget {
			s.payments[Payment{source, target}] = true
		}
		id, isID := v["id"].(string)
		list, isList := v["features"].([]any)
		if isID && isList {
			s.of[id] = append(s.of[id], numbers(list))
		}
	case []any:
		for _, element := range v {
			s.take(element)
		}
		row := numbers(v)
		if len(row) > 1 && len(row) == len(v) {
			s.rows = append(s.rows, row)
		}
	}
}

// numbers returns the numbers of a list; null is a missing value.
func numbers(list []any) (row []float32) {
	for _, element := range list {
		switch e := element.(type) {
		case nil:
			row = append(row, lethe.Missing())
		case json.Number:
			if f, err := strconv.ParseFloat(e.String(), 32); err == nil {
				row = append(row, float32(f))
			}
		}
	}
	return row
}

// hasFeatures reports whether an object has features of an id that are not 0.
func (s *decoded) hasFeatures(of Features) bool {
	return slices.ContainsFunc(s.of[of.ID], func(row []float32) bool {
		for i, v := range row {
			if v != 0 && (len(of.Columns) == 0 || slices.Contains(of.Columns, i)) {
				return true
			}
		}
		return false
	})
}

// text records a string, the ends of a payment in it, and JSON nested in it.
func (s *decoded) text(v string) {
	for part := range strings.SplitSeq(v, ">") {
		s.texts[part] = true
	}
	if source, target, joined := strings.Cut(v, ">"); joined {
		s.payments[Payment{source, target}] = true
	}
	d := json.NewDecoder(strings.NewReader(v))
	d.UseNumber()
	var nested any
	if !strings.ContainsAny(v, `{["`) || d.Decode(&nested) != nil {
		return
	}
	if _, err := d.Token(); errors.Is(err, io.EOF) {
		s.take(nested)
	}
}

// holds reports whether the form is in the decoded JSON.
func (s *decoded) holds(f Form) bool {
	if f.Text != "" && s.texts[f.Text] || f.Payment != (Payment{}) && s.payments[f.Payment] {
		return true
	}
	if f.Of.ID != "" && s.hasFeatures(f.Of) {
		return true
	}
	same := func(row []float32) bool { return bytes.Equal(rowBytes(row), rowBytes(f.Row)) }
	return len(f.Row) > 0 && slices.ContainsFunc(s.rows, same)
}
