// Package geo parses the shapes of Redis's search, which are points and polygons in WKT, and relates them to each other: on
// a plane, or with longitudes and latitudes on a sphere.
//
// The facts are from redis.io/docs/latest/develop/ai/search-and-query/advanced-concepts/geo/ and Query syntax, Geospatial.
package geo
