//go:build !amd64

package inverted

func laneProducts(a []float32, b []byte) (ab, bb [4]float32) { return goLaneProducts(a, b) }
