package ensemble

// OutOfGroup is outOfGroup, for tests.
var OutOfGroup = Runner.outOfGroup
