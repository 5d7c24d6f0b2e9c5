"""Features: one module for each part of the work. Each replaces its own values of the screen."""
