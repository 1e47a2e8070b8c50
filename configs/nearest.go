package configs

import (
	"fmt"
	"strings"
)

// unknown is the error of a key that does not exist. It suggests the key that was probably meant,
// if there is one.
func unknown(key string, known []string, origin string) error {
	meant := ""
	if near := nearest(key, known); near != "" {
		meant = ", nearest is " + near
	}
	return fmt.Errorf("%s is not a key%s (from %s; lethe config print shows all)", key, meant, origin)
}

// nearest returns the known name that is closest to the given one: with the fewest letters to
// change, where a name that differs only before its last part counts as one change. Ties go to the
// first. It is empty if more than half of the letters would have to change, because such a name is
// not a misspelling.
func nearest(name string, known []string) string {
	best, least := "", -1
	for _, candidate := range known {
		d := distance(name, candidate)
		if lastPart(candidate) == lastPart(name) {
			d = min(d, 1)
		}
		if least < 0 || d < least {
			best, least = candidate, d
		}
	}
	if 2*least > len(name) {
		return ""
	}
	return best
}

func lastPart(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
