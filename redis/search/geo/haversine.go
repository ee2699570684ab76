package geo

import "math"

// EarthRadius is the radius in meters that Redis's geo commands use.
const EarthRadius = 6372797.560856

// Haversine returns the meters between two points in degrees.
func Haversine(lon1, lat1, lon2, lat2 float64) float64 {
	const radian = math.Pi / 180
	u := math.Sin((lat2 - lat1) * radian / 2)
	v := math.Sin((lon2 - lon1) * radian / 2)
	return 2 * EarthRadius * math.Asin(math.Sqrt(min(1, u*u+math.Cos(lat1*radian)*math.Cos(lat2*radian)*v*v)))
}
