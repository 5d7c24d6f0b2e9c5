"""Long work in another process: requests, their events, and the `Job` that steers the work."""
