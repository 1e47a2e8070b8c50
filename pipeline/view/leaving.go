package view

import "lethe"

// WhileShown calls do and returns true if people are told of a transaction, and false if not. That
// a transaction is suppressed is not said before do has returned: what do sends has left before, and
// nothing leaves afterwards. So do must not take long.
func (r *Reader) WhileShown(id lethe.TransactionID, do func()) bool {
	r.hidden.leaving.RLock()
	defer r.hidden.leaving.RUnlock()
	if r.hidden.is(nameOfID(r.secret, id)) {
		return false
	}
	do()
	return true
}

// awaitLeaving waits for those who began to send something before they could know that it is hidden.
func (h *hidden) awaitLeaving() {
	h.leaving.Lock()
	defer h.leaving.Unlock()
}
