"""What Textual lacks: signals, keys typed ahead, restyling at a lower cost, and work next to the event loop."""
