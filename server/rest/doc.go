// Package rest implements Upstash's REST protocol without a network: parsing of requests and encoding of answers, as
// described at https://upstash.com/docs/redis/features/restapi. A Call is one request. Its caller reads the headers,
// opens the session and writes the Answer.
package rest
