"""Features: what can be asked of the app, a module each: work, deeds, and the screen's values that it replaces."""
