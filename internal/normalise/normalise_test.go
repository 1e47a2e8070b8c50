package normalise_test

import (
	"encoding/json"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe/internal/normalise"
)

func TestStepsChangeWhatTheySay(t *testing.T) {
	for _, c := range []struct {
		name string
		rule normalise.Rule
		from string
		to   string
	}{
		{"none leaves all as it is", nil, "Ame\u0301lie ", "Ame\u0301lie "},
		{"nfc composes", normalise.Rule{normalise.NFC}, "ame\u0301lie", "am\u00e9lie"},
		{"nfc keeps case, blanks and digits", normalise.Rule{normalise.NFC}, "Kunde \uff11 ", "Kunde \uff11 "},
		{"casefold of ASCII", normalise.Rule{normalise.Casefold}, "Kunde-A", "kunde-a"},
		{"casefold of more than one letter", normalise.Rule{normalise.Casefold}, "STRASSE stra\u00dfe", "strasse strasse"},
		{"casefold composes", normalise.Rule{normalise.Casefold}, "AME\u0301LIE", "am\u00e9lie"},
		{"casefold of Cherokee", normalise.Rule{normalise.Casefold}, "\uab70\u13a0\u13f8", "\u13a0\u13a0\u13f0"},
		{"trim", normalise.Rule{normalise.Trim}, "\u00a0 a b\t", "a b"},
		{"full-width digits", normalise.Rule{normalise.Digits}, "\uff11\uff12a", "12a"},
		{"digits of other scripts", normalise.Rule{normalise.Digits}, "\u0661\u0968\U0001d7ff", "129"},
		{"all", normalise.Steps(), " KUNDE-\uff10\u0301 ", "kunde-0\u0301"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.to, c.rule.Name(c.from))
			require.Equal(t, c.to, c.rule.Name(c.to), "the normal form has another one")
		})
	}
}

func TestDigits_EveryDecimalDigit_IsOneOfTen(t *testing.T) {
	rule := normalise.Rule{normalise.Digits}
	of := make(map[string]int)
	for c := rune(0); c <= unicode.MaxRune; c++ {
		if unicode.IsDigit(c) {
			of[rule.Name(string(c))]++
		}
	}
	require.Len(t, of, 10)
	for digit, n := range of {
		require.Equal(t, of["0"], n, "digit %s", digit)
	}
}

// rules draws steps.
func rules() *rapid.Generator[normalise.Rule] {
	return rapid.Map(rapid.SliceOfDistinct(rapid.SampledFrom(normalise.Steps()), rapid.ID[string]),
		func(steps []string) normalise.Rule { return steps })
}

func TestTheNormalFormStaysItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule, name := rules().Draw(t, "rule"), rapid.String().Draw(t, "name")
		once := rule.Name(name)
		require.Equal(t, once, rule.Name(once))
		require.Equal(t, normalise.Folded(once), normalise.Folded(name), "a spelling of it has another fold")
	})
}

func TestSaid_JSON_SaysTheSameWithNormalNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule, name := rules().Draw(t, "rule"), rapid.String().Filter(utf8.ValidString).Draw(t, "name")
		value := map[string]any{"id": name, "features": []any{1.5, nil}, "subjects": []any{name, "b"}}
		text, err := json.Marshal(value)
		require.NoError(t, err)
		said, changed := rule.NormalPart(text)
		require.Equal(t, rule.Name(name) != name, changed && rule.Name(name) != name)
		var out map[string]any
		require.NoError(t, json.Unmarshal(said, &out))
		require.Equal(t, rule.Name(name), out["id"])
		require.Equal(t, []any{rule.Name(name), rule.Name("b")}, out["subjects"])
		require.Equal(t, value["features"], out["features"])
	})
}

func TestSaid_BrokenText_IsNormalisedAsAWhole(t *testing.T) {
	said, changed := normalise.Rule{normalise.NFC}.NormalPart([]byte("{\"id\":\"ame\u0301lie"))
	require.True(t, changed)
	require.Equal(t, "{\"id\":\"am\u00e9lie", string(said))
	_, changed = normalise.Rule{normalise.NFC}.NormalPart([]byte(`{"id":"a","features":[1,2]}`))
	require.False(t, changed)
}

func TestKey_Payment_HasBothEndsInNormalForm(t *testing.T) {
	rule := normalise.Rule{normalise.NFC, normalise.Trim}
	// U+0338 behind '>' would compose with it.
	require.Equal(t, "\u00e9>\u0338b", string(rule.Key([]byte("e\u0301 >\u0338b"))))
}

// Every name that a rule changes has a normal form that it tells to vary.
func TestVaries_TheNormalFormOfAnotherSpelling_Varies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule, name := rules().Draw(t, "rule"), rapid.String().Draw(t, "name")
		if form := rule.Name(name); form != name && !rule.Varies(form) {
			t.Fatalf("%q is %q by %v, which is said to have no other spelling", name, form, rule)
		}
	})
	for c := rune(0); c <= unicode.MaxRune; c++ {
		for _, step := range normalise.Steps() {
			rule, name := normalise.Rule{step}, string(c)
			if form := rule.Name(name); form != name && utf8.ValidRune(c) {
				require.True(t, rule.Varies(form), "%U is %q by %s", c, form, step)
			}
		}
	}
	for _, plain := range []string{"transaction-1", "a|b", "é"} {
		require.Equal(t, plain == "é", normalise.Rule{normalise.NFC}.Varies(plain), plain)
		require.False(t, normalise.Rule(nil).Varies(plain), plain)
	}
}
