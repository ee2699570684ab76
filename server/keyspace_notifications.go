package server

import (
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/engine/keyevents"
	"github.com/meowdis/meowdis/engine/pubsub"
)

// eventsParameter selects the keyspace events to publish, and their channels.
const eventsParameter = "notify-keyspace-events"

// allClasses lists the event classes that A stands for.
const allClasses = "g$lshzxetd"

// shownClasses returns classes as CONFIG GET shows them.
func shownClasses(classes string) string {
	if strings.HasPrefix(classes, "A") {
		return strings.ReplaceAll(classes, "n", "")
	}
	return classes
}

// notify publishes the keyspace events of the classes.
func (s *Server) notify(classes string) {
	if classes == s.eventClasses {
		return
	}
	s.eventClasses = classes
	byKey, byEvent := strings.Contains(classes, "K"), strings.Contains(classes, "E")
	classes = strings.ReplaceAll(classes, "A", allClasses)
	on := strings.Trim(classes, "KE") != "" && (byKey || byEvent)
	if s.notifies.Store(on); !on {
		s.config.Engine.SetNotify(nil)
		return
	}
	s.config.Engine.SetNotify(func(events []keyevents.Event) {
		for _, e := range events {
			if strings.IndexByte(classes, e.Class) < 0 {
				continue
			}
			at := "@" + strconv.Itoa(e.DB) + "__:"
			if byKey {
				s.hub.DeliverLocal(pubsub.Channel, append([]byte("__keyspace"+at), e.Key...), []byte(e.Name))
			}
			if byEvent {
				s.hub.DeliverLocal(pubsub.Channel, []byte("__keyevent"+at+e.Name), e.Key)
			}
		}
	})
}
