"""The owners of what the main screen shows: each has one task and one frozen value, which it alone replaces.

They know nothing of panes and of each other. What one of them learned goes to whoever made it, by a call.
"""
