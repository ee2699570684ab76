package sketch

import (
	"encoding/binary"
	"math"

	"github.com/meowdis/meowdis/redis/rdb"
)

// TDigest estimates quantiles, by a merging t-digest. Products are converted to float64 explicitly, so that no processor
// rounds a product and a sum at once.
type TDigest struct {
	Compression, Min, Max        float64
	Cap, Merged, Unmerged        int64 // nodes
	Compressions                 int64
	MergedWeight, UnmergedWeight int64
	Body                         *Body // the nodes: a mean and a weight, 8 bytes each
}

const (
	digestHead = 72
	nodeBytes  = 16
)

// NewTDigest returns an empty digest. It fails if it would exceed MaxBytes.
func NewTDigest(compression int64) (*TDigest, error) {
	if compression > MaxBytes/nodeBytes/6-2 {
		return nil, ErrTooLarge
	}
	d := &TDigest{Compression: float64(compression), Cap: 6*compression + 10, Body: EmptyBody()}
	d.Reset()
	return d, nil
}

// Reset removes all observations. The nodes must be ready.
func (d *TDigest) Reset() {
	d.Body.grow(d.Len())
	d.Body.Write(0, make([]byte, d.Len()))
	d.Min, d.Max = math.MaxFloat64, -math.MaxFloat64
	d.Merged, d.Unmerged, d.Compressions, d.MergedWeight, d.UnmergedWeight = 0, 0, 0, 0, 0
}

func (d *TDigest) nodes() int64 { return d.Merged + d.Unmerged }

// Size returns the number of observations.
func (d *TDigest) Size() int64 { return d.MergedWeight + d.UnmergedWeight }

// Ready reports whether all nodes are loaded.
func (d *TDigest) Ready() bool { return d.Body.ready(0, nodeBytes*d.nodes()) }

func (d *TDigest) mean(i int64) float64 { return math.Float64frombits(d.Body.uint64At(nodeBytes * i)) }
func (d *TDigest) weight(i int64) int64 { return int64(d.Body.uint64At(nodeBytes*i + 8)) }

func (d *TDigest) setNode(i int64, n node) {
	d.Body.setUint64(nodeBytes*i, math.Float64bits(n.mean))
	d.Body.setUint64(nodeBytes*i+8, uint64(n.weight))
}

type node struct {
	mean   float64
	weight int64
}

func (d *TDigest) all() []node {
	d.Body.grow(d.Len())
	nodes := make([]node, d.nodes())
	for i := range nodes {
		nodes[i] = node{d.mean(int64(i)), d.weight(int64(i))}
	}
	return nodes
}

// Add adds an observation. done is false if blocks must be loaded first; ok is false if a weight overflows.
func (d *TDigest) Add(mean float64, weight int64, step func(int)) (ok, done bool) {
	if d.nodes() >= d.Cap-1 {
		if !d.Ready() {
			return true, false
		}
		d.Compress(step)
	}
	at := d.nodes()
	if at >= d.Cap || weight > math.MaxInt64-d.Size() {
		return false, true
	}
	if !d.Body.ready(nodeBytes*at, nodeBytes) {
		return true, false
	}
	d.setNode(at, node{mean, weight})
	d.Unmerged++
	d.UnmergedWeight += weight
	d.Min, d.Max = min(d.Min, mean), max(d.Max, mean)
	return true, true
}

// Compress merges nodes. All must be ready. A single observation stays unmerged, as in Redis.
func (d *TDigest) Compress(step func(int)) {
	total := d.Size()
	if d.Unmerged == 0 || total <= 1 {
		return
	}
	nodes := d.all()
	sortNodes(nodes, step)
	w := float64(total)
	normalizer := d.Compression / float64(float64(2*math.Pi*w)*math.Log(w))
	last, sofar := 0, 0.0
	for _, n := range nodes[1:] {
		step(1)
		proposed := float64(nodes[last].weight) + float64(n.weight)
		z := proposed * normalizer
		q0, q2 := sofar/w, (sofar+proposed)/w
		if z <= float64(q0*(1-q0)) && z <= float64(q2*(1-q2)) {
			to := &nodes[last]
			to.weight += n.weight
			to.mean += float64(float64(n.mean-to.mean)*float64(n.weight)) / float64(to.weight)
		} else {
			sofar += float64(nodes[last].weight)
			last++
			nodes[last] = n
		}
	}
	merged := int64(last + 1)
	for i, n := range nodes {
		if int64(i) >= merged {
			n = node{}
		}
		d.setNode(int64(i), n)
	}
	d.Merged, d.Unmerged = merged, 0
	d.MergedWeight, d.UnmergedWeight = total, 0
	d.Compressions++
}

// sortNodes sorts by mean. The order of equal means is Redis's: a quicksort whose pivot is in the middle.
func sortNodes(all []node, step func(int)) {
	for len(all) > 1 {
		step(len(all))
		if len(all) == 2 {
			if all[0].mean > all[1].mean {
				all[0], all[1] = all[1], all[0]
			}
			return
		}
		end := len(all) - 1
		pivot := end / 2
		all[pivot], all[end] = all[end], all[pivot]
		low := 0
		for i := range end {
			if all[i].mean < all[end].mean {
				all[low], all[i] = all[i], all[low]
				low++
			}
		}
		all[low], all[end] = all[end], all[low]
		before, after := all[:low], all[low+1:]
		if len(before) > len(after) { // the shorter part is sorted first, so that the stack stays small
			before, after = after, before
		}
		sortNodes(before, step)
		all = after
	}
}

// Merge adds the nodes of another digest. Both must be ready. It compresses a copy of the other one. ok is false if a
// weight overflows.
func (d *TDigest) Merge(from *TDigest, step func(int)) (ok bool) {
	d.Compress(step)
	from.Compress(step)
	for i := range from.nodes() {
		step(1)
		if ok, done := d.Add(from.mean(i), from.weight(i), step); !ok || !done {
			return false
		}
	}
	return true
}

// average returns the weighted average of two means, which lies between them.
func average(x1, w1, x2, w2 float64) float64 {
	if x1 > x2 {
		x1, w1, x2, w2 = x2, w2, x1, w1
	}
	x := (float64(x1*w1) + float64(x2*w2)) / (w1 + w2)
	return max(x1, min(x, x2))
}

// Head encodes the fields of the digest.
func (d *TDigest) Head() []byte {
	var out []byte
	for _, f := range []float64{d.Compression, d.Min, d.Max} {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(f))
	}
	for _, n := range []int64{d.Cap, d.Merged, d.Unmerged, d.Compressions, d.MergedWeight, d.UnmergedWeight} {
		out = binary.LittleEndian.AppendUint64(out, uint64(n))
	}
	return out
}

func parseTDigest(head []byte, body *Body) (*TDigest, bool) {
	if len(head) != digestHead {
		return nil, false
	}
	number := func(i int) int64 { return int64(binary.LittleEndian.Uint64(head[8*i:])) }
	double := func(i int) float64 { return math.Float64frombits(uint64(number(i))) }
	d := &TDigest{
		Compression: double(0), Min: double(1), Max: double(2), Cap: number(3), Merged: number(4), Unmerged: number(5),
		Compressions: number(6), MergedWeight: number(7), UnmergedWeight: number(8), Body: body,
	}
	return d, d.valid()
}

func (d *TDigest) valid() bool {
	return d.Compression >= 1 && d.Compression <= MaxBytes && d.Cap > 0 && d.Cap <= MaxBytes/nodeBytes && d.Merged >= 0 && d.Unmerged >= 0 &&
		d.Merged <= d.Cap && d.Unmerged <= d.Cap-d.Merged && d.MergedWeight >= 0 && d.UnmergedWeight >= 0 &&
		d.UnmergedWeight <= math.MaxInt64-d.MergedWeight && d.Compressions >= 0 && !math.IsNaN(d.Min) && !math.IsNaN(d.Max)
}

// Len returns the bytes of the nodes.
func (d *TDigest) Len() int64 { return nodeBytes * d.nodes() }

// Memory returns the bytes that Redis's digest takes.
func (d *TDigest) Memory() int64 { return 80 + nodeBytes*d.Cap }

// Stored returns the body.
func (d *TDigest) Stored() *Body { return d.Body }

// Replace makes the digest equal to another one, all of whose nodes are ready, as are its own.
func (d *TDigest) Replace(by *TDigest) {
	nodes := by.Body.Bytes(0, by.Len())
	d.Reset()
	body := d.Body
	*d = *by
	d.Body = body
	body.Write(0, nodes)
}

// Dump returns the value of a dump file. It compresses the digest, whose nodes must be ready. A file has no unmerged
// nodes, and Redis loses a single observation, which is merged here.
func (d *TDigest) Dump() *rdb.Module {
	d.Compress(func(int) {})
	d.Merged, d.Unmerged = d.nodes(), 0
	d.MergedWeight, d.UnmergedWeight = d.Size(), 0
	m := &rdb.Module{Name: TDigestName}
	for _, f := range []float64{d.Compression, d.Min, d.Max} {
		m.Double(f)
	}
	m.Numbers(uint64(d.Cap), uint64(d.Merged), uint64(d.Unmerged), uint64(d.Compressions))
	m.Double(float64(d.MergedWeight))
	m.Double(float64(d.UnmergedWeight))
	for i := range d.Merged {
		m.Double(d.mean(i))
	}
	for i := range d.Merged {
		m.Double(float64(d.weight(i)))
	}
	return m
}

func tdigestOf(m *rdb.Module) (*TDigest, bool) {
	r := m.Reader()
	d := &TDigest{Compression: r.Double(), Min: r.Double(), Max: r.Double()}
	d.Cap, d.Merged, d.Unmerged, d.Compressions = int64(r.Number()), int64(r.Number()), int64(r.Number()), int64(r.Number())
	merged, unmerged := r.Double(), r.Double()
	const most = 1 << 62
	if !(merged >= 0 && merged < most && unmerged >= 0 && unmerged < most) {
		return nil, false
	}
	d.MergedWeight, d.UnmergedWeight = int64(merged), int64(unmerged)
	if d.Body = EmptyBody(); !d.valid() {
		return nil, false
	}
	for i := int64(0); i < d.Merged && r.More(); i++ {
		d.Body.setUint64(nodeBytes*i, math.Float64bits(r.Double()))
	}
	total := int64(0)
	for i := int64(0); i < d.Merged && r.More(); i++ {
		weight := r.Double()
		if !(weight >= 1 && weight < most) || int64(weight) > d.MergedWeight-total || math.IsNaN(d.mean(i)) {
			return nil, false
		}
		total += int64(weight)
		d.Body.setUint64(nodeBytes*i+8, uint64(int64(weight)))
	}
	if !r.Done() || total != d.MergedWeight {
		return nil, false
	}
	// A file has no unmerged nodes, only their number. A single one is known.
	unmerged = float64(d.UnmergedWeight)
	d.Unmerged, d.UnmergedWeight = 0, 0
	if d.Merged == 0 && unmerged == 1 && d.Min == d.Max {
		d.setNode(0, node{d.Min, 1})
		d.Unmerged, d.UnmergedWeight = 1, 1
	}
	return d, true
}
