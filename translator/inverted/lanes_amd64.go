package inverted

// addLanes adds the products of n groups of 4 elements, n > 0, to the lanes of out: first a's and b's, then b's and b's.
//
//go:noescape
func addLanes(a *float32, b *byte, n int, out *[2][4]float32)

// laneProducts returns what goLaneProducts returns, bit by bit, in a fifth of the time.
func laneProducts(a []float32, b []byte) (ab, bb [4]float32) {
	if len(a) == 0 {
		return ab, bb
	}
	var out [2][4]float32
	addLanes(&a[0], &b[0], len(a)/4, &out)
	return out[0], out[1]
}
