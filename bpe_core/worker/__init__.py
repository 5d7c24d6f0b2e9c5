"""Work beside somebody: requests, the events that answer them, and the one Job that steers and reports all of it."""
