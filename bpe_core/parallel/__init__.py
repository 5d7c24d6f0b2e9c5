"""Work shared by several processes, and texts in portions for them."""
