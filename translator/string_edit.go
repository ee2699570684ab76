package translator

func appendValue(c *Call) Plan {
	return c.planSplice(c.Args[1], atEnd, c.Args[2])
}

func setrange(c *Call) Plan {
	key, value := c.Args[1], c.Args[3]
	offset, ok := parseInt(c.Args[2])
	switch {
	case !ok:
		return fail(errNotInteger)
	case offset < 0:
		return fail(errOffset)
	case len(value) == 0:
		return c.strlen(key)
	case offset > maxString-int64(len(value)):
		return c.failTyped(key, stringType, stringTooLong, stringTooLong)
	}
	return c.planSplice(key, offset, value)
}
