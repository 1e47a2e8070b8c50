package service

import (
	"fmt"
	"time"

	"lethe/metrics/events"
)

// diskComponent is the name of the data directory's disk in health checks.
const diskComponent = "disk"

// watchDisk is a patientfs.Watch.
func (o *outages) watchDisk(path string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	waited := len(o.disk) > 0
	if err == nil {
		if delete(o.disk, path); waited && len(o.disk) == 0 {
			o.log.Info("the disk takes writes again", "after", now.Sub(o.diskSince).Round(time.Millisecond))
		}
	} else {
		if !waited {
			o.diskSince, o.diskLogged = now, time.Time{}
		}
		o.disk[path] = err.Error()
		if now.Sub(o.diskLogged) >= remindInterval {
			o.diskLogged = now
			o.log.Error("waiting for the disk to take writes", "what", path, "and_more", len(o.disk)-1,
				"error", err.Error())
		}
	}
	o.publishDisk()
}

// brokerWrites records whether the embedded broker's disk accepts writes.
func (s *Service) brokerWrites() {
	if s.broker == nil {
		return
	}
	folder := BrokerDir(s.config.DataDir)
	if err := s.broker.Refusing(); err != nil || s.outages.waitsForDisk(folder) {
		s.outages.watchDisk(folder, err)
	}
}

// waitsForDisk reports whether a path cannot be written at present.
func (o *outages) waitsForDisk(path string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, waits := o.disk[path]
	return waits
}

// publishDisk reports the state of the disk to health checks and metrics. The caller holds mu.
func (o *outages) publishDisk() {
	o.sink.DiskChanged(events.DiskChanged{Paths: len(o.disk)})
	// A file system's error contains the path.
	if _, why := first(o.disk); why != "" {
		if more := len(o.disk) - 1; more > 0 {
			why += fmt.Sprintf(" (and %d more)", more)
		}
		o.health.Set(diskComponent, false, "it takes no writes, which wait: "+why)
		return
	}
	o.health.Set(diskComponent, true, "")
}
