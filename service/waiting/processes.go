package waiting

import "fmt"

// processes finds roles that have never been run, and those in which a data directory has no process known to
// brokers.
func processes(f Facts) (out []Condition) {
	for _, r := range f.Roles {
		if r.Directories == 0 {
			out = append(out, Condition{Lasts: f.After, Wait: Wait{
				Cause: ProcessMissing, Move: Operator, Role: r.Name,
				Message: fmt.Sprintf("No process has ever played the role %s.", r.Name),
				Do:      fmt.Sprintf("Start a process that plays it (--set roles=%s), with the same brokers and secret.", r.Name),
			}})
			continue
		}
		if r.Running >= r.Directories {
			continue
		}
		out = append(out, Condition{Lasts: f.After, Wait: Wait{
			Cause: ProcessMissing, Move: Operator, Role: r.Name,
			Message: fmt.Sprintf("Of %d data directories that share the role %s, %d have a process that answers.", r.Directories,
				r.Name, r.Running),
			Do: "Start the process that is missing (lethe members list names the directories), or strike its directory off if " +
				"it is gone for good (lethe members strike).",
		}})
	}
	return out
}

// erasures finds open requests that wait for an action.
func erasures(f Facts) (out []Condition) {
	add := func(w Wait, sign string) {
		w.Move = Operator
		out = append(out, Condition{Lasts: f.After, Sign: sign, Wait: w})
	}
	of := f.Erasures
	for _, d := range of.Absent {
		add(Wait{
			Cause: ErasureUnanswered, Role: d.Role, Instance: d.Instance,
			Message: fmt.Sprintf("Erasures wait for the data directory %s of role %s.", d.Instance, d.Role),
			Do:      "Start its process, or strike it off if it is gone for good (lethe members strike).",
		}, d.Since.String())
	}
	if of.Failed > 0 {
		add(Wait{Cause: ErasureFailed,
			Message: fmt.Sprintf("%d erasure requests have failed and are tried again.", of.Failed),
			Do:      "See lethe erase list, and docs/operations.md, LetheErasureNotVerified."}, "")
	}
	if of.Unsigned > 0 {
		add(Wait{Cause: ErasureHeld, Message: fmt.Sprintf("%d erasure requests wait for another signature.", of.Unsigned),
			Do: "Have another person of compliance sign them: lethe erase list, lethe erase approve."}, "")
	} else if of.Held > 0 {
		add(Wait{Cause: ErasureHeld, Message: fmt.Sprintf("%d erasure requests wait for a hold.", of.Held),
			Do: "See lethe hold list; once a hold is not needed any more, lethe hold lift."}, "")
	}
	return out
}

// alerts detects that the receiver of webhooks.url does not accept alerts.
func alerts(f Facts) []Condition {
	if !f.AlertsFail && f.AlertsLeft == 0 {
		return nil
	}
	message := "The receiver of webhooks.url has not taken the latest alert."
	do := "Mend the receiver; lethe tries again by itself."
	if f.AlertsLeft > 0 {
		message = fmt.Sprintf("The receiver of webhooks.url has not taken %d alerts.", f.AlertsLeft)
		do = "Mend the receiver, then restart lethe: they are tried again first."
	}
	return []Condition{{Lasts: f.After, Wait: Wait{Cause: AlertsUndelivered, Move: Operator, Message: message, Do: do}}}
}
