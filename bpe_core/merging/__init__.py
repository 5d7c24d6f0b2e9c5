"""From bytes to tokens: the merge loop, very long pieces, and which neighbors are compatible."""
