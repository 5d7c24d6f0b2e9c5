"""The app: shows the engine and asks it for things; it never counts a pair itself."""
