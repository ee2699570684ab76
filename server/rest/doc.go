// Package rest is Upstash's REST protocol without a network: what a request asks for, and what it is
// answered, as https://upstash.com/docs/redis/features/restapi says. A Call is one request; who serves
// it has read its headers, knows whose session it is, and writes the Answer.
package rest
