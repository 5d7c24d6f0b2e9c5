"""What rows, curves and lines are drawn from: colors, columns, labels; nothing here knows a text or a widget."""
