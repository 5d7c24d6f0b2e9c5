"""Long lists and tables whose rows are drawn one by one, sorted, filtered and searched."""
