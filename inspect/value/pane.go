package value

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/store/keytype"
)

// Pane is the value on the screen and the jobs that fetch it.
type Pane struct {
	*ui.PaneContext
	viewState
	// Decoder returns the user's decoder for a key, or nil. The field is nil if the user has no
	// decoders.
	Decoder         func(key string) *Decoder
	previewID       int    // the number of the latest restedMsg requested
	opening         string // the key that the last job of Opening reads
	allValuesSearch string // the search in all values; "" for none
}

// previewMsg arrives after the user stayed on a key for a moment. Only the latest one requested counts.
type previewMsg int

// valueHeadings counts the lines above the value: title and facts.
const valueHeadings = 2

// New returns a pane without a value.
func New(b *ui.PaneContext) Pane { return Pane{PaneContext: b} }

// Update handles messages for this pane and ignores messages for other panes.
func (v *Pane) Update(msg tea.Msg) tea.Cmd {
	switch r := msg.(type) {
	case openedMsg:
		same := v.Shows(r.key)
		deleted := v.onOpened(r)
		if deleted && v.Notice == "" {
			v.Notice = "The open element was deleted or moved."
		}
		if !same && len(v.sheets) > 0 {
			v.sheets[0].needle = needleOf(v.allValuesSearch, asText)
		}
		if r.tree.isCut() && v.wanted == r.key {
			return v.Open(r.key)
		}
	case pagedMsg:
		v.onPaged(r)
	case decodedMsg:
		r.sheet.decoded(r.doc)
	case ownDecodedMsg:
		v.onOwnDecoded(r)
	case filteredMsg:
		v.onFiltered(r)
	case tailFoundMsg:
		v.onTailFound(r)
	case searchedMsg:
		v.onSearched(r)
	case previewMsg:
		return v.onPreview(r)
	}
	return nil
}

// Fill starts the jobs whose results the screen needs, unless they already run.
func (v *Pane) Fill() tea.Cmd {
	var cmds []tea.Cmd
	v.markExpired(v.Now)
	if i, from, ok := v.missing(); ok && !v.Running(job.Paging) && !v.Running(job.Opening) {
		cmds = append(cmds, v.fetch(v.sheet(), i, from))
	}
	if w := v.unreadFilter(); w != nil && !v.Running(job.Filtering) && !v.Running(job.Opening) {
		cmds = append(cmds, v.readFiltered(w))
	}
	if s := v.undecoded(); s != nil && !v.Running(job.Decoding) && !v.Running(job.Opening) {
		cmds = append(cmds, v.decode(s))
	} else if s, d := v.ownDecoder(); d != nil && !v.Running(job.Decoding) && !v.Running(job.Opening) {
		cmds = append(cmds, v.runDecoder(s, d))
	}
	return tea.Batch(cmds...)
}

// Preview shows key after the user stayed on it for a moment.
func (v *Pane) Preview(key string) tea.Cmd {
	if v.phase != noKey && v.wanted == key {
		return nil
	}
	v.setWanted(key)
	v.previewID++
	return v.After(ui.SettleTime, previewMsg(v.previewID))
}

func (v *Pane) onPreview(r previewMsg) tea.Cmd {
	if int(r) != v.previewID || v.phase == noKey || v.Shows(v.wanted) {
		return nil
	}
	return v.Open(v.wanted)
}

// Current returns the wanted key; ok is false without one.
func (v *Pane) Current() (key string, ok bool) { return v.wanted, v.phase != noKey }

// OpenAgain reads key again after the user changed it; the user waits for the result.
func (v *Pane) OpenAgain(key string) tea.Cmd {
	cmd := v.Open(key)
	v.phase = awaiting
	return cmd
}

// IsSettled reports whether key is shown and none of its jobs failed or was stopped.
func (v *Pane) IsSettled(key string) bool { return v.Shows(key) && v.phase != stopped }

// IsOpening reports whether key is wanted and being read already.
func (v *Pane) IsOpening(key string) bool {
	return v.phase == awaiting && v.wanted == key && v.opening == key && v.Running(job.Opening)
}

// Follow reads the value on the screen again in the background; the user does not wait for it.
func (v *Pane) Follow() tea.Cmd {
	if v.showing == showsNothing || v.phase == stopped || v.Running(job.Opening) || v.IsFiltered() {
		return nil
	}
	return v.Open(v.Key)
}

// Tick runs once a second. It reads the value again when it has expired.
func (v *Pane) Tick() tea.Cmd {
	v.refreshTail()
	if v.expires == 0 || v.expires > v.Now || v.gone() {
		return nil
	}
	return v.Follow()
}

// Halt keeps the pane from restarting a job that failed or was stopped.
func (v *Pane) Halt(p job.Purpose) {
	if p == job.Opening || p == job.Paging {
		v.phase = stopped
	}
	if s := v.sheet(); p == job.Filtering && s != nil && s.filter != nil {
		s.filter.halted = true
	}
}

// Resize lays the value out for a pane size. The height includes the headings.
func (v *Pane) Resize(width, height int) {
	v.width, v.height = width, max(height-valueHeadings, 1)
	v.arrange()
	v.fillWhole()
}

// Back stops a running search, removes the filter or closes the opened element. Otherwise it cancels the
// jobs and returns true: the caller leaves the value itself.
func (v *Pane) Back() (left bool) {
	if v.stopRunning() || v.removeFilter() || v.close() {
		return false
	}
	for _, p := range []job.Purpose{job.Opening, job.Paging} {
		if v.Running(p) {
			v.Halt(p)
		}
	}
	v.cancelJobs()
	return true
}

// ForgetAhead drops the moves that wait for unloaded chunks.
func (v *Pane) ForgetAhead() {
	if s := v.sheet(); s != nil {
		s.pager.pendingMove = 0
	}
}

// PageLines returns the lines to scroll per page: one line less than the screen.
func (v *Pane) PageLines() int {
	if s := v.sheet(); s != nil {
		return max(s.pager.height-1, 1)
	}
	return 1
}

// Click selects the line at row y of the pane, and opens it if it was already selected. It returns
// false without a value.
func (v *Pane) Click(y int) bool {
	s := v.sheet()
	if s == nil {
		return false
	}
	if at := y - valueHeadings - v.headings(s); at >= 0 && at < s.pager.height && v.pick(at) {
		v.openElement()
	}
	return true
}

// Leave closes the value.
func (v *Pane) Leave() {
	v.cancelJobs()
	v.InValue = false
	v.viewState = viewState{width: v.width, height: v.height}
}

// cancelJobs cancels the jobs of the open value.
func (v *Pane) cancelJobs() {
	for _, p := range []job.Purpose{job.Opening, job.Paging, job.Decoding, job.Searching, job.Filtering} {
		v.Cancel(p)
	}
}

// stopRunning stops a search, a filter, the move to the end or the live view. It reports whether one
// was active.
func (v *Pane) stopRunning() bool {
	s := v.sheet()
	switch {
	case v.Running(job.Searching):
		v.Cancel(job.Searching)
	case v.Running(job.Filtering):
		v.Cancel(job.Filtering)
		s.stopFilter()
		v.fillWhole()
	case s != nil && s.pager.destination != noDestination && v.Running(job.Paging):
		s.pager.destination = noDestination
		v.Cancel(job.Paging)
	case s != nil && s.live:
		s.live = false
	default:
		return false
	}
	v.Notice = "Stopped."
	return true
}

// IsAwaited reports whether the user waits for the value or for a part of it.
func (v *viewState) IsAwaited() bool {
	if v.phase != settled {
		return v.phase == awaiting
	}
	s := v.sheet()
	return s != nil && !v.gone() && (s.jumping || s.pager.waiting())
}

// IsReadingRest reports whether only the beginning of a document is on the screen, and the rest is being read.
func (v *Pane) IsReadingRest() bool {
	return v.Running(job.Opening) && v.sheet() != nil && v.sheet().doc.isCut()
}

// InTable reports whether elements are shown.
func (v *Pane) InTable() bool {
	s := v.sheet()
	return s != nil && s.isTable()
}

// InDocument reports whether the decoded value is shown.
func (v *Pane) InDocument() bool { return v.sheet() != nil && v.sheet().inDocument() }

// CanOpenElement reports whether the selection can be opened or folded.
func (v *Pane) CanOpenElement() bool { return v.InTable() || v.InDocument() }

// HasOther reports whether the value has another side; ShowOther shows it.
func (v *Pane) HasOther() bool {
	s := v.sheet()
	return s != nil && s.src != nil && s.src.other != nil
}

// OtherName returns the plural name of the elements on the other side of the value.
func (v *Pane) OtherName() string { return v.sheet().src.other.unit[1] }

// SetSearch sets the needle of n and N to the text searched in all values.
func (v *Pane) SetSearch(typed string) {
	if typed == v.allValuesSearch {
		return
	}
	v.allValuesSearch = typed
	for _, s := range v.sheets {
		s.needle = needleOf(typed, asText)
	}
}

// HasSearch reports whether n and N have something to search.
func (v *Pane) HasSearch() bool { return v.sheet() != nil && v.sheet().needle != "" }

// InBytes reports whether bytes are shown, decoded or not.
func (v *Pane) InBytes() bool { return v.sheet() != nil && !v.InTable() }

// ShowOther shows the other side of the value, such as the groups of a stream.
func (v *Pane) ShowOther() tea.Cmd {
	v.showOther()
	return nil
}

// FoldAll folds or unfolds the whole decoded value.
func (v *Pane) FoldAll() tea.Cmd {
	if s := v.sheet(); s != nil && s.inDocument() {
		s.doc.toggleAll()
	}
	return nil
}

// SwitchForm shows the bytes in their next form, or scores as places.
func (v *Pane) SwitchForm() tea.Cmd {
	if s := v.sheet(); s.isTable() && s.src.scoreColumn == 0 {
		return nil
	}
	v.changeForm()
	return nil
}

// EnterElement opens the selected element, or folds the selected line of a decoded value.
func (v *Pane) EnterElement() tea.Cmd {
	v.openElement()
	return nil
}

// Selection returns the value on the screen and its selection.
func (v *Pane) Selection() ui.Selection {
	t := ui.Selection{
		Shown: v.showing != showsNothing, Key: v.Key, Type: v.Kind, Size: v.size, Expires: v.expires, Missing: v.gone(),
	}
	s := v.sheet()
	if s != nil && v.sheets[0].isTable() {
		t.Outer = v.elementOf(v.sheets[0])
	}
	switch {
	case s == nil:
	case s.isTable():
		t.Table, t.Element = true, v.elementOf(s)
		t.Part, t.Group = s.src.part, s.src.group
	default:
		t.Text = s.text()
		if v.Kind == keytype.JSON && s == v.sheets[0] && t.Text.Complete && s.inDocument() && s.doc.tree == nil && s.doc.chain == "JSON" {
			t.Text.Node = s.doc.currentNode(s.whole)
		}
		if o := s.opened; o != nil {
			t.Opened = &ui.Element{Row: o.row, Body: o.body, Name: o.row[o.src.nameColumn], Own: o.own}
		}
	}
	return t
}

// elementOf returns the selected row of a table, or nil.
func (v *Pane) elementOf(s *sheet) *ui.Element {
	row, body, ok := s.element()
	if !ok {
		return nil
	}
	return &ui.Element{Row: row, Body: body, Name: row[s.src.nameColumn], Own: s.src == sourceOf(v.Kind)}
}

// text returns the bytes of s.
func (s *sheet) text() *ui.Text {
	t := &ui.Text{AsStored: s.form != asDocument && s.doc != nil, Data: s.whole, Complete: s.src == nil, Size: s.size}
	if s.doc.isCut() {
		t.Complete, t.Size = false, int64(s.doc.tree.size)
	}
	if s.inDocument() && s.doc.tree != nil {
		if l, ok := s.doc.currentJSON(); ok && !l.cut {
			t.Node = &ui.Node{Path: l.path, Text: s.whole[l.Start:l.End], Large: true}
		}
	} else if s.doc != nil && !s.doc.fromDecoder {
		t.Formatted = strings.Join(s.doc.lines, "\n")
	}
	if !t.Complete {
		c := s.pager.chunks[0]
		t.Partial, t.Missing = s.pager.count > 1, c == nil
		if c != nil {
			t.Data = string(c.data)
		}
	}
	return t
}

// IsEditable reports whether the elements on the screen can be changed: they belong to the key itself or to
// the groups of a stream.
func (v *Pane) IsEditable() bool {
	s := v.sheet()
	return s == nil || s.src == nil || s.src == sourceOf(v.Kind) || s.src.part != ui.Entries
}

// ShowsDelivered reports whether pending entries or consumers are shown.
func (v *Pane) ShowsDelivered() bool { return v.InTable() && v.sheet().src.part > ui.Groups }

// ShowsPending reports whether pending entries are shown.
func (v *Pane) ShowsPending() bool { return v.InTable() && v.sheet().src.part == ui.Pending }

// Loaded returns the number of chunks in memory and roughly their bytes.
func (v *Pane) Loaded() (chunks, bytes int) {
	s := v.sheet()
	if s == nil {
		return 0, 0
	}
	for _, c := range s.pager.chunks {
		bytes += c.bytes()
	}
	return len(s.pager.chunks), bytes
}
