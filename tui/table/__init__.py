"""One virtual list for all tables: columns as data, a head that sorts, a foot of choices, search."""
