package record

// Row is a key of a store and its value.
type Row struct{ Key, Value []byte }
