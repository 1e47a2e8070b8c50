package plainnumber_test

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe/internal/plainnumber"
)

// A number ends where the grammar of RFC 8259 ends it, and is an integer if its value is one.
func TestDrawnNumbers_EndAndInteger_AgreeWithGrammarAndArithmetic(t *testing.T) {
	digits := rapid.StringMatching(
		`-?(0|[1-9][0-9]{0,17}|9007199254740992)(\.[0-9]{0,18})?([eE][-+]?[0-9]{0,2})?[,x]?|[-+.0-9eE]{0,6}`)
	rapid.Check(t, func(rt *rapid.T) {
		text := digits.Draw(rt, "text")
		end, malformed := plainnumber.End([]byte(text), 0)
		number := inJSON.FindString(text)
		if malformed != "" {
			require.True(rt, text == "" || text != number, text)
			return
		}
		require.Equal(rt, number, text[:end])
		const most = 1 << 53
		value, ok := plainnumber.Integer([]byte(number), most)
		exact, isNumber := new(big.Rat).SetString(number)
		require.True(rt, isNumber)
		fits := exact.IsInt() && exact.Sign() >= 0 && exact.Num().Cmp(big.NewInt(most)) <= 0
		require.Equal(rt, fits, ok, number)
		if ok {
			require.Equal(rt, exact.Num().String(), fmt.Sprint(value), number)
		}
	})
}

// Exponents that no arithmetic could carry out end at once.
func TestInteger_FarExponent_NoWork(t *testing.T) {
	for text, want := range map[string]bool{
		"0e999999999999999999999": true, "1e999999999999999999999": false, "1e-999999999999999999999": false, "-0.0e99": true,
	} {
		value, ok := plainnumber.Integer([]byte(text), 1<<53)
		require.Equal(t, want, ok, text)
		require.Zero(t, value, text)
	}
}
